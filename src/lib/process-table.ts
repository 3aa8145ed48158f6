/** Reads processes, their parents and their environment marks from /proc. Linux only: other systems return nothing. */

import { readdirSync, readFileSync } from 'node:fs';
import { attempt } from './attempt.ts';

export interface ProcessRow {
  readonly pid: number;
  readonly group: number;
  readonly parent: number;
  /** Ticks since boot; with the pid it identifies a process uniquely, since pids are reused. */
  readonly startedAt: number;
  /** True if it is dead but not yet reaped by its parent. */
  readonly zombie: boolean;
}

/** True if this system can list processes this way. */
export const hasProcessTable: boolean = process.platform === 'linux';

export function processIds(): number[] {
  if (!hasProcessTable) return [];
  return listOrNothing('/proc').map(Number).filter(Number.isInteger);
}

/** Returns one process; undefined if it is gone. */
export function processRow(pid: number): ProcessRow | undefined {
  const stat = readOrUndefined(`/proc/${pid}/stat`)?.toString('latin1');
  if (stat === undefined) return undefined;
  // The name in parentheses may contain anything, including parentheses: fields are counted from the last one.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const [state, parent, group] = fields;
  return {
    pid,
    group: Number(group),
    parent: Number(parent),
    startedAt: Number(fields[19]),
    zombie: state === 'Z' || state === 'X',
  };
}

/** Returns children, their children and so on, without reading other processes. */
export function descendants(ancestor: number): ProcessRow[] {
  const found: ProcessRow[] = [];
  const pending = [ancestor];
  for (let pid = pending.pop(); pid !== undefined; pid = pending.pop()) {
    // The kernel lists children by the thread that created them.
    for (const thread of listOrNothing(`/proc/${pid}/task`)) {
      const children = readOrUndefined(`/proc/${pid}/task/${thread}/children`)?.toString('latin1') ?? '';
      for (const child of children.split(' ').filter(Boolean).map(Number)) {
        const row = processRow(child);
        if (row) found.push(row);
        pending.push(child);
      }
    }
  }
  return found;
}

/**
 * Returns the text after `prefix` (`NAME=begin`) in the environment that a process was started with: null without such
 * a variable, undefined if it is unknown: the process is just being created, or it is a kernel thread.
 */
export function startedWithPrefix(pid: number, prefix: string): string | null | undefined {
  const environ = readOrUndefined(`/proc/${pid}/environ`);
  if (environ === undefined) return null; // gone, or another user's
  if (environ.length === 0) return undefined;
  let at = environ.indexOf(prefix);
  while (at > 0 && environ[at - 1] !== 0) at = environ.indexOf(prefix, at + 1);
  if (at === -1) return null;
  const end = environ.indexOf(0, at);
  return environ.toString('latin1', at + prefix.length, end === -1 ? environ.length : end);
}

function listOrNothing(path: string): string[] {
  return attempt(() => readdirSync(path), []);
}

function readOrUndefined(path: string): Buffer | undefined {
  return attempt(() => readFileSync(path), undefined);
}
