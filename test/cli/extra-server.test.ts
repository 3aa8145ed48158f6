import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { addressOf } from '../../src/cli/entry-from-flags.ts';
import { parseExtraServers } from '../../src/cli/extra-server.ts';

it.each<[string, string, unknown]>([
  ['a=npx -y x', 'a', { command: 'npx', args: ['-y', 'x'] }],
  ['a=DEBUG=1 LEVEL="a b" npx x', 'a', { command: 'npx', args: ['x'], env: { DEBUG: '1', LEVEL: 'a b' } }],
  ['a=~/bin/x ~/notes', 'a', { command: `${homedir()}/bin/x`, args: [`${homedir()}/notes`] }],
  ['https://example.com/mcp?a=b', 'example.com', { url: 'https://example.com/mcp?a=b' }],
  [
    "docs=https://example.com/mcp 'X-Key: ${KEY}' X-Org:me",
    'docs',
    { url: 'https://example.com/mcp', headers: { 'X-Key': '${KEY}', 'X-Org': 'me' } },
  ],
])('F14: --server %s', (value, name, entry) => {
  expect({ ...parseExtraServers([value], '/home/ada/app') }).toEqual({ [name]: entry });
});

it('F7: relative paths of --server begin in the folder that the person is in', () => {
  const dir = realpathSync(mkdtempSync(join(tmpdir(), 'plugboard-extra-')));
  onTestFinished(() => rmSync(dir, { recursive: true }));
  mkdirSync(join(dir, 'sub'));
  writeFileSync(join(dir, 'sub', 'server.mjs'), '');
  expect({ ...parseExtraServers(['a=node server.mjs .'], join(dir, 'sub')) }).toEqual({
    a: { command: 'node', args: [join(dir, 'sub', 'server.mjs'), join(dir, 'sub')] },
  });
});

it.each([
  ['example.com', 'https://example.com'],
  ['api.example.com:8443/mcp', 'https://api.example.com:8443/mcp'],
  ['localhost:3000/mcp', 'http://localhost:3000/mcp'],
  ['127.0.0.1:3000', 'http://127.0.0.1:3000'],
  ['server.py', undefined],
  ['run.sh', undefined],
  ['npx', undefined],
  ['./x.y/z', undefined],
])('F11: %s means %s', (word, url) => {
  expect(addressOf(word)).toBe(url);
});
