/** A client that is nothing but lines: writes what it is given, and keeps every line that it hears as it came. */

import { PassThrough } from 'node:stream';
import type { Host } from '../../src/host/host.ts';
import { serveStdio } from '../../src/serve/index.ts';

export type Message = Record<string, unknown>;

export const MODERN = '2026-07-28';
const META = 'io.modelcontextprotocol/';

/** What every request of 2026-07-28 has in `_meta`. */
export function envelope(capabilities: Message = {}, more: Message = {}): Message {
  return {
    [`${META}protocolVersion`]: MODERN,
    [`${META}clientInfo`]: { name: 'raw', version: '1' },
    [`${META}clientCapabilities`]: capabilities,
    ...more,
  };
}

export class RawLines {
  readonly lines: string[] = [];
  readonly closed: Promise<unknown>;
  readonly #input = new PassThrough();
  readonly #watchers = new Set<() => void>();

  constructor(host: Host) {
    const output = new PassThrough();
    let rest = '';
    output.setEncoding('utf8').on('data', (chunk: string) => {
      const lines = (rest + chunk).split('\n');
      rest = lines.pop() ?? '';
      this.lines.push(...lines);
      for (const watch of [...this.#watchers]) watch();
    });
    this.closed = serveStdio(host, { input: this.#input, output }).closed;
  }

  get messages(): Message[] {
    return this.lines.map((line) => JSON.parse(line));
  }

  say(...messages: readonly Message[]): void {
    this.#input.write(
      messages.map((message) => `${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`).join(''),
    );
  }

  /** The first message that fits, now or later. */
  heard(fits: (message: Message) => boolean): Promise<Message> {
    return new Promise((resolve) => {
      const watch = (): void => {
        const found = this.messages.find(fits);
        if (found === undefined) return;
        this.#watchers.delete(watch);
        resolve(found);
      };
      this.#watchers.add(watch);
      watch();
    });
  }

  answer(id: number | string): Promise<Message> {
    return this.heard((message) => message['id'] === id && message['method'] === undefined);
  }

  /** Sends a request and resolves to its answer. */
  ask(id: number | string, method: string, params: Message = {}): Promise<Message> {
    this.say({ id, method, params });
    return this.answer(id);
  }

  async end(): Promise<Message[]> {
    this.#input.end();
    await this.closed;
    return this.messages;
  }
}
