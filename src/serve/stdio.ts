/** The gateway over this process's stdin and stdout, for the agent that started it. */

import type { Readable, Writable } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';
import { PlugboardError } from '../errors.ts';
import { isRecord, type JsonRpcMessage, RPC_INVALID_REQUEST, RPC_PARSE_ERROR } from '../lib/json-rpc.ts';
import { Front } from './front.ts';
import { Gateway, type GatewayOptions } from './gateway.ts';
import { MAX_BODY_BYTES } from './http-body.ts';
import type { Served, ServedHost } from './served-host.ts';

export interface ServeStdioOptions extends GatewayOptions {
  /** Default: this process's own. */
  readonly input?: Readable | undefined;
  readonly output?: Writable | undefined;
}

/**
 * Serves everything a host has as one MCP server on stdio; ends when the client closes its side.
 * Nothing else may write to stdout meanwhile.
 *
 * @example
 * const served = serveStdio(host);
 * await served.closed;
 * await host.close();
 */
export function serveStdio(host: ServedHost, options: ServeStdioOptions = {}): Served {
  const { input = process.stdin, output = process.stdout } = options;
  const gateway = new Gateway(host, options);
  const send = lineWriter(output);
  const front = new Front(gateway, { principal: 'stdio', stateless: false, broadcast: send });
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
    await gateway.close();
  });
  return {
    closed,
    close() {
      closing ??= gateway.close().then(() => {
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
