/** Talks to a server over a pair of streams, a line a message, as a client that started it would. */

import { PassThrough } from 'node:stream';
import { type Server, stdio } from '../../src/kit/index.ts';
import { PATIENCE_MS } from '../world/until.ts';

export interface Talk {
  /** Writes text unchanged. */
  write(text: string): void;
  say(...messages: readonly unknown[]): void;
  /** Everything that was answered so far. */
  readonly heard: readonly Record<string, unknown>[];
  /** Resolves with everything as soon as there are so many. */
  atLeast(count: number): Promise<readonly Record<string, unknown>[]>;
  /** Closes the client's side; resolves with everything when the server has ended too. */
  end(): Promise<readonly Record<string, unknown>[]>;
}

export async function talkTo(server: Server): Promise<Talk> {
  const input = new PassThrough();
  const output = new PassThrough();
  const heard: Record<string, unknown>[] = [];
  const watchers = new Set<() => void>();
  let rest = '';
  output.setEncoding('utf8');
  output.on('data', (text: string) => {
    const lines = (rest + text).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) heard.push(JSON.parse(line));
    for (const watch of watchers) watch();
  });
  const served = await server.serve(stdio({ input, output }));
  return {
    heard,
    write: (text) => void input.write(text),
    say: (...messages) =>
      void input.write(messages.map((message) => `${JSON.stringify(message)}\n`).join('')),
    atLeast: (count) =>
      new Promise((resolve, reject) => {
        const late = setTimeout(() => reject(new Error(`heard only ${JSON.stringify(heard)}`)), PATIENCE_MS);
        const watch = (): void => {
          if (heard.length < count) return;
          clearTimeout(late);
          watchers.delete(watch);
          resolve(heard);
        };
        watchers.add(watch);
        watch();
      }),
    async end() {
      input.end();
      await served.closed;
      return heard;
    },
  };
}

export function request(id: number | string, method: string, params?: unknown): Record<string, unknown> {
  return { jsonrpc: '2.0', id, method, ...(params === undefined ? {} : { params }) };
}

export function call(id: number | string, name: unknown, args: unknown = {}): Record<string, unknown> {
  return request(id, 'tools/call', { name, arguments: args });
}

export function result(id: number | string, value: unknown): Record<string, unknown> {
  return { jsonrpc: '2.0', id, result: value };
}

export function text(value: string, isError = false): Record<string, unknown> {
  return { content: [{ type: 'text', text: value }], ...(isError ? { isError: true } : {}) };
}
