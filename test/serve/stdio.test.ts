import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { afterAll, expect, it } from 'vitest';
import { createGate } from '../../src/testing/index.ts';

const PROGRAM = fileURLToPath(new URL('./stdio-program.mjs', import.meta.url));
const home = mkdtempSync(join(tmpdir(), 'plugboard-serve-'));
afterAll(() => rmSync(home, { recursive: true, force: true }));

it.each([
  ['legacy', 'legacy'],
  ['auto', 'modern'],
] as const)(
  'SRV-1: a client in mode %s is served in the %s era, and notified of new tools',
  async (mode, era) => {
    const told = createGate();
    const client = new Client(
      { name: 'referee', version: '1.0.0' },
      {
        versionNegotiation: { mode },
        // There may be more than one change on the way; the last one is announced when all tools are there.
        listChanged: {
          tools: { debounceMs: 0, onChanged: (_, tools) => (tools?.length === 10 ? told.open() : undefined) },
        },
      },
    );
    await client.connect(new StdioClientTransport({ command: process.execPath, args: [PROGRAM, home] }));
    const found = [client.getProtocolEra(), client.getServerVersion()?.name, client.getInstructions()];
    const before = await client.listTools();
    const echo = await client.callTool({ name: 'old__echo', arguments: { message: 'hi' } });
    await told.opened;
    const after = await client.listTools();
    await client.close();
    expect({ found, before: before.tools.length, content: echo.content, after: after.tools.length }).toEqual({
      found: [era, 'plugboard', '## old\n\nEcho gives back what it is given.'],
      before: 5,
      content: [{ type: 'text', text: 'hi' }],
      after: 10,
    });
  },
);

// Protocol: 25-transports-5, 26-stdio-3, 26-stdio-13
it('SRV-1: the end of input ends the gateway and its servers, with nothing but protocol on stdout', async () => {
  const child = spawn(process.execPath, [PROGRAM, home], { stdio: ['pipe', 'pipe', 'inherit'] });
  const exited = once(child, 'exit');
  let stdout = '';
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    stdout += chunk;
  });
  child.stdin.write('{"jsonrpc":"2.0","id":1,"method":"ping"}\n');
  await once(child.stdout, 'data');
  child.stdin.end();
  expect(await exited).toEqual([0, null]);
  expect(JSON.parse(stdout)).toEqual({ jsonrpc: '2.0', id: 1, result: {} });
});
