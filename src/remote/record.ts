/** What a running daemon leaves for its clients to find: one small file, readable by its user only. */

import { lstatSync, readFileSync } from 'node:fs';
import { isRecord } from '../lib/json-rpc.ts';
import { isOurs } from './place.ts';

export interface DaemonRecord {
  readonly pid: number;
  readonly version: string;
  /** Of its code; absent in what older versions wrote. */
  readonly build?: string | undefined;
  readonly socket: string;
  /** Shown by every client: who cannot read this file cannot speak to the daemon. */
  readonly token: string;
  /** Milliseconds since the epoch. */
  readonly since: number;
}

/** Undefined when there is none, or none that makes sense. */
export function readRecord(file: string): DaemonRecord | undefined {
  let value: unknown;
  try {
    // Another user's word is no word, wherever it stands.
    if (!isOurs(lstatSync(file))) return undefined;
    value = JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    return undefined;
  }
  if (!isRecord(value)) return undefined;
  const { pid, version, build, socket, token, since } = value;
  if (typeof pid !== 'number' || typeof since !== 'number') return undefined;
  if (typeof version !== 'string' || typeof socket !== 'string' || typeof token !== 'string')
    return undefined;
  return { pid, version, socket, token, since, ...(typeof build === 'string' ? { build } : {}) };
}
