/**
 * Decides the profile of an authenticated client at an address, and ends its work when that decision changes.
 *
 * The principal of a client with a profile contains both, so that sessions, results, tasks and pending questions of one
 * profile are unknown in every other, even for the same token.
 */

import type { Settings } from '../config/entry.ts';
import type { Admission, Caller, Refusal } from '../endpoint/guard.ts';
import type { HostProfiles } from '../host/host-profiles.ts';
import { attempt } from '../lib/attempt.ts';
import { Emitter, type Unsubscribe } from '../lib/emitter.ts';
import { type ClientTable, clientTables } from './client-table.ts';
import type { TokenBook } from './token-book.ts';

/** The reason is for the person who configured it, not for the client. */
export const REFUSED = 'This client cannot be served; the log of the gateway has the reason';
const MCP_PATH = '/mcp';
/** Principal of a client without a token: over stdio, or where no token is needed. */
const LOCAL = 'local';
/** Not part of an owner or of the name of a client. */
const SEPARATOR = '\n';

/** A client and its profile. */
export interface Principal {
  /** The token, the subject or the connection. */
  readonly owner: string;
  /** The name of the client, for events and the audit log. */
  readonly client: string;
  /** Undefined: everything. */
  readonly profile: string | undefined;
}

/** Returns the text that identifies a client with its profile. */
export function principalText({ owner, client, profile }: Principal): string {
  if (profile !== undefined) return [owner, client, profile].join(SEPARATOR);
  return owner === client ? owner : `${owner}${SEPARATOR}${client}`;
}

export function parsePrincipal(text: string): Principal {
  if (!text.includes(SEPARATOR)) return { owner: text, client: text, profile: undefined };
  const [owner = '', client = '', ...rest] = text.split(SEPARATOR);
  return { owner, client, profile: rest.length === 0 ? undefined : rest.join(SEPARATOR) };
}

/** Names of connections of the local user, which differ from one process of the gateway to the next. */
const CONNECTION = /^(?:attached-\d+|stdio|local)$/;

/**
 * Returns the owner of the tasks of a client, which is the same after a restart: a principal, or for the local user, who
 * has no token, the program and the folder that it works in.
 */
export function taskOwner(
  { owner, client, profile }: Principal,
  {
    agent,
    folder,
  }: { readonly agent?: { readonly name: string } | undefined; readonly folder?: string | undefined },
): string {
  const isLocal = CONNECTION.test(owner);
  const who = isLocal ? [LOCAL, agent?.name ?? '', folder ?? ''] : [owner];
  return ['client', ...who, client, profile ?? ''].join(SEPARATOR);
}

/** No profile has this name: a client with it is refused. */
const UNUSABLE = '';

/**
 * Returns the principal of the local user on one connection: with the profile that was asked for, else that of the
 * client that is `local` in the configuration.
 */
export function localPrincipal(
  profiles: Pick<HostProfiles, 'settings'>,
  owner: string,
  asked: string | undefined,
): string {
  const table = clientTables(profiles)();
  const client = table.local ?? LOCAL;
  if (asked !== undefined) return principalText({ owner, client, profile: asked });
  // A client with a problem may be the local one.
  const isRefused = table.local === undefined ? table.hasUnclear : table.isRefused(client);
  return principalText({ owner, client, profile: isRefused ? UNUSABLE : table.get(client)?.profile });
}

export interface CallersOptions {
  readonly profiles: HostProfiles;
  readonly clients: () => ClientTable;
  /** The only profile that is served. */
  readonly only?: string | undefined;
  readonly book?: TokenBook | undefined;
  /** Called with the reason when a client is refused for a problem in the configuration. */
  readonly report: (message: string) => void;
}

/** The last decision on a client, which is valid for one version of the configuration and of the tokens. */
interface Issued {
  readonly owner: string;
  readonly path: string;
  readonly settings: Settings;
  readonly tokens: number;
  readonly principal: string;
  /** Other principals of the client: at other addresses, or of other subjects. */
  readonly others: ReadonlySet<string>;
}

type Verdict = { readonly profile: string | undefined } | { readonly refusal: string };

interface CallerEvents {
  readonly ended: string;
}

export class Callers implements Admission {
  readonly #options: CallersOptions;
  readonly #events = new Emitter<CallerEvents>();
  readonly #stops: readonly Unsubscribe[];
  /** Principals in use, by the name of the client in the configuration. */
  readonly #issued = new Map<string, Issued>();

