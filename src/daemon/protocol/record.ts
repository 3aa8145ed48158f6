/** The file by which clients find the running daemon; readable by its user only. */

import { lstatSync, readFileSync } from 'node:fs';
import { isRecord } from '../../lib/json.ts';
import type { Build } from './build.ts';
import { isOurs } from './daemon-place.ts';

export interface DaemonRecord {
  readonly pid: number;
  /** Undefined for daemons of 0.1.0, which only 0.1.0 attaches to. */
  readonly protocol: number | undefined;
  readonly build: Build | undefined;
  readonly socket: string;
  /** Sent by every client; a process that cannot read this file cannot attach. */
  readonly token: string;
  /** Milliseconds since the epoch. */
  readonly since: number;
}

/** Returns undefined if the file is missing, invalid, or owned by another user. */
export function readRecord(file: string): DaemonRecord | undefined {
  let value: unknown;
  try {
    if (!isOurs(lstatSync(file))) return undefined;
    value = JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    return undefined;
  }
  if (!isRecord(value)) return undefined;
  const { pid, protocol, build, socket, token, since } = value;
  if (typeof pid !== 'number' || typeof since !== 'number') return undefined;
  if (typeof socket !== 'string' || typeof token !== 'string') return undefined;
  return {
    pid,
    protocol: typeof protocol === 'number' ? protocol : undefined,
    build: asBuild(build),
    socket,
    token,
    since,
  };
}

function asBuild(value: unknown): Build | undefined {
  if (!isRecord(value)) return undefined;
  const { version, id, madeAt } = value;
  if (typeof version !== 'string' || typeof id !== 'string' || typeof madeAt !== 'number') return undefined;
  return { version, id, madeAt };
}
