/** A receiver that writes down what happens, and lets a test wait for it. */

import { fileURLToPath } from 'node:url';
import type { PlugboardError } from '../../src/errors.ts';
import type { JsonRpcMessage, RequestId } from '../../src/lib/json-rpc.ts';
import type { Notice, Receiver, Transport } from '../../src/transport/contract.ts';
import type { Reaper } from '../../src/transport/reaper.ts';
import { childEnvironment } from '../../src/transport/server-environment.ts';
import { createStdioTransport, type StdioOptions } from '../../src/transport/stdio-transport.ts';

export type Happening =
  | { readonly kind: 'message'; readonly message: JsonRpcMessage }
  | { readonly kind: 'lost'; readonly id: RequestId | undefined; readonly error: PlugboardError }
  | { readonly kind: 'closed'; readonly error: PlugboardError | undefined }
  | { readonly kind: 'notice'; readonly notice: Notice };

type Kind = Happening['kind'];

export class Recorder implements Receiver {
  readonly all: Happening[] = [];
  #watchers: (() => void)[] = [];

  message(message: JsonRpcMessage): void {
    this.#add({ kind: 'message', message });
  }
  lost(id: RequestId | undefined, error: PlugboardError): void {
    this.#add({ kind: 'lost', id, error });
  }
  closed(error?: PlugboardError): void {
    this.#add({ kind: 'closed', error });
  }
  notice(notice: Notice): void {
    this.#add({ kind: 'notice', notice });
  }

  of<K extends Kind>(kind: K): Extract<Happening, { kind: K }>[] {
    return this.all.filter((one): one is Extract<Happening, { kind: K }> => one.kind === kind);
  }

  messages(): JsonRpcMessage[] {
    return this.of('message').map((one) => one.message);
  }

  warnings(): string[] {
    return this.of('notice')
      .filter((one) => one.notice.level === 'warning')
      .map((one) => one.notice.message);
  }

  /** Resolves with the `count`-th of a kind. The test's own time limit is the bound. */
  async next<K extends Kind>(kind: K, count = 1): Promise<Extract<Happening, { kind: K }>> {
    for (;;) {
      const found = this.of(kind)[count - 1];
      if (found) return found;
      await new Promise<void>((resolve) => this.#watchers.push(resolve));
    }
  }

  /** The answer to this request, whole. */
  async answer(id: RequestId): Promise<unknown> {
    for (;;) {
      const found = this.messages().find((message) => 'id' in message && message.id === id);
      if (found) return 'result' in found ? found.result : found;
      await new Promise<void>((resolve) => this.#watchers.push(resolve));
    }
  }

  #add(happening: Happening): void {
    this.all.push(happening);
    const watchers = this.#watchers;
    this.#watchers = [];
    for (const wake of watchers) wake();
  }
}

export function fixture(name: string): string {
  return fileURLToPath(new URL(`../fixtures/${name}`, import.meta.url));
}

/** A transport to a fixture program, with everything that it reports. */
export function onFixture(
  reaper: Reaper,
  args: readonly string[],
  more: Partial<StdioOptions> = {},
): { readonly transport: Transport; readonly recorder: Recorder } {
  const [name = '', ...rest] = args;
  const env = childEnvironment({}, process.env);
  const options = { command: process.execPath, args: [fixture(name), ...rest], env, reaper, ...more };
  return { transport: createStdioTransport(options), recorder: new Recorder() };
}
