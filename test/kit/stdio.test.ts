/** A server of the kit as a program: what goes in at stdin, what comes out at stdout, and how it ends (KIT-2). */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { PassThrough } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { defineServer, stdio, tool } from '../../src/kit/index.ts';
import { fakeClock } from '../../src/testing/index.ts';
import { call, request, result, talkTo, text } from './lines.ts';

const fixture = (name: string): string => fileURLToPath(new URL(`../fixtures/${name}`, import.meta.url));
const ECHO = fixture('kit-echo.mjs');
const PROGRAM = fixture('kit-program.mjs');

interface Run {
  readonly answers: readonly unknown[];
  readonly code: number | null;
  readonly stderr: string;
}

/** Everything is written at once, and stdin closed behind it. */
async function pipe(text: string, program: readonly string[] = [ECHO]): Promise<Run> {
  const child = spawn(process.execPath, program, { stdio: 'pipe' });
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

function lines(...messages: readonly object[]): string {
  return messages.map((message) => `${JSON.stringify(message)}\n`).join('');
}

// Protocol: 25-transports-5, 26-stdio-3
it('KIT-1: only the protocol is on stdout, whichever code prints', async () => {
  const { answers, code, stderr } = await pipe(lines(call(1, 'noisy')), [PROGRAM]);
  expect({ answers, code }).toEqual({ answers: [result(1, text('quiet'))], code: 0 });
  for (const noise of ['noise after the start', 'noise of console.log', '(index)', 'noise of a library'])
    expect(stderr).toContain(noise);
});

// Protocol: 26-stdio-13
it('KIT-2: at the end of input a program gives its pending answers, then exits with 0', async () => {
  expect(await pipe(lines(call(1, 'later'), request(2, 'ping')), [PROGRAM])).toEqual({
    answers: [result(2, {}), result(1, text('done'))],
    code: 0,
    stderr: 'noise after the start\n',
  });
});

it('KIT-2: a timer that the author forgot does not keep a program alive without its client', async () => {
  const { code } = await pipe(lines(request(1, 'ping')), [PROGRAM, 'forgetful']);
  expect(code).toBe(0);
});

it('KIT-2: a client that disconnects completely ends the program, also in the middle of a call', async () => {
  const child = spawn(process.execPath, [PROGRAM], { stdio: ['pipe', 'pipe', 'pipe'] });
  const errors: string[] = [];
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => errors.push(chunk));
  child.stdin.write(lines(call(1, 'never'), request(2, 'ping')));
  await once(child.stdout, 'data');
  child.stdout.destroy();
  // The next answer finds that the pipe has no reader; then handlers that hang are not waited for.
  child.stdin.end(lines(request(3, 'ping')));
  const [code] = await once(child, 'close');
  expect({ code, stderr: errors.join('') }).toEqual({ code: 0, stderr: 'noise after the start\n' });
});

it('KIT-2: a handler that never ends is waited for a minute after the end of input, no longer', async () => {
  const clock = fakeClock();
  const aborted: unknown[] = [];
  const never = tool({
    name: 'never',
    run: (_, { signal }) => {
      signal.addEventListener('abort', () => aborted.push(signal.reason));
      return new Promise(() => {});
    },
  });
  const talk = await talkTo(defineServer({ name: 'never', clock, tools: [never] }));
  talk.say(call(1, 'never'), request(2, 'ping'));
  await talk.atLeast(1);
  const ended = talk.end();
  await clock.advance(59_000);
  expect(aborted).toEqual([]);
  await clock.advance(1_000);
  expect(aborted).toMatchObject([{ code: 'CANCELLED' }]);
  await clock.advance(5_000);
  expect(await ended).toEqual([result(2, {})]);
});

it('KIT-2: after the end of input no question can be asked, and the handler receives an error', async () => {
  const asks = tool({
    name: 'asks',
    run: (_, context) =>
      context.sample({ messages: [], maxTokens: 1 }).catch((error: Error) => error.message),
  });
  const talk = await talkTo(defineServer({ name: 'asks', tools: [asks] }));
  talk.say(request(1, 'initialize', { capabilities: { sampling: {} } }), call(2, 'asks'));
  await talk.atLeast(2);
  expect((await talk.end()).at(-1)).toEqual(result(2, text('The client closed its input')));
});

it('KIT-2: a client that does not read is not read from, and is answered once it reads', async () => {
  const MEGABYTE = 2 ** 20;
  const REQUESTS = 64;
  let ran = 0;
  const big = tool({
    name: 'big',
    run: () => {
      ran += 1;
      return 'x'.repeat(MEGABYTE);
    },
  });
  const input = new PassThrough();
  const output = new PassThrough();
  const served = await defineServer({ name: 'big', tools: [big] }).serve(stdio({ input, output }));
  let sent = 0;
  while (sent < REQUESTS && !input.isPaused()) {
    sent += 1;
    input.write(lines(call(sent, 'big')));
    await new Promise(setImmediate);
  }
  expect(ran).toBeGreaterThanOrEqual(16);
  expect(ran).toBeLessThan(24);
  const stopped = ran;
  input.write(lines(call(REQUESTS, 'big')));
  await new Promise(setImmediate);
  expect(ran).toBe(stopped);
  let answers = 0;
  output.on('data', (chunk: Buffer) => {
    answers += chunk.filter((byte) => byte === 10).length;
  });
  input.end();
  await served.closed;
  await new Promise(setImmediate);
  expect({ ran, answers }).toEqual({ ran: stopped + 1, answers: stopped + 1 });
});

it('KIT-1: a server on stdio starts without what it does not need', async () => {
  const kit = new URL('../../dist/kit/index.js', import.meta.url).href;
  const script = `
    import { createRequire } from 'node:module';
    import { defineServer, stdio, tool } from ${JSON.stringify(kit)};
    const input = { type: 'object', properties: { a: { type: 'string' } } };
    await defineServer({ name: 'light', tools: [tool({ name: 'a', input, run: () => '' })] }).serve(stdio());
    process.stdin.once('end', () => {
      const heavy = /^NativeModule (crypto|http|https|http2|tls|zlib|worker_threads|child_process|inspector)$/;
      const builtins = process.moduleLoadList.filter((name) => heavy.test(name));
      console.error(JSON.stringify([builtins, Object.keys(createRequire(import.meta.url).cache)]));
    });`;
  const program = ['--input-type=module', '-e', script];
  const { answers, stderr } = await pipe(lines(request(1, 'initialize', {})), program);
  expect(answers).toHaveLength(1);
  expect(JSON.parse(stderr)).toEqual([[], []]);
});