  constructor(options: CallersOptions) {
    this.#options = options;
    const { book, profiles } = options;
    this.#stops = [
      profiles.onReload(() => this.#recheck()),
      ...(book === undefined ? [] : [book.onEnd((name) => this.#end(name))]),
    ];
  }

  /** Returns the principal of a client at an address; undefined if nothing is served there. */
  admit(caller: Caller, path: string): string | Refusal | undefined {
    const name = this.#nameOf(caller);
    const known = this.#issued.get(name);
    return known !== undefined && this.#isCurrent(known, caller, path)
      ? known.principal
      : this.#decide(name, caller, path);
  }

  bindingOf(principal: string): string {
    return this.#options.book?.bindingOf(parsePrincipal(principal).owner) ?? '';
  }

  onEnd(listener: (principal: string) => void): Unsubscribe {
    return this.#events.on('ended', listener);
  }

  close(): void {
    for (const stop of this.#stops) stop();
    this.#events.clear();
  }

  #isCurrent(known: Issued, { principal }: Caller, path: string): boolean {
    const { profiles, book } = this.#options;
    return (
      known.owner === principal &&
      known.path === path &&
      known.settings === profiles.settings &&
      known.tokens === (book?.version ?? 0)
    );
  }

  #decide(name: string, caller: Caller, path: string): string | Refusal | undefined {
    const address = addressOf(path);
    if (address === undefined) return undefined;
    const verdict = this.#verdictOn(name);
    if ('refusal' in verdict) return this.#refused(name, verdict.refusal);
    const { profile = address.profile } = verdict;
    // The same for a profile that exists and for one that does not.
    if (address.profile !== undefined && address.profile !== profile)
      return { status: 403, message: 'This token is not valid at this address' };
    const problem = profile === undefined ? undefined : this.#options.profiles.problemOf(profile);
    if (problem !== undefined && verdict.profile === undefined)
      return { status: 404, message: 'No profile is served at this address' };
    if (problem !== undefined) return this.#refused(name, problem.message);
    const principal = principalText({ owner: caller.principal, client: name, profile });
    const { profiles, book } = this.#options;
    const before = principalsOf(this.#issued.get(name)).filter((each) => each !== principal);
    this.#issued.set(name, {
      owner: caller.principal,
      path,
      settings: profiles.settings,
      tokens: book?.version ?? 0,
      principal,
      others: before.length === 0 ? NONE : new Set(before),
    });
    return principal;
  }

  #nameOf({ principal, client }: Caller): string {
    return client ?? (principal === LOCAL ? (this.#options.clients().local ?? LOCAL) : principal);
  }

  /** Returns the profile that a client is bound to. */
  #verdictOn(name: string): Verdict {
    const { only, book, clients } = this.#options;
    const table = clients();
    const isUnclear = name === LOCAL && table.hasUnclear;
    if (isUnclear || table.isRefused(name) || book?.isRefused(name))
      return { refusal: `The client ${JSON.stringify(name)} has a problem in the configuration` };
    const profiles = [table.get(name)?.profile, book?.profileOf(name), only].filter(
      (each) => each !== undefined,
    );
    const [profile, ...others] = new Set(profiles);
    if (others.length > 0)
      return {
        refusal: `The client ${JSON.stringify(name)} has another profile than ${JSON.stringify(profile)}`,
      };
    return { profile };
  }

  #refused(name: string, reason: string): Refusal {
    this.#options.report(`Refused the client ${JSON.stringify(name)}: ${reason}`);
    return { status: 403, message: REFUSED };
  }

  #end(name: string): void {
    const principals = principalsOf(this.#issued.get(name));
    this.#issued.delete(name);
    for (const principal of principals) this.#events.emit('ended', principal);
  }

  /** Ends the clients whose profile is another one now, or cannot be used. */
  #recheck(): void {
    for (const [name, issued] of [...this.#issued]) {
      const verdict = this.#verdictOn(name);
      const isKept = (principal: string): boolean => {
        const { profile } = parsePrincipal(principal);
        return (
          !('refusal' in verdict) &&
          (verdict.profile === undefined || verdict.profile === profile) &&
          (profile === undefined || this.#options.profiles.problemOf(profile) === undefined)
        );
      };
      const principals = principalsOf(issued);
      const ended = principals.filter((principal) => !isKept(principal));
      if (ended.length === 0) continue;
      const [principal, ...others] = principals.filter(isKept);
      if (principal === undefined) this.#issued.delete(name);
      else this.#issued.set(name, { ...issued, path: '', principal, others: new Set(others) });
      for (const each of ended) this.#events.emit('ended', each);
    }
  }
}

const NONE: ReadonlySet<string> = new Set();

function principalsOf(issued: Issued | undefined): readonly string[] {
  return issued === undefined ? [] : [issued.principal, ...issued.others];
}

/** `/mcp`, or `/mcp/<profile>`. */
function addressOf(path: string): { readonly profile: string | undefined } | undefined {
  if (path === MCP_PATH) return { profile: undefined };
  if (!path.startsWith(`${MCP_PATH}/`)) return undefined;
  const encoded = path.slice(MCP_PATH.length + 1);
  const profile = attempt(() => decodeURIComponent(encoded), '');
  return profile === '' ? undefined : { profile };
}
