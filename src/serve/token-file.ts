/** `tokens.json` of the home: the named tokens for calls; only hashes are stored. */

import { createHash, randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { readFile, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Home } from '../config/home.ts';
import { PlugboardError } from '../errors.ts';
import { errorCode } from '../lib/error-code.ts';
import { isRecord } from '../lib/json.ts';
import { updateFile } from '../lib/locked-file.ts';
import { makeFolder } from '../lib/make-folder.ts';
import { nearest } from '../lib/nearest.ts';

const FILE_NAME = 'tokens.json';
/** The one token of 0.1.0, which was also the management token. */
const OLD_FILE_NAME = 'gateway-token';
const FILE_VERSION = 1;
const FILE_MODE = 0o600;
const FOLDER_MODE = 0o700;
const TOKEN_BYTES = 32;
const PREFIX = 'plug_';
const OLD_TOKEN = /^[\w-]{20,512}$/;
const HASH = /^[0-9a-f]{64}$/;
const NAME = /^[A-Za-z0-9][\w.-]{0,63}$/;
/** Principals that are not names of tokens. */
const RESERVED: ReadonlySet<string> = new Set(['token', 'local']);
/** A path through a file has no token either; the problem is reported when it is written. */
const ABSENT: ReadonlySet<string> = new Set(['ENOENT', 'ENOTDIR']);
const MAX_TOKENS = 20_000;
/** Hashes of revoked tokens, newest first: a revoked token is not accepted in any other way either. */
const MAX_REVOKED = 10_000;

/** Name of the token that `serve --http` creates for a home without one, and of the token of 0.1.0. */
export const DEFAULT_NAME = 'default';

/** Shown at the one start that adopts the token of 0.1.0. */
export const OLD_TOKEN_NOTE: string =
  `the token of earlier versions still calls tools, now under the name ${DEFAULT_NAME}, and no longer manages. ` +
  'The page has a token of its own: plugboard dashboard opens it.';

export interface StoredToken {
  readonly name: string;
  /** SHA-256 of the token, in hex: the token is long and random, so a slower hash is not needed. */
  readonly hash: string;
  /** Milliseconds since the epoch. */
  readonly created: number;
  readonly expires?: number;
  /** The profile of the client. */
  readonly profile?: string;
}

export interface TokenFile {
  readonly tokens: readonly StoredToken[];
  readonly revoked: readonly string[];
}

type TokenHome = Pick<Home, 'dir' | 'run'>;

export function tokenFileOf({ dir }: Pick<Home, 'dir'>): string {
  return join(dir, FILE_NAME);
}

/** Returns a new random token in the form of every token for calls. */
export function newTokenText(): string {
  return PREFIX + randomBytes(TOKEN_BYTES).toString('base64url');
}

export function hashOf(token: string): string {
  return createHash('sha256').update(token).digest('hex');
}

/**
 * Reads the file now.
 *
 * @throws PlugboardError CONFIG_INVALID if it exists and cannot be read: then no token is valid.
 */
export function readTokenFile(file: string): TokenFile {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    if (ABSENT.has(errorCode(error) ?? '')) return { tokens: [], revoked: [] };
    throw unreadable(file, error);
  }
  return parse(file, text);
}

export interface NewToken extends StoredToken {
  /** The only copy of the token. */
  readonly token: string;
}

/**
 * Creates a token.
 *
 * @throws PlugboardError USAGE if the name is in use or invalid.
 */
export async function addToken(
  home: TokenHome,
  name: string,
  {
    now,
    expires,
    profile,
  }: {
    readonly now: number;
    readonly expires?: number | undefined;
    readonly profile?: string | undefined;
  },
): Promise<NewToken> {
  if (!NAME.test(name) || RESERVED.has(name)) {
    throw new PlugboardError('USAGE', `${JSON.stringify(name)} cannot be the name of a token`, {
      hint: 'Use up to 64 letters, digits, dots, dashes and underscores, such as claude-laptop; token and local are reserved.',
    });
  }
  const token = newTokenText();
  const made: StoredToken = {
    name,
    hash: hashOf(token),
    created: now,
    ...(expires === undefined ? {} : { expires }),
    ...(profile === undefined ? {} : { profile }),
  };
  await edit(home, ({ tokens, revoked }) => {
    if (tokens.some((each) => each.name === name)) {
      throw new PlugboardError('USAGE', `There is a token named ${name}`, {
        hint: `Choose another name, or revoke it first with: plugboard token revoke ${name}`,
      });
    }
    if (tokens.length >= MAX_TOKENS)
      throw new PlugboardError('LIMIT_EXCEEDED', `There are ${MAX_TOKENS} tokens already`, {
        hint: 'Run plugboard token list and revoke those that are not used.',
      });
    return { tokens: [...tokens, made], revoked };
  });
  return { ...made, token };
}

/**
 * Removes a token and stores its hash as revoked.
 *
 * @throws PlugboardError USAGE if there is none of this name.
 */
