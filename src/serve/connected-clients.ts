/** The connected clients of all gateways of this process, for the page. */

export interface ConnectedClient {
  readonly session: string;
  /** The name by which it was recognised; undefined for a client without one. */
  readonly client?: string;
  readonly profile?: string;
  /** The program, as it identifies itself; undefined if it has not done so. */
  readonly agent?: { readonly name: string; readonly version: string };
  /** The folder that it works in, if known. */
  readonly folder?: string;
}

export class ConnectedClients {
  /** Each is described when it is listed: a client identifies itself after it connected. */
  readonly #describe = new Map<string, () => ConnectedClient>();

  /** Adds a client by the id of its session; returns the function that removes it. */
  add(session: string, describe: () => ConnectedClient): () => void {
    this.#describe.set(session, describe);
    return () => void this.#describe.delete(session);
  }

  list(): readonly ConnectedClient[] {
    return [...this.#describe.values()].map((describe) => describe());
  }
}
