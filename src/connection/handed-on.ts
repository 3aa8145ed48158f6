/**
 * What a client sent with its request and its server should have too: one value, carried from the gateway's request
 * to the peer, which alone writes it into the message, in the way of the server's era.
 */

import { isRecord } from '../lib/json-rpc.ts';
import { cleanRecord } from '../policy/clean-value.ts';
import { META } from './eras.ts';
import { isLogLevel, type LogLevel, moreVerbose } from './log-levels.ts';

type Params = Readonly<Record<string, unknown>>;

export interface HandedOn {
  /** Keys of the request's `_meta`, trace context and those of extensions among them. */
  readonly meta?: Params | undefined;
  /** Members of the request's params that no revision of the protocol defines. */
  readonly params?: Params | undefined;
  /** What the client of this request can be asked, for modern servers, and its extensions; default: what the host declares. */
  readonly capabilities?: Params | undefined;
  /** The least severe log messages wanted, for modern servers; default: the level of this host. */
  readonly logLevel?: LogLevel | undefined;
}

/** Keys with this prefix are ours: none is passed on, in either direction. */
export const RESERVED_META = 'plugboard/';
/** What only a question about an approval of ours has. */
export const APPROVAL_META: string = `${RESERVED_META}approval`;

/** Written for each connection, never passed on from another one. */
const OF_THE_CONNECTION: ReadonlySet<string> = new Set(['progressToken', ...Object.values(META)]);

/** The part of a message's `_meta` that is passed on; undefined if there is none. */
export function passedMeta(meta: unknown): Params | undefined {
  return without(meta, isKept);
}

/** `_meta` of a server's message as others may have it, without hidden text; empty if nothing is left. */
export function cleanMeta(meta: unknown): { readonly _meta?: Params } {
  // Cleaned first: a key with hidden text in it must not become one of ours.
  const passed = isRecord(meta) ? passedMeta(cleanRecord(meta)) : undefined;
  return passed === undefined ? {} : { _meta: passed };
}

function isKept(key: string): boolean {
  return OF_THE_CONNECTION.has(key) || key.startsWith(RESERVED_META);
}

/** The members of an object but for some of them; undefined if none is left, the object itself if all are. */
export function without(value: unknown, isLeftOut: (key: string) => boolean): Params | undefined {
  if (!isRecord(value)) return undefined;
  const keys = Object.keys(value);
  const kept = keys.filter((key) => !isLeftOut(key));
  if (kept.length === 0) return undefined;
  if (kept.length === keys.length) return value;
  return Object.fromEntries(kept.map((key) => [key, value[key]]));
}

/** Kinds of questions: the host declares them for all of its sessions, a request only for its own. */
const ASKED: ReadonlySet<string> = new Set(['elicitation', 'sampling', 'roots']);

/** The capabilities of one request: what the host does itself, and what the request's client can be asked. */
function declaredBy(host: unknown, client: Params): Params {
  const own = without(host, (key) => ASKED.has(key));
  const extensions = { ...asParams(client['extensions']), ...asParams(own?.['extensions']) };
  return { ...own, ...client, ...(Object.keys(extensions).length === 0 ? {} : { extensions }) };
}

function asParams(value: unknown): Params | undefined {
  return isRecord(value) ? value : undefined;
}

/** `_meta` of a request to a server: ours wins over what was handed on. */
export function metaFor(
  envelope: Params | undefined,
  { meta, capabilities, logLevel }: HandedOn,
  own: unknown,
): Record<string, unknown> {
  const joined = { ...meta, ...envelope, ...(isRecord(own) ? own : undefined) };
  if (envelope === undefined) return joined;
  if (capabilities !== undefined)
    joined[META.clientCapabilities] = declaredBy(joined[META.clientCapabilities], capabilities);
  // The host has a log of its own: the more verbose of the two.
  const wanted = joined[META.logLevel];
  if (logLevel !== undefined)
    joined[META.logLevel] = isLogLevel(wanted) ? moreVerbose(wanted, logLevel) : logLevel;
  return joined;
}
