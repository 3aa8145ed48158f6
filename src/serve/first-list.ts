/**
 * Decides how long the first list of a client waits for servers that are contacted for the first time (CON-16).
 *
 * Some clients list once and ignore later changes, so tools missing from that list are never available to them. A
 * client of `LONGEST_WAIT_MS` is treated as one of these until it has listed again after a change notification; that is
 * remembered on disk.
 */

import { join } from 'node:path';
import { homeAt } from '../config/home.ts';
import type { Implementation } from '../connection/eras.ts';
import type { ClientConnection } from '../endpoint/client-connection.ts';
import type { FirstLists, ListWait } from '../host/first-lists.ts';
import type { Clock } from '../lib/clock.ts';
import { type Dated, DatedMap } from '../lib/json-store.ts';

/**
 * How long the first list may take for a client that never lists again: well below its time limit for a server, part
 * of which is spent on starting Plugboard. Claude Code gives its servers two seconds before the first request (five
 * before 2.1.300), OpenCode five. Codex gives one second from the start of the process (0.147 and later), and has no
 * tools at all after that. A client that is not listed here waits for the default time.
 */
const LONGEST_WAIT_MS: ReadonlyMap<string, number> = new Map([
  ['claude-code', 1_000],
  ['codex-mcp-client', 400],
  ['opencode', 3_000],
]);
const MAX_CLIENTS = 200;
/** A longer name or version is not remembered. */
const MAX_NAME_CHARS = 200;

export interface FirstListOptions {
  readonly home: string;
  readonly clock: Clock;
  readonly lists: Pick<FirstLists, 'waitMs' | 'configuredWaitMs'>;
}

export class ClientListWait {
  readonly #options: FirstListOptions;
  /** Sessions that have listed their tools. */
  readonly #listed = new WeakSet<ClientConnection>();
  /**
   * Stateless clients that have listed their tools, and whether they were notified of a change since, on one of their
   * streams.
   */
  readonly #stateless = new Map<string, { wasNotified: boolean }>();
  #remembered: Promise<DatedMap<Dated>> | undefined;

  constructor(options: FirstListOptions) {
    this.#options = options;
  }

  of(client: Implementation | undefined): ListWait {
    return async () => {
      const { waitMs, configuredWaitMs } = this.#options.lists;
      const longest = client === undefined ? undefined : LONGEST_WAIT_MS.get(client.name);
      if (longest === undefined || configuredWaitMs !== undefined) return waitMs;
      return (await this.#listsAgain(client)) ? waitMs : longest;
    };
  }

  /** Records that a client was notified of changed tools; a stateless one lists them on another connection. */
  notified(clientConnection: ClientConnection): void {
    if (!clientConnection.isStateless || !clientConnection.takeNotified('tools')) return;
    for (const { clientInfo } of clientConnection.works()) {
      const listed = this.#stateless.get(keyOf(clientInfo.client) ?? '');
      if (listed !== undefined) listed.wasNotified = true;
    }
  }

  /** Records that a client lists its tools: again, if it was notified since its last list. */
  listed(clientConnection: ClientConnection, client: Implementation | undefined): void {
    const key = keyOf(client);
    if (key === undefined) return;
    const isAgain = clientConnection.isStateless
      ? this.#listedAgain(key)
      : clientConnection.takeNotified('tools') && this.#listed.has(clientConnection);
    this.#listed.add(clientConnection);
    if (!isAgain) return;
    void this.#open().then((remembered) => {
      if (remembered.get(key) === undefined) remembered.set(key, { at: this.#options.clock.now() });
    });
  }

  /** Resolves when everything recorded is on disk. */
  async flush(): Promise<void> {
    await (await this.#remembered)?.flush();
  }

  #listedAgain(key: string): boolean {
    const wasNotified = this.#stateless.get(key)?.wasNotified === true;
    if (this.#stateless.size < MAX_CLIENTS || this.#stateless.has(key))
      this.#stateless.set(key, { wasNotified: false });
    return wasNotified;
  }

  async #listsAgain(client: Implementation | undefined): Promise<boolean> {
    const key = keyOf(client);
    return key !== undefined && (await this.#open()).get(key) !== undefined;
  }

  #open(): Promise<DatedMap<Dated>> {
    const home = homeAt(this.#options.home);
    this.#remembered ??= DatedMap.open<Dated>({
      file: join(home.cache, 'clients.json'),
      lockDir: join(home.run, 'locks'),
      maxEntries: MAX_CLIENTS,
      parse: ({ at }) => ({ at: Number(at) }),
    });
    return this.#remembered;
  }
}

function keyOf(client: Implementation | undefined): string | undefined {
  if (client === undefined) return undefined;
  const { name, version } = client;
  return name.length + version.length > MAX_NAME_CHARS ? undefined : `${name} ${version}`;
}
