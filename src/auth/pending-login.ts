/** Stores pending logins in private files for five minutes, so that any process can finish them. */

import { createHash, type JsonWebKey } from 'node:crypto';
import { readdir, readFile, stat, unlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseRecord } from '../lib/json.ts';
import type { IssuerEndpoints, StoredClient } from './stored-login.ts';

export const LOGIN_LIMIT_MS = 300_000;
const SUFFIX = '.pending';

export interface PendingLogin {
  readonly version: 1;
  readonly url: string;
  /** The account of the login: see `Logins.keyOf`. */
  readonly account: string;
  readonly state: string;
  readonly verifier: string;
  readonly redirectUri: string;
  readonly issuer: string;
  /** Whether the `iss` of the answer can be compared, and whether it is required. */
  readonly issuerIsPublished: boolean;
  readonly sendsIssuer: boolean;
  readonly endpoints: IssuerEndpoints;
  readonly client: StoredClient;
  readonly resource?: string;
  readonly scope?: string;
  readonly stepUps: number;
  readonly dpopKey?: JsonWebKey;
  readonly expiresAt: number;
}

export async function savePending(folder: string, pending: PendingLogin): Promise<void> {
  await sweep(folder);
  await writeFile(fileFor(folder, pending.state), JSON.stringify(pending), { mode: 0o600, flag: 'wx' });
}

/** Returns a pending login once: the process that deletes its file gets it. */
export async function takePending(
  folder: string,
  state: string,
  account: string,
  now: number,
): Promise<PendingLogin | undefined> {
  const file = fileFor(folder, state);
  const text = await readFile(file, 'utf8').catch(() => undefined);
  if (text === undefined) return undefined;
  const value = parse(text);
  // A login of another server is left in place: its answer may still arrive.
  if (value === undefined || value.account !== account || value.state !== state) return undefined;
  const taken = await unlink(file).then(
    () => true,
    () => false,
  );
  return taken && now < value.expiresAt ? value : undefined;
}

export async function dropPending(folder: string, state: string): Promise<void> {
  await unlink(fileFor(folder, state)).catch(() => undefined);
}

/** Hashes the state for the file name: it is a secret until its answer arrives. */
function fileFor(folder: string, state: string): string {
  return join(folder, `${createHash('sha256').update(state).digest('hex').slice(0, 32)}${SUFFIX}`);
}

async function sweep(folder: string): Promise<void> {
  for (const name of await readdir(folder)) {
    if (!name.endsWith(SUFFIX)) continue;
    const info = await stat(join(folder, name)).catch(() => undefined);
    if (info !== undefined && Date.now() - info.mtimeMs > LOGIN_LIMIT_MS) {
      await unlink(join(folder, name)).catch(() => undefined);
    }
  }
}

function parse(text: string): PendingLogin | undefined {
  const value = parseRecord(text);
  // Only this code writes here, into a folder that only its owner can enter, so checking the version is enough.
  return value?.['version'] === 1 ? (value as unknown as PendingLogin) : undefined;
}
