/** One task: a call that goes on without its caller, and everything that is stored about it but its result. */

import type { Era } from '../connection/eras.ts';
import { asPlugboardError, type ErrorCode, isErrorCode, PlugboardError } from '../errors.ts';
import { isRecord, parseRecord } from '../lib/json.ts';

/**
 * `lost`: the process that ran the call has ended, and its server cannot be asked again. The call may or may not have
 * had its effect, so it is never repeated.
 */
export type TaskStatus = 'working' | 'input_required' | 'completed' | 'failed' | 'cancelled' | 'lost';

const STATUSES: Readonly<Record<TaskStatus, 'running' | 'over'>> = {
  working: 'running',
  input_required: 'running',
  completed: 'over',
  failed: 'over',
  cancelled: 'over',
  lost: 'over',
};

/** Why a task has no result. */
export interface TaskError {
  readonly code: ErrorCode;
  readonly message: string;
  readonly hint?: string;
}

/** The process that runs a call; a later process with the same id has another start time. */
export interface Runner {
  readonly pid: number;
  readonly startedAt?: number;
}

/** The task of the server itself, by which it can be asked again. */
export interface UpstreamTask {
  readonly taskId: string;
  readonly era: Era;
}

export interface TaskRecord {
  readonly id: string;
  /** Who may see it: a principal of the gateway, or the programs and commands of the user. */
  readonly owner: string;
  readonly server: string;
  /** The server's own name of the tool; `name` is the one for models. */
  readonly tool: string;
  readonly name: string;
  /** The client of a gateway, and its profile. */
  readonly client?: string;
  readonly profile?: string;
  readonly status: TaskStatus;
  readonly message?: string;
  readonly progress?: number;
  readonly total?: number;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  readonly updatedAt: number;
  /** How long it is kept after its creation; a running call is kept longer. */
  readonly ttlMs: number;
  readonly error?: TaskError;
  /** The size of the result. */
  readonly bytes?: number;
  /** A digest of the server's entry: a server of another project with the same name has other tasks. */
  readonly entry: string;
  readonly upstream?: UpstreamTask;
  /** Undefined if its process was closed properly and its server still works on it. */
  readonly runner?: Runner;
  /** A caller waits for it: it is listed only if that caller's process ends first. */
  readonly foreground?: true;
}

/** A task as programs, `--json` and the management API get it. */
export interface TaskInfo {
  readonly id: string;
  readonly status: TaskStatus;
  readonly server: string;
  readonly tool: string;
  readonly name: string;
  readonly client?: string;
  readonly profile?: string;
  readonly message?: string;
  readonly progress?: number;
  readonly total?: number;
  /** ISO 8601. */
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly expiresAt: string;
  readonly error?: TaskError;
}

export function isOver({ status }: Pick<TaskRecord, 'status'>): boolean {
  return STATUSES[status] === 'over';
}

export function isExpired(record: TaskRecord, now: number): boolean {
  return isOver(record) && now >= record.createdAt + record.ttlMs;
}

export function taskInfo(record: TaskRecord): TaskInfo {
  const { id, status, server, tool, name, client, profile, message, progress, total, error } = record;
  return {
    id,
    status,
    server,
    tool,
    name,
    ...(client === undefined ? {} : { client }),
    ...(profile === undefined ? {} : { profile }),
    ...(message === undefined ? {} : { message }),
    ...(progress === undefined ? {} : { progress }),
    ...(total === undefined ? {} : { total }),
    createdAt: new Date(record.createdAt).toISOString(),
    updatedAt: new Date(record.updatedAt).toISOString(),
    expiresAt: new Date(record.createdAt + record.ttlMs).toISOString(),
    ...(error === undefined ? {} : { error }),
  };
}

/** Returns the parts of an error that are stored. */
export function taskError(thrown: unknown): TaskError {
  const { code, message, hint } = asPlugboardError(thrown);
  return { code, message, ...(hint === undefined ? {} : { hint }) };
}

/** Returns the error by which a call ends whose task has no result. */
export function failureOfTask(record: TaskRecord): PlugboardError {
  const { status, error, server } = record;
  const { code, message, hint } = error ?? { code: 'INTERNAL', message: `The task is ${status}` };
  return new PlugboardError(code, message, { server, ...(hint === undefined ? {} : { hint }) });
}

/** The error for an id that is not known, no longer known, or belongs to another owner: all are the same. */
export function unknownTask(id: string): PlugboardError {
  return new PlugboardError('UNKNOWN_TASK', `There is no task ${JSON.stringify(id.slice(0, 80))}`, {
    hint: { commands: 'Run plugboard tasks to list them.', library: 'List them with host.tasks().' },
  });
}

/** Parses a stored record; a damaged one is undefined. */
export function parseTask(text: string): TaskRecord | undefined {
  const value = parseRecord(text);
  if (value === undefined) return undefined;
  const { status, error, upstream, runner } = value;
  const isTask =
    ['id', 'owner', 'server', 'tool', 'name', 'entry'].every((key) => typeof value[key] === 'string') &&
    ['createdAt', 'updatedAt', 'ttlMs'].every((key) => typeof value[key] === 'number') &&
    typeof status === 'string' &&
    Object.hasOwn(STATUSES, status) &&
    (error === undefined || (isRecord(error) && isErrorCode(error['code']))) &&
    (upstream === undefined || (isRecord(upstream) && typeof upstream['taskId'] === 'string')) &&
    (runner === undefined || (isRecord(runner) && typeof runner['pid'] === 'number'));
  // The remaining members are written by this program, to a file of this user.
  return isTask ? (value as unknown as TaskRecord) : undefined;
}
