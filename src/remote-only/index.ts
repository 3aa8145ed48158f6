/**
 * The entry point `plugboard/remote-only`: the host without processes, files and Node, for pages, workers and edge
 * functions. The call pipeline is the same code; Node's modules are replaced by the build
 * (`scripts/remote-only.mjs`).
 */

import type { GivenEntry } from '../config/given-entry.ts';
import { PlugboardError } from '../errors.ts';
import { createHost as createNodeHost, type Host, type RedirectLogin } from '../host/host.ts';
import type { HostOptions } from '../host/host-options.ts';
import { checkHostOptions } from '../host/host-options-check.ts';
import { isRecord } from '../lib/json.ts';
import { files } from './node/files.ts';

export type { CallOptions } from '../call/call.ts';
export type { ApprovalAnswer, ApprovalRequest, Approve, SessionOptions } from '../call/session.ts';
export type { ShapedResult as CallResult } from '../call/shape.ts';
export type { ContentBlock } from '../catalog/accept-result.ts';
export type { Tool, ToolAnnotations } from '../catalog/tool.ts';
export type { ElicitAnswer, ElicitRequest, Root, SampleRequest } from '../connection/questions.ts';
export { type ErrorCode, PlugboardError } from '../errors.ts';
export type { Host } from '../host/host.ts';
export type { HostEvents } from '../host/host-options.ts';
export type { SearchResult } from '../host/host-search.ts';
export type { HostSession } from '../host/host-session.ts';
export type { ToolSchema, ToolSchemas, TypedResult, TypedTools } from '../host/typed-tools.ts';

/** A remote server given in code. */
export type RemoteGiven = Extract<GivenEntry, { readonly url: string }>;

/** Options of `createHost` that need a disk or a process. */
type NeedsNode =
  | 'home'
  | 'cwd'
  | 'env'
  | 'outputs'
  | 'config'
  | 'daemon'
  | 'builtIn'
  | 'builtInList'
  | 'borrow'
  | 'codeMode'
  | 'sandbox';
const NEEDS_NODE: Readonly<Record<NeedsNode, true>> = {
  home: true,
  cwd: true,
  env: true,
  outputs: true,
  config: true,
  daemon: true,
  builtIn: true,
  builtInList: true,
  borrow: true,
  codeMode: true,
  sandbox: true,
};

/** The options of `createHost` that need neither files nor processes. */
export type RemoteOnlyOptions = Omit<HostOptions, NeedsNode | 'servers'> & {
  /** Servers by name: a url, with headers or a function that returns them. */
  readonly servers: Readonly<Record<string, RemoteGiven>>;
};

/**
 * Creates a host of remote servers. It reads no configuration and keeps everything in memory until it is closed.
 *
 * @param options - The servers, and options that need neither files nor processes.
 * @returns The host; close it with `close()`.
 * @throws PlugboardError `CONFIG_INVALID` for an option that needs Node, or a server without a url.
 * @example
 * const host = await createHost({
 *   servers: { docs: { url: 'https://example.com/mcp', headers: { authorization: `Bearer ${token}` } } },
 *   approve: () => 'allow',
 * });
 * await host.ready();
 */
export async function createHost(options: RemoteOnlyOptions): Promise<Host> {
  checkOptions(options);
  for (const [name, entry] of Object.entries(options.servers)) checkRemote(name, entry);
  const home = `/${crypto.randomUUID()}`;
  files.mkdir(home, true);
  // Called as a function of the global object: pages and workers throw otherwise.
  const fetch = options.fetch ?? ((url, init) => globalThis.fetch(url, init));
  const host = await createNodeHost({ ...options, home, cwd: home, env: {}, fetch });
  host.login = loginByRedirect(host.login.bind(host));
  const close = host.close.bind(host);
  host.close = async () => {
    await close();
    files.remove(home);
  };
  return host;
}

/**
 * Requires `redirectUrl`: this entry point cannot open a browser or listen on an address; the author's page does
 * both.
 */
function loginByRedirect(login: Host['login']): Host['login'] {
  return (name: string, options?: Partial<RedirectLogin>): Promise<never> => {
    const redirectUrl = options?.redirectUrl;
    if (redirectUrl !== undefined) return login(name, { ...options, redirectUrl }) as Promise<never>;
    const hint = `Call login("${name}", { redirectUrl }) and then finishLogin("${name}", …), or give "headers".`;
    const message = 'A login with plugboard/remote-only needs a redirectUrl';
    return Promise.reject(new PlugboardError('USAGE', message, { server: name, hint }));
  };
}

function checkOptions(options: unknown): void {
  checkHostOptions(options);
  if (!isRecord(options)) return;
  const unusable = Object.keys(NEEDS_NODE).find((name) => options[name] !== undefined);
  if (unusable !== undefined)
    throw new PlugboardError(
      'CONFIG_INVALID',
      `The option ${unusable} cannot be used with plugboard/remote-only`,
      { hint: 'It needs a disk or a process: use the entry point plugboard, or leave it out.' },
    );
  if (!isRecord(options['servers']))
    throw new PlugboardError(
      'CONFIG_INVALID',
      '"servers" is missing: an object of names and entries with a url',
    );
}

function checkRemote(name: string, entry: unknown): void {
  if (isRecord(entry) && 'url' in entry) return;
  throw new PlugboardError('CONFIG_INVALID', `${name} is not a remote server`, {
    server: name,
    hint: 'Give it a url; processes need the entry point plugboard.',
  });
}
