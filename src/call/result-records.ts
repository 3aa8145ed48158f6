/** Reads and deletes the stored results of a home, of all processes and sessions: for the person who owns them. */

import { readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { parseRecord } from '../lib/json.ts';
import { RECORD_ENDING } from './output-files.ts';

/** A stored result, as `plugboard results --json` prints it. */
export interface ResultRecord {
  readonly id: string;
  readonly server: string;
  readonly tool: string;
  readonly session: string;
  readonly client?: string;
  readonly kind: 'text' | 'json';
  readonly bytes: number;
  readonly tokens: number;
  /** ISO 8601. */
  readonly storedAt: string;
  readonly expiresAt: string;
  readonly file: string;
}

/** Returns the stored results whose content still exists, newest first. */
export async function listRecords(folder: string): Promise<readonly ResultRecord[]> {
  const names = await readdir(folder).catch((): string[] => []);
  const present = new Set(names);
  const records = await Promise.all(
    names
      .filter((name) => name.endsWith(RECORD_ENDING) && present.has(name.slice(0, -RECORD_ENDING.length)))
      .map(async (name) => {
        const text = await readFile(join(folder, name), 'utf8').catch(() => '');
        return recordIn(text, join(folder, name.slice(0, -RECORD_ENDING.length)));
      }),
  );
  return records
    .filter((record) => record !== undefined)
    .sort((a, b) => (a.storedAt < b.storedAt ? 1 : a.storedAt > b.storedAt ? -1 : 0));
}

export async function deleteRecord({ file }: Pick<ResultRecord, 'file'>): Promise<void> {
  await rm(file, { force: true });
  await rm(`${file}${RECORD_ENDING}`, { force: true });
}

/** A file that was damaged is skipped. */
function recordIn(text: string, file: string): ResultRecord | undefined {
  const { id, server, tool, session, client, kind, bytes, tokens, storedAt, expiresAt } =
    parseRecord(text) ?? {};
  const isWhole =
    [id, server, tool, session, storedAt, expiresAt].every((value) => typeof value === 'string') &&
    typeof bytes === 'number' &&
    typeof tokens === 'number';
  if (!isWhole) return undefined;
  return {
    id: String(id),
    server: String(server),
    tool: String(tool),
    session: String(session),
    ...(typeof client === 'string' ? { client } : {}),
    kind: kind === 'json' ? 'json' : 'text',
    bytes,
    tokens,
    storedAt: String(storedAt),
    expiresAt: String(expiresAt),
    file,
  };
}
