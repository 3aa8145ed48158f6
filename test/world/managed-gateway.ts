/** A managed gateway for tests: a real host over scripted servers, its configuration files, and a client of its API. */

import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createHost, type Host } from '../../src/host/host.ts';
import type { HostOptions } from '../../src/host/host-options.ts';
import { type ServedManaged, type ServeHttpOptions, serveHttp } from '../../src/serve/index.ts';
import { type ScriptedServer, type ScriptedServerOptions, scriptedServer } from '../../src/testing/index.ts';

/** Of the page and the management API. */
export const TOKEN = 'a-token-for-tests-only';
/** Of MCP clients. */
export const CALLING_TOKEN = 'a-token-that-only-calls';

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
  /** The body as JSON. */
  readonly body: unknown;
}

export interface ManagedGateway {
  readonly dir: string;
  readonly home: string;
  readonly project: string;
  readonly host: Host;
  readonly server: ScriptedServer;
  readonly served: ServedManaged;
  readonly origin: string;
  readonly port: string;
  /** With the token of management, and with what a program sends. */
  api(
    method: string,
    path: string,
    body?: unknown,
    headers?: Readonly<Record<string, string>>,
  ): Promise<Answer>;
  readConfig(): unknown;
  close(): Promise<void>;
}

export interface ManagedGatewayOptions {
  readonly script?: ScriptedServerOptions;
  readonly config?: object;
  readonly host?: Partial<HostOptions>;
  readonly serve?: ServeHttpOptions;
  /** Accepts the named tokens of its home. */
  readonly takesNamed?: boolean;
}

export async function openManagedGateway({
  script = {},
  config = {},
  host: more = {},
  serve = {},
  takesNamed = false,
}: ManagedGatewayOptions = {}): Promise<ManagedGateway> {
  const dir = realpathSync(mkdtempSync(join(tmpdir(), 'plugboard-manage-')));
  const [home, project] = [join(dir, 'home'), join(dir, 'project')];
  mkdirSync(home);
  mkdirSync(join(project, '.git'), { recursive: true });
  writeFileSync(join(home, 'config.json'), JSON.stringify(config));
  const server = scriptedServer(script);
  const host = await createHost({
    home,
    cwd: project,
    env: { PLUGBOARD_CREDENTIALS: 'file', PATH: process.env['PATH'] },
    watch: false,
    servers: { small: { command: 'scripted', lifecycle: 'eager' } },
    // What is called so is reached as its entry says; all others are the scripted server.
    replaceTransport: (name) => (name === 'remote' ? undefined : server.transport()),
    sessions: { elicit: () => ({ action: 'decline' }), sample: () => undefined, roots: [] },
    ...more,
  });
  await host.ready();
  const served = await serveHttp(host, {
    port: 0,
    token: CALLING_TOKEN,
    ...(takesNamed ? { tokensOf: home } : {}),
    manage: { token: TOKEN },
    ...serve,
  });
  const { origin, port } = new URL(served.url);
  return {
    dir,
    home,
    project,
    host,
    server,
    served,
    origin,
    port,
    api: (method, path, body, headers = {}) =>
      send(`${origin}${path}`, method, body, { authorization: `Bearer ${TOKEN}`, ...headers }),
    readConfig: () => JSON.parse(readFileSync(join(home, 'config.json'), 'utf8')),
    async close() {
      await served.close();
      await host.close();
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

/** One request exactly as it is written: fetch would not let us choose Host. */
export function send(
  url: string,
  method: string,
  body: unknown,
  headers: Readonly<Record<string, string>>,
): Promise<Answer> {
  const text = body === undefined || typeof body === 'string' ? body : JSON.stringify(body);
  const type = text === undefined ? {} : { 'content-type': 'application/json' };
  return new Promise((resolve, reject) => {
    const sent = request(url, { method, headers: { ...type, ...headers } }, (answer) => {
      let received = '';
      answer.setEncoding('utf8').on('data', (chunk: string) => {
        received += chunk;
      });
      answer.on('error', reject);
      answer.on('end', () => {
        const isJson = answer.headers['content-type'] === 'application/json' && received !== '';
        resolve({
          status: answer.statusCode ?? 0,
          headers: answer.headers,
          text: received,
          body: isJson ? JSON.parse(received) : undefined,
        });
      });
    });
    sent.on('error', reject);
    sent.end(text);
  });
}

export interface SeenEvent {
  readonly id: string | undefined;
  readonly event: string;
  readonly data: unknown;
}

export interface EventReader {
  readonly seen: readonly SeenEvent[];
  /** Resolves with the first event that fits, seen already or still to come. */
  next(fits: (event: SeenEvent) => boolean): Promise<SeenEvent>;
  close(): void;
}

/** Reads /api/events until it is closed; resolves when the stream is open. */
export async function readEvents(
  { origin }: Pick<ManagedGateway, 'origin'>,
  headers: Readonly<Record<string, string>> = {},
): Promise<EventReader> {
  const stop = new AbortController();
  const answer = await fetch(`${origin}/api/events`, {
    headers: { authorization: `Bearer ${TOKEN}`, ...headers },
    signal: stop.signal,
  });
  if (answer.status !== 200 || answer.body === null) throw new Error(`events answered ${answer.status}`);
  const seen: SeenEvent[] = [];
  const waiting = new Set<() => void>();
  void (async () => {
    let rest = '';
    const decoder = new TextDecoder();
    for await (const chunk of answer.body ?? []) {
      const parts = (rest + decoder.decode(chunk, { stream: true })).split('\n\n');
      rest = parts.pop() ?? '';
      for (const part of parts) {
        const field = (name: string): string | undefined =>
          new RegExp(`^${name}: (.*)$`, 'm').exec(part)?.[1];
        const event = field('event');
        if (event !== undefined)
          seen.push({ id: field('id'), event, data: JSON.parse(field('data') ?? 'null') });
      }
      for (const wake of waiting) wake();
    }
  })().catch(() => {});
  return {
    seen,
    next: (fits) =>
      new Promise((resolve) => {
        const look = (): void => {
          const found = seen.find(fits);
          if (found === undefined) return;
          waiting.delete(look);
          resolve(found);
        };
        waiting.add(look);
        look();
      }),
    close: () => stop.abort(),
  };
}