export async function revokeToken(home: TokenHome, name: string): Promise<StoredToken> {
  let found: StoredToken | undefined;
  await edit(home, ({ tokens, revoked }) => {
    found = tokens.find((each) => each.name === name);
    if (found === undefined) {
      const close = nearest(
        name,
        tokens.map((each) => each.name),
      );
      throw new PlugboardError('USAGE', `There is no token named ${JSON.stringify(name)}`, {
        hint:
          close.length > 0
            ? `Did you mean ${close.join(' or ')}?`
            : 'Run plugboard token list to see all of them.',
      });
    }
    return {
      tokens: tokens.filter((each) => each !== found),
      revoked: [found.hash, ...revoked].slice(0, MAX_REVOKED),
    };
  });
  const old = await oldToken(home);
  if (old !== undefined && hashOf(old.token) === found?.hash) await rm(old.file, { force: true });
  // `edit` throws if there is none.
  return found as StoredToken;
}

/**
 * Stores the token of 0.1.0 as {@link DEFAULT_NAME} if this home has one and no `tokens.json` yet. True if it did so.
 */
export async function adoptOldToken(home: TokenHome, now: number): Promise<boolean> {
  const old = await oldToken(home);
  if (old === undefined || readTokenFileText(tokenFileOf(home)) !== undefined) return false;
  let isAdopted = false;
  await edit(home, (before, isNew) => {
    isAdopted = isNew;
    if (!isNew) return undefined;
    return {
      ...before,
      tokens: [{ name: DEFAULT_NAME, hash: hashOf(old.token), created: now }],
    };
  });
  return isAdopted;
}

/** Reads the plain-text token file of 0.1.0, if there is one. */
export async function oldToken({
  dir,
}: Pick<Home, 'dir'>): Promise<{ readonly token: string; readonly file: string } | undefined> {
  const file = join(dir, OLD_FILE_NAME);
  const token = (await readFile(file, 'utf8').catch(() => '')).trim();
  return OLD_TOKEN.test(token) ? { token, file } : undefined;
}

async function edit(
  home: TokenHome,
  change: (before: TokenFile, isNew: boolean) => TokenFile | undefined,
): Promise<void> {
  const file = tokenFileOf(home);
  await makeFolder(dirname(file), FOLDER_MODE);
  await updateFile(
    file,
    (text) => {
      const before = text === undefined ? { tokens: [], revoked: [] } : parse(file, text);
      const after = change(before, text === undefined);
      return after && textOf(after);
    },
    { lockDir: join(home.run, 'locks'), mode: FILE_MODE },
  );
}

function readTokenFileText(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw unreadable(file, error);
  }
}

function textOf({ tokens, revoked }: TokenFile): string {
  const entries = tokens.map(({ name, hash, created, expires, profile }) => [
    name,
    {
      hash,
      created: new Date(created).toISOString(),
      ...(expires === undefined ? {} : { expires: new Date(expires).toISOString() }),
      ...(profile === undefined ? {} : { profile }),
    },
  ]);
  const value = { version: FILE_VERSION, tokens: Object.fromEntries(entries), revoked };
  return `${JSON.stringify(value, null, 2)}\n`;
}

function parse(file: string, text: string): TokenFile {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw unreadable(file, error);
  }
  if (!isRecord(value) || value['version'] !== FILE_VERSION || !isRecord(value['tokens']))
    throw unreadable(file);
  const revoked: readonly unknown[] = Array.isArray(value['revoked']) ? value['revoked'] : [];
  return {
    tokens: Object.entries(value['tokens']).map(([name, token]) => parseToken(file, name, token)),
    revoked: revoked.filter((hash) => typeof hash === 'string'),
  };
}

/** One invalid entry makes the whole file invalid: an unreadable expiry or profile must not mean "unlimited". */
function parseToken(file: string, name: string, token: unknown): StoredToken {
  if (!NAME.test(name) || !isRecord(token)) throw unreadable(file);
  const { hash, created, expires, profile } = token;
  const [from, until] = [created, expires].map((date) =>
    typeof date === 'string' ? Date.parse(date) : undefined,
  );
  if (typeof hash !== 'string' || !HASH.test(hash)) throw unreadable(file);
  if (expires !== undefined && (until === undefined || Number.isNaN(until))) throw unreadable(file);
  if (profile !== undefined && (typeof profile !== 'string' || profile === '')) throw unreadable(file);
  return {
    name,
    hash,
    created: from || 0,
    ...(until === undefined ? {} : { expires: until }),
    ...(profile === undefined ? {} : { profile }),
  };
}

function unreadable(file: string, cause?: unknown): PlugboardError {
  return new PlugboardError('CONFIG_INVALID', `${file} cannot be read`, {
    hint: 'Fix the file, or delete it and make new tokens with: plugboard token add <name>',
    cause,
  });
}
