/** An endpoint over a pair of streams, one line a message: this process's own, for the client that started it. */

import type { Readable, Writable } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';
import { PlugboardError } from '../errors.ts';
import { isRecord, type JsonRpcMessage, RPC_INVALID_REQUEST, RPC_PARSE_ERROR } from '../lib/json-rpc.ts';
import type { Backend, Served } from './backend.ts';
import { Front } from './front.ts';
import { MAX_BODY_BYTES } from './http-body.ts';

export interface LineStreams {
  readonly input: Readable;
  readonly output: Writable;
}

/** Serves a backend to the one client at the other end; ends when the client closes its side. */
export function serveLines(backend: Backend, { input, output }: LineStreams): Served {
  const send = lineWriter(output);
  const front = new Front(backend, { principal: 'stdio', stateless: false, broadcast: send });
  const received = (frame: Record<string, unknown>): void => {
    void front.receive(frame, { send, onGone: undefined })?.then((answer) => {
      if (answer !== undefined) send(answer);
    });
  };
  readLines(input, (line) => {
    let value: unknown;
    try {
      value = JSON.parse(line);
    } catch {
      return void send(failure(RPC_PARSE_ERROR, 'This line is not JSON.'));
    }
    for (const frame of Array.isArray(value) ? value : [value]) {
      if (isRecord(frame) && frame['jsonrpc'] === '2.0') received(frame);
      else send(failure(RPC_INVALID_REQUEST, 'This line is no JSON-RPC message.'));
    }
  });
  let closing: Promise<void> | undefined;
  const left = new Promise<void>((resolve) => {
    input.once('end', resolve);
    input.once('close', resolve);
    output.once('error', () => resolve());
  });
  const closed = left.then(async () => {
    // Nobody reads the answers any more: what runs is cancelled upstream (F55).
    front.close(new PlugboardError('CANCELLED', 'the client has gone away'));
    await backend.close();
  });
  return {
    closed,
    close() {
      closing ??= backend.close().then(() => {
        input.destroy();
        return closed;
      });
      return closing;
    },
  };
}

/** Lines of one moment leave in one write. */
function lineWriter(output: Writable): (message: JsonRpcMessage) => boolean {
  let waiting = '';
  const flush = (): void => {
    const text = waiting;
    waiting = '';
    if (!output.destroyed) output.write(text);
  };
  return (message) => {
    if (output.destroyed) return false;
    if (waiting === '') process.nextTick(flush);
    waiting += `${JSON.stringify(message)}\n`;
    return true;
  };
}

/** A line that is longer than a body may be is dropped, and the next one is read. */
function readLines(input: Readable, received: (line: string) => void): void {
  const decoder = new StringDecoder('utf8');
  let rest = '';
  let skipping = false;
  input.on('data', (chunk: Buffer) => {
    const lines = (rest + decoder.write(chunk)).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) {
      if (!skipping && line.trim() !== '') received(line);
      skipping = false;
    }
    if (rest.length > MAX_BODY_BYTES) {
      rest = '';
      skipping = true;
    }
  });
}

function failure(code: number, message: string): JsonRpcMessage {
  return { jsonrpc: '2.0', id: null, error: { code, message } };
}
