/**
 * Stores results that are too long for a model, under addresses that only their session can use (CAL-8).
 *
 * The content is a file of `output-files.ts`, which limits age and size; the addresses are in memory, with the session,
 * and end with it.
 */

import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { RESULT_PREFIX, resultId } from '../catalog/result-tool-definition.ts';
import type { Tool } from '../catalog/tool.ts';
import { PlugboardError } from '../errors.ts';
import type { Clock } from '../lib/clock.ts';
import { getOrMake } from '../lib/get-or-make.ts';
import { parseJson } from '../lib/json.ts';
import { type RuleNames, refusingRule, ruleMatcher } from '../policy/approval.ts';
import type { CallContext } from './call.ts';
import type { OutputFiles } from './output-files.ts';
import type { Session } from './session.ts';
import { settingsFor } from './session-view.ts';

/** An address is valid for this long. */
const MAX_AGE_MS: number = 24 * 60 * 60 * 1000;
/** Addresses of one session, or of one principal without sessions; the oldest are dropped. */
const MAX_RESULTS = 100;
/** Principals without sessions whose addresses are kept; the oldest are dropped. */
const MAX_PRINCIPALS = 1_000;
const ID_BYTES = 12;

export interface StoredResult {
  readonly id: string;
  readonly server: string;
  readonly tool: string;
  readonly names: RuleNames;
  /** `json` if the text is the serialized structured content or the whole result. */
  readonly kind: 'text' | 'json';
  readonly bytes: number;
  readonly tokens: number;
  /** Milliseconds since the epoch. */
  readonly storedAt: number;
  readonly file: string;
}

/** The results of one session, by id, oldest first. */
export type SessionResults = Map<string, StoredResult>;

interface NewResult {
  readonly tool: Pick<Tool, 'server' | 'tool' | 'name'>;
  readonly names: RuleNames;
  readonly kind: StoredResult['kind'];
  readonly text: string;
  readonly tokens: number;
}

export class ResultStore {
  readonly #files: OutputFiles;
  readonly #clock: Clock;
  /** Of clients whose sessions last for one request. */
  readonly #byPrincipal = new Map<string, SessionResults>();

  constructor(files: OutputFiles, clock: Clock) {
    this.#files = files;
    this.#clock = clock;
  }

  /** Stores a result; undefined if the host saves no files. Rejects if it cannot be written. */
  async save(
    session: Session,
    { tool, names, kind, text, tokens }: NewResult,
  ): Promise<StoredResult | undefined> {
    const id = randomBytes(ID_BYTES).toString('base64url');
    const bytes = Buffer.byteLength(text);
    const storedAt = this.#clock.now();
    const { server, tool: toolName } = tool;
    const name = `${tool.name.replace(/[^\w-]/g, '_').slice(0, 64)}.${kind === 'json' ? 'json' : 'txt'}`;
    const file = await this.#files.save(name, text, {
      id,
      session: session.id,
      ...(session.client === undefined ? {} : { client: session.client }),
      server,
      tool: toolName,
      kind,
      bytes,
      tokens,
      storedAt: new Date(storedAt).toISOString(),
      expiresAt: new Date(storedAt + MAX_AGE_MS).toISOString(),
    });
    if (file === '') return undefined;
    const stored = { id, server, tool: toolName, names, kind, bytes, tokens, storedAt, file };
    const results = this.#resultsOf(session);
    results.set(id, stored);
    const [oldest] = results.keys();
    if (results.size > MAX_RESULTS && oldest !== undefined) results.delete(oldest);
    return stored;
  }

  /**
   * Returns a result of a session.
   *
   * @throws PlugboardError INVALID_ARGUMENTS: unknown, expired, or of a tool that the session may no longer use. The
   * message is the same, so that it cannot be used to find results of others.
   */
  find(context: Pick<CallContext, 'settings'>, session: Session, address: string): StoredResult {
    const id = resultId(address);
    const results = this.#resultsOf(session);
    const stored = id === undefined ? undefined : results.get(id);
    if (stored !== undefined && this.#clock.now() - stored.storedAt > MAX_AGE_MS) results.delete(stored.id);
    else if (stored !== undefined && isAllowed(context, session, stored)) return stored;
    throw unknownResult(address);
  }

  /** Returns the text of a result. Rejects like `find` if the file was deleted. */
  async textOf(stored: StoredResult): Promise<string> {
    return readFile(stored.file, 'utf8').catch(() => {
      throw unknownResult(stored.id);
    });
  }

  #resultsOf(session: Session): SessionResults {
    if (!session.isStateless || session.partyName === undefined) {
      session.kept.results ??= new Map();
      return session.kept.results;
    }
    const results = getOrMake(this.#byPrincipal, session.partyName, () => new Map());
    const [oldest] = this.#byPrincipal.keys();
    if (this.#byPrincipal.size > MAX_PRINCIPALS && oldest !== undefined) this.#byPrincipal.delete(oldest);
    return results;
  }
}

/** A result is data of its tool: rules and profiles that were changed since apply to it. */
function isAllowed(
  context: Pick<CallContext, 'settings'>,
  session: Session,
  { server, names }: StoredResult,
): boolean {
  const { profile, offers } = session;
  if (profile !== undefined && !profile.offers(server, names.assigned)) return false;
  if (offers !== undefined && !offers(server, names.assigned)) return false;
  const { permissions } = settingsFor(context, session);
  return refusingRule(permissions?.deny, (rule) => ruleMatcher(rule)(names.all)) === undefined;
}

export function addressOf({ id }: Pick<StoredResult, 'id'>): string {
  return `${RESULT_PREFIX}${id}`;
}

/** Returns what a selection reads: the JSON value of a text, or the text. */
export function dataOf(text: string): unknown {
  const value = /^\s*[[{]/.test(text) ? parseJson(text) : undefined;
  return value === undefined ? text : value;
}

function unknownResult(address: string): PlugboardError {
  const shown = JSON.stringify(address.slice(0, RESULT_PREFIX.length + 40));
  return new PlugboardError('INVALID_ARGUMENTS', `There is no stored result ${shown} in this session`, {
    hint: 'Call the tool again: stored results belong to one session and expire.',
  });
}
