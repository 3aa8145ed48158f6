import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { connectInMemory } from '@plugboard/kit/testing';
import { createWorkspaceServer } from '@plugboard/workspace';

const root = mkdtempSync(join(tmpdir(), 'workspace-'));
writeFileSync(join(root, 'notes.txt'), 'a needle\n');
after(() => rmSync(root, { recursive: true }));
const searchPath = process.env.PATH ?? '';
const textOf = ({ content }) => content.map(({ text }) => text).join('\n');

test('reads, writes and searches below its folder, and nowhere else', async () => {
  // Without ripgrep: the search runs in a thread of the package.
  const { server, close } = createWorkspaceServer({ root, shell: false, searchPath: '' });
  const client = await connectInMemory(server);
  assert.match(textOf(await client.call('read', { path: 'notes.txt' })), /a needle/);
  assert.match(textOf(await client.call('grep', { pattern: 'needle' })), /notes\.txt/);
  await client.call('write', { path: 'new.txt', content: 'new' });
  assert.match(textOf(await client.call('read', { path: 'new.txt' })), /new/);
  assert.equal((await client.call('read', { path: '../outside' })).isError, true);
  await client.close();
  close();
});

test('has a shell only where it is asked for', async () => {
  const toolsWith = async (shell) => {
    const { server, close } = createWorkspaceServer({ root, shell, searchPath });
    const client = await connectInMemory(server);
    const names = (await client.tools()).map(({ name }) => name);
    await client.close();
    close();
    return names;
  };
  assert.deepEqual(
    [(await toolsWith(false)).includes('shell'), (await toolsWith(true)).includes('shell')],
    [false, true],
  );
});

test('the program serves over stdio, and refuses what is not a folder', async () => {
  const run = async (args, input) => {
    const program = spawn(join('node_modules', '.bin', 'plugboard-workspace'), args);
    let printed = '';
    program.stdout.on('data', (data) => {
      printed += data;
    });
    program.stdin.end(input);
    const [code] = await once(program, 'close');
    return { code, printed };
  };
  const list = { jsonrpc: '2.0', id: 1, method: 'tools/list' };
  const { code, printed } = await run([root], `${JSON.stringify(list)}\n`);
  assert.equal(code, 0);
  assert.ok(JSON.parse(printed).result.tools.some(({ name }) => name === 'grep'));
  assert.equal((await run([join(root, 'missing')], '')).code, 2);
});
