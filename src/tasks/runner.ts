/** Decides whether the process that runs a task still exists. */

import { isAlive } from '../lib/process-group.ts';
import { hasProcessTable, processRow } from '../lib/process-table.ts';
import type { Runner } from './task-record.ts';

/** Returns this process as the runner of a task. */
export function thisRunner(): Runner {
  const { pid } = process;
  const startedAt = hasProcessTable ? processRow(pid)?.startedAt : undefined;
  return startedAt === undefined ? { pid } : { pid, startedAt };
}

/** A killed process that its parent has not reaped does not run, nor does a later one with the same id. */
export function isRunning({ pid, startedAt }: Runner): boolean {
  if (!isAlive(pid)) return false;
  if (startedAt === undefined || !hasProcessTable) return true;
  const row = processRow(pid);
  return row !== undefined && !row.zombie && row.startedAt === startedAt;
}
