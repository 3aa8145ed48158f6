/** Records the changes of `up` in our own config.json, so that `down` can revert them. */

import { readFile } from 'node:fs/promises';
import { editTarget, serversPath } from '../../config/edit-config.ts';
import type { Home } from '../../config/home.ts';
import type { FileEdit } from '../../config/import/file-edits.ts';
import { readValue } from '../../config/import/write-program.ts';
import { canonicalJson } from '../../lib/canonical-json.ts';
import { valueAt } from '../../lib/json.ts';
import type { Context } from '../cli-command.ts';
import { keepRecord, readRecord, recordFile } from '../export-record.ts';
import { addToRecord } from './recorded-edits.ts';

/** A server in config.json, with its scope. */
export interface HomeServer {
  readonly name: string;
  readonly scope: 'local' | 'user';
}

export function homeRecordFile(home: Home): string {
  return recordFile(home, 'up', 'config');
}

/** Runs `work`, which may write these servers and the list of inputs, and records the difference. */
export async function recordHomeEdits(
  context: Context,
  projectRoot: string,
  servers: readonly HomeServer[],
  work: () => Promise<void>,
): Promise<void> {
  const { home } = context;
  const file = { path: home.config, format: 'json' } as const;
  const read = (): Promise<string | undefined> => readFile(home.config, 'utf8').catch(() => undefined);
  const before = await read();
  try {
    await work();
  } finally {
    // Also after a failure, because some changes may have been written.
    const after = await read();
    if (after !== undefined && after !== before) {
      const [old, now] = [await readValue(file, before ?? ''), await readValue(file, after)];
      const paths = servers.map(({ name, scope }) => [
        ...serversPath(editTarget(scope, { home, projectRoot }), now),
        name,
      ]);
      const edits = [['inputs'], ...paths].flatMap((path): FileEdit[] => difference(path, old, now));
      await addToRecord(context, homeRecordFile(home), file, { text: before, after, edits, folders: [] });
    }
  }
}

function difference(path: readonly string[], old: unknown, now: unknown): FileEdit[] {
  const before = valueAt(old, path);
  const after = valueAt(now, path);
  if (canonicalJson(before ?? null) === canonicalJson(after ?? null)) return [];
  const known = before === undefined ? {} : { before };
  return [{ kind: 'set', path, ...known, ...(after === undefined ? {} : { after }) }];
}

/** Records the ids of values before they are stored. */
export async function recordStoredInputs({ home }: Context, ids: readonly string[]): Promise<void> {
  const file = homeRecordFile(home);
  const record = (await readRecord(file)) ?? { files: [] };
  const stored = [...new Set([...(record.storedInputs ?? []), ...ids])];
  await keepRecord(home, file, { ...record, storedInputs: stored });
}
