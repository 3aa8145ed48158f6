/**
 * The parts of a client's request that are forwarded to the server. They travel as one value from the gateway to the
 * peer; only the peer writes them into the message, in the format of the server's era.
 */

import { isRecord } from '../lib/json.ts';
import { cleanRecord } from '../policy/clean-value.ts';
import { META } from './eras.ts';
import { isLogLevel, type LogLevel, moreVerbose } from './log-levels.ts';

type Params = Readonly<Record<string, unknown>>;

export interface HandedOn {
  /** Keys of the request's `_meta`, including trace context and keys of extensions. */
  readonly meta?: Params | undefined;
  /** Members of the request's params that no protocol revision defines. */
  readonly params?: Params | undefined;
  /** The client's capabilities (questions and extensions), for modern servers; default: those of the host. */
  readonly capabilities?: Params | undefined;
  /** The minimum log level, for modern servers; default: the level of this host. */
  readonly logLevel?: LogLevel | undefined;
}

/** Reserved for Plugboard: keys with this prefix are never forwarded, in either direction. */
export const RESERVED_META = 'plugboard/';
/** Marks an elicitation as one of our approval questions. */
export const APPROVAL_META: string = `${RESERVED_META}approval`;

/** Keys that belong to one connection; never forwarded from another one. */
const OF_THE_CONNECTION: ReadonlySet<string> = new Set(['progressToken', ...Object.values(META)]);

/** Returns the part of a message's `_meta` that is forwarded; undefined if it is empty. */
export function passedMeta(meta: unknown): Params | undefined {
  return without(meta, isKept);
}

/** Returns the `_meta` of a server's message that may be forwarded, without hidden text; empty if no key is left. */
export function cleanMeta(meta: unknown): { readonly _meta?: Params } {
  // Cleaned first: removing hidden text must not turn a key into a reserved one.
  const passed = isRecord(meta) ? passedMeta(cleanRecord(meta)) : undefined;
  return passed === undefined ? {} : { _meta: passed };
}

function isKept(key: string): boolean {
  return OF_THE_CONNECTION.has(key) || key.startsWith(RESERVED_META);
}

/** Omits members of an object; returns undefined if none is left, and the object itself if none was omitted. */
export function without(value: unknown, isLeftOut: (key: string) => boolean): Params | undefined {
  if (!isRecord(value)) return undefined;
  const keys = Object.keys(value);
  let left = keys.length;
  for (const key of keys) if (isLeftOut(key)) left -= 1;
  if (left === 0) return undefined;
  if (left === keys.length) return value;
  return Object.fromEntries(keys.flatMap((key) => (isLeftOut(key) ? [] : [[key, value[key]]])));
}

/** The kinds of questions: the host declares them for all its sessions, a request only for its own client. */
const ASKED: ReadonlySet<string> = new Set(['elicitation', 'sampling', 'roots']);

/**
 * Merges the capabilities of one request: the host's own, and the questions that the request's client can answer. The
 * requests of a client mostly have one object for them, so the result is remembered.
 */
export class MergedCapabilities {
  readonly #known = new WeakMap<Params, { readonly host: unknown; readonly merged: Params }>();

  of(host: unknown, client: Params): Params {
    const known = this.#known.get(client);
    if (known !== undefined && known.host === host) return known.merged;
    const own = without(host, (key) => ASKED.has(key));
    const extensions = { ...asParams(client['extensions']), ...asParams(own?.['extensions']) };
    const merged = { ...own, ...client, ...(Object.keys(extensions).length === 0 ? {} : { extensions }) };
    this.#known.set(client, { host, merged });
    return merged;
  }
}

function asParams(value: unknown): Params | undefined {
  return isRecord(value) ? value : undefined;
}

/** Builds the `_meta` of a request to a server: our keys override forwarded ones. */
export function metaFor(
  envelope: Params | undefined,
  { meta, capabilities, logLevel }: HandedOn,
  own: unknown,
  merged: MergedCapabilities,
): Record<string, unknown> {
  const joined = { ...meta, ...envelope, ...(isRecord(own) ? own : undefined) };
  if (envelope === undefined) return joined;
  if (capabilities !== undefined)
    joined[META.clientCapabilities] = merged.of(joined[META.clientCapabilities], capabilities);
  // The host logs as well: use the more verbose level of the two.
  const wanted = joined[META.logLevel];
  if (logLevel !== undefined)
    joined[META.logLevel] = isLogLevel(wanted) ? moreVerbose(wanted, logLevel) : logLevel;
  return joined;
}
