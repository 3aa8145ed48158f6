/** A scripted server as a program: newline-delimited JSON on this process's stdin and stdout. */

import { createInterface } from 'node:readline';
import { isRecord, type JsonRpcMessage, RPC_PARSE_ERROR } from '../lib/json-rpc.ts';
import type { Wire } from './exchange.ts';

const CRASH_EXIT_CODE = 1;

/** Resolves at the end of input; answers that are still being made may follow it. */
export async function serveOnStdio(
  connect: (wire: Wire) => (message: JsonRpcMessage) => void,
): Promise<void> {
  // A client that went away is no reason for a stack trace.
  process.stdout.on('error', () => undefined);
  let crashed = false;
  const line = (text: string): void => {
    if (!crashed) process.stdout.write(`${text}\n`);
  };
  const send = (message: JsonRpcMessage): void => line(JSON.stringify(message));
  const receive = connect({
    send,
    line,
    // Only after what was written has left: a crash after an answer must not swallow the answer.
    crash(exitCode = CRASH_EXIT_CODE) {
      crashed = true;
      process.stdout.write('', () => process.exit(exitCode));
    },
  });
  for await (const text of createInterface({ input: process.stdin, crlfDelay: Number.POSITIVE_INFINITY })) {
    if (text.trim() === '') continue;
    const message = parse(text);
    // The envelope is an object; what is inside is the script's business.
    if (isRecord(message)) receive(message as unknown as JsonRpcMessage);
    else send({ jsonrpc: '2.0', id: null, error: { code: RPC_PARSE_ERROR, message: 'Parse error' } });
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
