/** A host over scripted servers that offer resources and prompts, in a home of its own. */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { createHost, type Host } from '../../src/host/host.ts';
import type { HostOptions } from '../../src/host/host-options.ts';
import type { JsonRpcMessage } from '../../src/lib/json-rpc.ts';
import { type ScriptedServer, scriptedServer } from '../../src/testing/scripted-server.ts';
import { RpcError } from '../../src/testing/scripted-tool.ts';

export type Era = 'legacy' | 'modern';

export interface Content {
  readonly era?: Era;
  readonly resources?: readonly unknown[];
  readonly templates?: readonly unknown[];
  readonly prompts?: readonly unknown[];
  /** Readable resources by address: a text, or the parts as they are. */
  readonly files?: Readonly<Record<string, string | readonly unknown[]>>;
  readonly capabilities?: Readonly<Record<string, unknown>>;
  /** Put on every list, such as `ttlMs`. */
  readonly hints?: Readonly<Record<string, unknown>>;
}

const EVERYTHING = {
  tools: {},
  resources: { subscribe: true, listChanged: true },
  prompts: { listChanged: true },
  completions: {},
};

export function contentServer(content: Content = {}): ScriptedServer {
  const { era = 'legacy', resources = [], templates = [], prompts = [], files = {}, hints = {} } = content;
  const server = scriptedServer({ eras: era, capabilities: content.capabilities ?? EVERYTHING });
  server.on('resources/list', () => ({ resources, ...hints }));
  server.on('resources/templates/list', () => ({ resourceTemplates: templates, ...hints }));
  server.on('prompts/list', () => ({ prompts, ...hints }));
  server.on('resources/read', ({ params }) => {
    const uri = String(params['uri']);
    const file = files[uri];
    if (file === undefined) throw new RpcError(era === 'legacy' ? -32002 : -32602, `No ${uri} here`);
    return { contents: typeof file === 'string' ? [{ uri, mimeType: 'text/plain', text: file }] : file };
  });
  server.on('resources/subscribe', () => ({}));
  server.on('resources/unsubscribe', () => ({}));
  return server;
}

export interface Hosted {
  readonly host: Host;
  /** Warnings and errors so far, as `server: message`. */
  readonly complaints: string[];
}

export async function hostOver(
  servers: Readonly<Record<string, ScriptedServer>>,
  options: HostOptions = {},
): Promise<Hosted> {
  const dir = mkdtempSync(join(tmpdir(), 'plugboard-content-'));
  const host = await createHost({
    cwd: dir,
    home: join(dir, 'home'),
    servers: Object.fromEntries(Object.keys(servers).map((name) => [name, { command: 'scripted' }])),
    replaceTransport: (name) => servers[name]?.transport(),
    watch: false,
    ...options,
  });
  onTestFinished(async () => {
    await host.close();
    rmSync(dir, { recursive: true, force: true });
  });
  const complaints: string[] = [];
  host.on('log', ({ server, level, message }) => {
    if (level === 'warning' || level === 'error') complaints.push(`${server}: ${message}`);
  });
  await host.ready();
  return { host, complaints };
}

/** How often a server was asked this. */
export function count(server: ScriptedServer, method: string): number {
  return server.received.filter((message) => 'method' in message && message.method === method).length;
}

/** The params of a message without what the modern era adds to all of them. */
export function paramsOf(message: JsonRpcMessage | undefined): unknown {
  if (message === undefined || !('params' in message)) return undefined;
  const { _meta: _, ...params } = message.params ?? {};
  return params;
}

/** Waits for the next update that a subscription brings. */
export function updates(): {
  readonly listener: (update: unknown) => void;
  readonly all: unknown[];
  next(): Promise<unknown>;
} {
  const all: unknown[] = [];
  const waiting: ((update: unknown) => void)[] = [];
  return {
    all,
    listener: (update) => {
      all.push(update);
      waiting.shift()?.(update);
    },
    next: () => new Promise((resolve) => waiting.push(resolve)),
  };
}
