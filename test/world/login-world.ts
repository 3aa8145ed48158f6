/** The world of login tests: a home of their own, a server's credentials, and a replacement for the browser. */

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { HomeTraces } from '../../src/auth/home-traces.ts';
import { Logins } from '../../src/auth/logins.ts';
import type { AuthEvent } from '../../src/auth/server-auth.ts';
import { createServerAuth, type ServerAuth, type ServerAuthOptions } from '../../src/auth/server-auth.ts';
import type { RemoteEntry } from '../../src/config/entry.ts';
import { type Home, homeAt } from '../../src/config/home.ts';
import { type Clock, systemClock } from '../../src/lib/clock.ts';
import { openSecrets } from '../../src/secrets/store.ts';
import { PATIENCE_MS } from './until.ts';

/** How long an event of other processes or files may take; no test reaches it. */
export const SOON: { readonly timeout: number } = { timeout: PATIENCE_MS };

export interface LoginWorld {
  readonly home: Home;
  readonly env: NodeJS.ProcessEnv;
  readonly logins: Logins;
  readonly events: AuthEvent[];
  readonly notices: string[];
  auth(entry: RemoteEntry, more?: Partial<ServerAuthOptions>): ServerAuth;
  close(): Promise<void>;
}

export interface LoginWorldOptions {
  readonly clock?: Clock;
  readonly env?: NodeJS.ProcessEnv;
  readonly dir?: string;
}

export async function openLoginWorld(options: LoginWorldOptions = {}): Promise<LoginWorld> {
  const dir = options.dir ?? (await mkdtemp(join(tmpdir(), 'plugboard-auth-')));
  const home = homeAt(dir);
  const clock = options.clock ?? systemClock;
  const env = { PLUGBOARD_CREDENTIALS: 'file', PATH: process.env['PATH'], ...options.env };
  const notices: string[] = [];
  const secrets = openSecrets({ home, env, notice: (message) => notices.push(message) });
  const logins = new Logins({ secrets, traces: new HomeTraces(home, clock), clock });
  const events: AuthEvent[] = [];
  const made: ServerAuth[] = [];
  return {
    home,
    env,
    logins,
    events,
    notices,
    auth(entry, more = {}) {
      const auth = createServerAuth({
        server: 'docs',
        entry,
        env,
        logins,
        clock,
        onEvent: (event) => events.push(event),
        openUrl: browse,
        ...more,
      });
      made.push(auth);
      return auth;
    },
    async close() {
      for (const auth of made) auth.close();
      logins.close();
      if (options.dir === undefined) await rm(dir, { recursive: true, force: true });
    },
  };
}

/** What a browser does with a login that needs no typing: follow the redirect back to the listener. */
export async function browse(url: string): Promise<void> {
  const answer = await fetch(url, { redirect: 'manual' });
  const back = answer.headers.get('location');
  if (back === null) throw new Error(`The authorization server answered ${answer.status}.`);
  // Not awaited: the page is shown when the login is finished, and the login waits for this function.
  void fetch(back).catch(() => undefined);
}

/** Sends one JSON-RPC request the way a transport does: headers, one challenge, one repeat. */
export async function call(auth: ServerAuth, url: string, method = 'tools/call'): Promise<number> {
  for (let tries = 0; ; tries++) {
    const headers = await auth.headers(undefined, { method: 'POST', url });
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: { name: 'echo', arguments: {} } }),
    });
    await response.text();
    if ((response.status !== 401 && response.status !== 403) || tries === 1) return response.status;
    await auth.challenged({
      status: response.status,
      wwwAuthenticate: response.headers.get('www-authenticate') ?? undefined,
      refused: headers['authorization'],
      dpopNonce: response.headers.get('dpop-nonce') ?? undefined,
    });
  }
}
