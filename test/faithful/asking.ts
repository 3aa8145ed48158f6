/** A host with servers that ask (`test/fixtures/asking-server.mjs`), served to raw clients of both eras. */

import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createHost, type Host } from '../../src/host/host.ts';
import type { HostOptions } from '../../src/host/host-options.ts';
import { SERVED_SESSIONS } from '../../src/serve/served-host.ts';
import { removeHome } from '../remove-home.ts';
import { type Answer, LineClient, MODERN } from '../serve/line-client.ts';

export type Json = Record<string, unknown>;
export type Era = 'legacy' | 'modern';
export const ERAS: readonly Era[] = ['legacy', 'modern'];
export const LEGACY = '2025-11-25';

const SERVER = fileURLToPath(new URL('../fixtures/asking-server.mjs', import.meta.url));

export function askingEntry(
  era: Era,
  early?: 'roots',
): { command: string; args: string[]; approval: 'approve' } {
  return {
    command: process.execPath,
    args: [SERVER, era, ...(early === undefined ? [] : [early])],
    approval: 'approve',
  };
}

export interface AskingHost {
  readonly host: Host;
  readonly home: string;
  /** A client over pipes that has said hello. */
  client(era: Era, capabilities: Json, answer?: Answer): Promise<LineClient>;
  close(): Promise<void>;
}

export async function askingHost(
  servers: NonNullable<HostOptions['servers']> = { old: askingEntry('legacy'), new: askingEntry('modern') },
  options: Partial<HostOptions> = {},
): Promise<AskingHost> {
  const home = await mkdtemp(join(tmpdir(), 'plugboard-asking-'));
  const host = await createHost({
    home,
    cwd: home,
    env: {},
    watch: false,
    servers,
    sessions: SERVED_SESSIONS,
    ...options,
  });
  const clients: LineClient[] = [];
  return {
    host,
    home,
    async client(era, capabilities, answer = refuse) {
      const made = new LineClient(host, era === 'modern' ? MODERN : LEGACY, capabilities, answer);
      clients.push(made);
      await made.open();
      return made;
    },
    async close() {
      await Promise.all(clients.map((client) => client.leave()));
      await host.close();
      await removeHome(home);
    },
  };
}

const refuse: Answer = (method) => {
  throw new Error(`${method} was not expected`);
};

/** What a tool of a server gives back as JSON text. */
export async function called(client: LineClient, name: string, args: Json = {}): Promise<unknown> {
  const { content } = await client.request('tools/call', { name, arguments: args });
  const [{ text } = { text: '' }] = content as [{ text: string }];
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** What a server gets for a question that it asks during a call of this client. */
export function ask(client: LineClient, server: string, method: string, params: Json = {}): Promise<unknown> {
  return called(client, `${server}__ask`, { method, params });
}
