/** Requests completions for arguments of prompts and resource templates (CAT-10). */

import type { Connection } from '../connection/connection.ts';
import type { HandedOn } from '../connection/handed-on.ts';
import { asPlugboardError, PlugboardError } from '../errors.ts';
import { isRecord } from '../lib/json.ts';
import { clean } from '../policy/clean.ts';
import { cleanRecord } from '../policy/clean-value.ts';
import { type JsonObject, unknownMembers } from './accept-bounds.ts';
import { metaOf, refusalOf } from './content-response.ts';

/** The user is typing, so a late suggestion is useless. */
const COMPLETE_TIMEOUT_MS = 10_000;
/** The protocol's limit for one answer. */
const MAX_VALUES = 100;
/** The first version in which servers declare completions. */
const FIRST_DECLARING_VERSION = '2025-03-26';

/** The prompt or resource template whose argument is completed. */
export type CompletionRef =
  | { readonly server: string; readonly type: 'ref/prompt'; readonly name: string }
  /** `uri` is a template as listed by the server, or an address made from one. */
  | { readonly server: string; readonly type: 'ref/resource'; readonly uri: string };

/** Options of a completion. */
export interface CompletionOptions {
  /** Arguments that already have values. */
  readonly context?: Readonly<Record<string, string>> | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Request data of the client that this request is made for. */
  readonly handedOn?: HandedOn | undefined;
}

/** Suggested values for an argument. */
export interface Completion {
  readonly values: readonly string[];
  /** Total number of values, if the server reports it. */
  readonly total?: number;
  readonly hasMore?: boolean;
  /** `_meta` of the server's result. */
  readonly _meta?: Readonly<Record<string, unknown>>;
  /** Unknown members. */
  readonly extra?: JsonObject;
}

const KNOWN: ReadonlySet<string> = new Set(['values', 'total', 'hasMore']);

/** Requests suggestions; a server without completions returns an empty list, not an error. */
export async function complete(
  connection: Connection,
  ref: CompletionRef,
  argument: { readonly name: string; readonly value: string },
  options: CompletionOptions = {},
): Promise<Completion> {
  await connection.ready(options.signal);
  if (!mayComplete(connection)) return { values: [] };
  const params = {
    ref: ref.type === 'ref/prompt' ? { type: ref.type, name: ref.name } : { type: ref.type, uri: ref.uri },
    argument: { name: argument.name, value: argument.value },
    ...(options.context === undefined ? {} : { context: { arguments: options.context } }),
  };
  const { signal, handedOn } = options;
  let raw: unknown;
  try {
    raw = await connection.request('completion/complete', params, {
      signal,
      idleMs: COMPLETE_TIMEOUT_MS,
      handedOn,
    });
  } catch (thrown) {
    const error = asPlugboardError(thrown);
    if (refusalOf(error, 'completion/complete')?.unknownMethod) return { values: [] };
    throw error;
  }
  const found = isRecord(raw) && isRecord(raw['completion']) ? raw['completion'] : undefined;
  if (found === undefined) {
    throw new PlugboardError('PROTOCOL_ERROR', `${connection.name} answered without a completion`, {
      server: connection.name,
    });
  }
  return { ...accept(found), ...metaOf(raw, true) };
}

function mayComplete({ negotiated }: Connection): boolean {
  if (negotiated === undefined) return false;
  return (
    negotiated.capabilities['completions'] !== undefined ||
    negotiated.protocolVersion < FIRST_DECLARING_VERSION
  );
}

function accept(raw: JsonObject): Completion {
  const { values, total, hasMore } = raw;
  const extra = unknownMembers(raw, KNOWN);
  const all = Array.isArray(values) ? values.filter((value) => typeof value === 'string') : [];
  const cut = all.length > MAX_VALUES;
  return {
    values: all.slice(0, MAX_VALUES).map((value) => clean(value)),
    ...(typeof total === 'number' && total >= 0 ? { total } : {}),
    ...(typeof hasMore === 'boolean' || cut ? { hasMore: cut || hasMore === true } : {}),
    ...(extra === undefined ? {} : { extra: cleanRecord(extra) }),
  };
}
