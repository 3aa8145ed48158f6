/** Listings with `definitions: "compact"`, through the gateway and the library. */

import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { createTestHost, scriptedServer } from '../../src/testing/index.ts';
import { LineClient, MODERN } from './line-client.ts';
import { smallHost } from './small-host.ts';

const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

const write = {
  description: 'Writes a file. Creates folders that are missing.',
  inputSchema: {
    type: 'object',
    properties: { path: { type: 'string', description: 'Where to.', minLength: 1 } },
    required: ['path'],
  },
  run: () => 'written',
};
const COMPACT = {
  description: 'Writes a file.',
  inputSchema: { type: 'object', properties: { path: { type: 'string', minLength: 1 } }, required: ['path'] },
};

it('a setting of config.json applies to clients, whose calls are checked against the complete schema', async () => {
  const home = await mkdtemp(join(tmpdir(), 'plugboard-compact-'));
  await writeFile(join(home, 'config.json'), JSON.stringify({ definitions: 'compact' }));
  const small = await smallHost(
    { tools: { write } },
    { home, servers: { small: { command: 'scripted', lifecycle: 'eager' } } },
  );
  closers.push(() => rm(home, { recursive: true, force: true }), small.close);
  const client = new LineClient(small.host, MODERN, {}, () => ({}));
  closers.push(() => client.leave());
  await client.open();
  const { tools } = (await client.request('tools/list')) as { tools: object[] };
  expect(tools).toEqual([expect.objectContaining({ name: 'small__write', ...COMPACT })]);
  const wrong = { name: 'small__write', arguments: { path: '' } };
  const { content } = (await client.request('tools/call', wrong)) as { content: { text: string }[] };
  expect(content[0]?.text).toContain('{"path":{"type":"string","description":"Where to.","minLength":1}}');
});

it('a profile overrides the host, and a session keeps the form of its first list', async () => {
  const home = await mkdtemp(join(tmpdir(), 'plugboard-compact-'));
  const file = join(home, 'config.json');
  const config = (definitions: string): string => JSON.stringify({ profiles: { small: { definitions } } });
  await writeFile(file, config('compact'));
  const host = await createTestHost({
    home,
    servers: { s: { inProcess: scriptedServer({ tools: { write } }) } },
  });
  closers.push(
    () => rm(home, { recursive: true, force: true }),
    () => host.close(),
  );
  await host.ready();
  const listed = (session: { tools(): readonly object[] }): readonly object[] => session.tools();
  const compact = host.session({ profile: 'small' });
  const first = listed(compact);
  expect([first, listed(host)]).toEqual([
    [expect.objectContaining(COMPACT)],
    [expect.objectContaining({ description: write.description })],
  ]);
  expect(listed(compact)).toBe(first);
  await writeFile(file, config('full'));
  await host.reload();
  expect([listed(compact), listed(host.session({ profile: 'small' }))]).toEqual([
    [expect.objectContaining(COMPACT)],
    [expect.objectContaining({ description: write.description })],
  ]);
});
