/** Runs a scripted server as a program: newline-delimited JSON on this process's stdin and stdout. */

import { createInterface } from 'node:readline';
import { isRecord, parseJson } from '../lib/json.ts';
import { type JsonRpcMessage, RPC_PARSE_ERROR } from '../lib/json-rpc.ts';
import type { Wire } from './exchange.ts';

const CRASH_EXIT_CODE = 1;

/** Resolves at the end of input; responses in progress may still follow. */
export async function serveOnStdio(
  connect: (wire: Wire) => (message: JsonRpcMessage) => void,
): Promise<void> {
  // A disconnected client must not cause a stack trace.
  process.stdout.on('error', () => undefined);
  let crashed = false;
  const line = (text: string): void => {
    if (!crashed) process.stdout.write(`${text}\n`);
  };
  const send = (message: JsonRpcMessage): void => line(JSON.stringify(message));
  const receive = connect({
    send,
    line,
    // Exits after pending output is written, so that a crash after a response does not lose the response.
    crash(exitCode = CRASH_EXIT_CODE) {
      crashed = true;
      process.stdout.write('', () => process.exit(exitCode));
    },
  });
  for await (const text of createInterface({ input: process.stdin, crlfDelay: Number.POSITIVE_INFINITY })) {
    if (text.trim() === '') continue;
    const message = parseJson(text);
    // Only checks that the envelope is an object; the script handles its contents.
    if (isRecord(message)) receive(message as unknown as JsonRpcMessage);
    else send({ jsonrpc: '2.0', id: null, error: { code: RPC_PARSE_ERROR, message: 'Parse error' } });
  }
}
