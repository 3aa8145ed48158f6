/** What `export` changed in another agent's file, kept so that it can be taken back exactly. */

import { readFile, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import type { AgentId } from '../config/import/agent.ts';
import { errorCode } from '../lib/error-code.ts';
import { isRecord } from '../lib/json-rpc.ts';
import { replaceFile } from '../lib/locked-file.ts';
import { makeFolder } from '../lib/make-folder.ts';
import type { Context } from './verb.ts';

/** The file may hold keys of its agent. */
const FILE_MODE = 0o600;
const FOLDER_MODE = 0o700;

export interface ExportRecord {
  readonly file: string;
  readonly format: 'json' | 'toml';
  readonly path: readonly string[];
  /** The whole text before; null: there was no such file. */
  readonly before: string | null;
  readonly after: string;
  /** The entry that gave way; null: there was none. */
  readonly previous: unknown;
}

/** One record for each agent and scope. */
export function recordFile({ home }: Context, agent: AgentId, scope: string): string {
  return join(home.dir, 'exports', `${agent}-${scope}.json`);
}

export async function readRecord(file: string): Promise<ExportRecord | undefined> {
  try {
    const value: unknown = JSON.parse(await readFile(file, 'utf8'));
    return isRecordOfExport(value) ? value : undefined;
  } catch (error) {
    if (errorCode(error) === 'ENOENT' || error instanceof SyntaxError) return undefined;
    throw error;
  }
}

export async function keepRecord(context: Context, file: string, record: ExportRecord): Promise<void> {
  await makeFolder(context.home.dir, FOLDER_MODE);
  await makeFolder(join(context.home.dir, 'exports'), FOLDER_MODE);
  await replaceFile(file, `${JSON.stringify(record, null, 2)}\n`, { mode: FILE_MODE });
}

export async function forgetRecord(file: string): Promise<void> {
  await unlink(file).catch(() => {});
}

function isRecordOfExport(value: unknown): value is ExportRecord {
  return (
    isRecord(value) &&
    typeof value['file'] === 'string' &&
    (value['format'] === 'json' || value['format'] === 'toml') &&
    Array.isArray(value['path']) &&
    (value['before'] === null || typeof value['before'] === 'string') &&
    typeof value['after'] === 'string'
  );
}
