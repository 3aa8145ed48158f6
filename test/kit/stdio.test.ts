/** A server of the kit as a program: what goes in at stdin, what comes out at stdout, and how it ends (KIT-2). */

import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const echo = fileURLToPath(new URL('../fixtures/kit-echo.mjs', import.meta.url));

interface Run {
  readonly answers: readonly unknown[];
  readonly code: number | null;
  readonly stderr: string;
}

/** Everything is written at once, and stdin closed behind it. */
async function pipe(text: string): Promise<Run> {
  const child = spawn(process.execPath, [echo], { stdio: 'pipe' });
  let stdout = '';
  let stderr = '';
  child.stdout.on('data', (chunk) => {
    stdout += chunk;
  });
  child.stderr.on('data', (chunk) => {
    stderr += chunk;
  });
  child.stdin.end(text);
  const code = await new Promise<number | null>((resolve) => {
    child.once('close', resolve);
  });
  const answers = stdout
    .split('\n')
    .filter((line) => line !== '')
    .map((line): unknown => JSON.parse(line));
  return { answers, code, stderr };
}

it('KIT-2: the three piped lines of a hand-made server get three good answers, and exit 0', async () => {
  const lines = [
    '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}',
    '{"jsonrpc":"2.0","id":2,"method":"tools/list","params":{}}',
    '{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"echo","arguments":{"message":"hi"}}}',
  ];
  expect(await pipe(`${lines.join('\n')}\n`)).toEqual({
    answers: [
      {
        jsonrpc: '2.0',
        id: 1,
        result: {
          protocolVersion: '2025-11-25',
          serverInfo: { name: 'echo', version: '0.0.0' },
          capabilities: { tools: { listChanged: true }, logging: {} },
        },
      },
      {
        jsonrpc: '2.0',
        id: 2,
        result: {
          tools: [
            {
              name: 'echo',
              description: 'Echo input arguments as text',
              inputSchema: {
                type: 'object',
                properties: { message: { type: 'string' } },
                required: ['message'],
              },
            },
          ],
        },
      },
      { jsonrpc: '2.0', id: 3, result: { content: [{ type: 'text', text: 'hi' }] } },
    ],
    code: 0,
    stderr: '',
  });
});
