/** A home and a project of its own for one test, the hosts it makes there, and what is left of their processes. */

import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { StdioEntry } from '../../src/config/entry.ts';
import { PlugboardError } from '../../src/errors.ts';
import { createHost, type Host } from '../../src/host/host.ts';
import type { HostEvents, HostOptions } from '../../src/host/host-options.ts';
import type { ScriptedServer } from '../../src/testing/index.ts';

export const FIXTURES: string = fileURLToPath(new URL('../fixtures', import.meta.url));

export interface ServerWishes {
  readonly era?: 'legacy' | 'modern';
  readonly exit?: number;
  readonly exitUnless?: string;
  readonly silent?: boolean;
  readonly stubborn?: boolean;
  readonly stderr?: string;
  readonly noise?: string;
  readonly diesOn?: string;
  readonly ignores?: readonly string[];
  readonly deafAfter?: number;
  readonly delayMs?: number;
  readonly tools?: readonly unknown[];
}

type ListenedHost = Host & { readonly seen: Seen };

/** Everything that a host said, in order. */
class Seen {
  readonly all: { readonly [Name in keyof HostEvents]: HostEvents[Name][] };

  constructor() {
    this.all = new Proxy({} as Record<string, unknown[]>, {
      get: (target, name) => {
        target[String(name)] ??= [];
        return target[String(name)];
      },
    }) as never;
  }

  /** What one server went through; a failure with its code. */
  statuses(server: string): string[] {
    return this.all.server
      .filter(({ name }) => name === server)
      .map(({ status, error }) => (error === undefined ? status : `${status} ${error.code}`));
  }

  messages(server: string, level = 'warning'): string[] {
    return this.all.log
      .filter((one) => one.server === server && one.level === level)
      .map((one) => one.message);
  }
}

const EVENTS = ['server', 'ready', 'tools', 'log', 'call.begin', 'call.end', 'call.progress'] as const;

export class HostWorld {
  readonly dir: string = realpathSync(mkdtempSync(join(tmpdir(), 'plugboard-host-')));
  readonly home: string = join(this.dir, 'home');
  readonly project: string = join(this.dir, 'project');
  readonly userFile: string = join(this.home, 'config.json');
  readonly projectFile: string = join(this.project, '.mcp.json');
  readonly #hosts: Host[] = [];
  readonly #closers: (() => unknown)[] = [];

  constructor() {
    mkdirSync(join(this.project, '.git'), { recursive: true });
    mkdirSync(this.home);
  }

  /** A host that hears everything from its first event on, approves every call and starts what it is given. */
  async host(options: HostOptions = {}): Promise<ListenedHost> {
    const host = await createHost({
      cwd: this.project,
      home: this.home,
      watch: false,
      connect: 'all',
      approve: () => 'allow',
      ...options,
    });
    this.#hosts.push(host);
    const seen = new Seen();
    for (const name of EVENTS) host.on(name, (event) => void (seen.all[name] as unknown[]).push(event));
    return Object.assign(host, { seen });
  }

  /** A host whose only server, "s", is this scripted one. */
  scripted(server: ScriptedServer, options: HostOptions = {}): Promise<ListenedHost> {
    return this.host({
      servers: { s: fixture('x') },
      replaceTransport: () => server.transport(),
      ...options,
    });
  }

  /** Called when the test ends, before the folders go. */
  onEnd(closer: () => unknown): void {
    this.#closers.push(closer);
  }

  file(name: string): string {
    return join(this.dir, name);
  }

  write(file: string, content: unknown): void {
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content, null, 2));
  }

  /** A fixture server; its witness is the file of this name. */
  server(witness: string, wishes: ServerWishes = {}): StdioEntry {
    const options = JSON.stringify({ ...wishes, witness: this.file(witness) });
    return { command: process.execPath, args: [join(FIXTURES, 'connection-server.mjs'), options] };
  }

  witness(name: string): string[] {
    const file = this.file(name);
    return existsSync(file) ? readFileSync(file, 'utf8').trimEnd().split('\n') : [];
  }

  /** The process ids of every start of a fixture server. */
  pids(witness: string): number[] {
    return this.witness(witness).flatMap((line) =>
      line.startsWith('start ') ? [Number(line.slice(6))] : [],
    );
  }

  async end(): Promise<void> {
    await Promise.all(this.#hosts.map((host) => host.close()));
    for (const closer of this.#closers) await closer();
    rmSync(this.dir, { recursive: true, force: true });
  }
}

export function fixture(name: string, ...args: readonly string[]): StdioEntry {
  return { command: process.execPath, args: [join(FIXTURES, name), ...args] };
}

/** Alive, or a zombie that was not collected. */
export function exists(pid: number): boolean {
  return existsSync(`/proc/${pid}`);
}

export function status(host: Host, server: string): string | undefined {
  return host.servers().find(({ name }) => name === server)?.status;
}

export function report(host: Host, server: string): Record<string, unknown> {
  const { connectMs: _, ...rest } = host.servers().find(({ name }) => name === server) ?? {};
  return rest;
}

/** What came of something: its value, or the code and words of its error. */
export async function outcome(work: Promise<unknown>): Promise<unknown> {
  try {
    return await work;
  } catch (error) {
    if (!(error instanceof PlugboardError)) throw error;
    return { code: error.code, message: error.message };
  }
}
