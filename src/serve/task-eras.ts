/** Translates the state of a task between eras: the same fields under other names, and results in other places. */

import type { Era } from '../connection/eras.ts';
import { cleanMeta } from '../connection/handed-on.ts';
import { serverMessage } from '../connection/rpc-error.ts';
import { RELATED_TASK } from '../connection/tasks.ts';
import type { Params } from '../endpoint/client-era.ts';
import { isRecord } from '../lib/json.ts';
import { cleanRecord } from '../policy/clean-value.ts';

const NAMES: Readonly<Record<Era, { readonly ttl: string; readonly poll: string }>> = {
  legacy: { ttl: 'ttl', poll: 'pollInterval' },
  modern: { ttl: 'ttlMs', poll: 'pollIntervalMs' },
};

/** Members that are not part of a task's own state, or are added separately. */
const APART: ReadonlySet<string> = new Set([
  '_meta',
  'resultType',
  'requestState',
  'result',
  'error',
  'inputRequests',
  'task',
]);

const TERMINAL: ReadonlySet<unknown> = new Set(['completed', 'failed', 'cancelled']);

export function isTerminal(status: unknown): boolean {
  return TERMINAL.has(status);
}

export interface Translation {
  readonly from: Era;
  readonly to: Era;
  /** The client's id of the task. */
  readonly id: string;
  /** The time used if the server omitted it. */
  readonly now: number;
}

/** Returns a task's own fields for a client; unknown members are kept. */
export function taskFields(state: Params, { from, to, id, now }: Translation): Params {
  const { ttl, poll } = NAMES[from];
  const entries = Object.entries(state).filter(([key]) => !APART.has(key) && key !== ttl && key !== poll);
  const { statusMessage, createdAt, lastUpdatedAt, ...rest } = cleanRecord(Object.fromEntries(entries));
  const time = new Date(now).toISOString();
  return {
    ...rest,
    taskId: id,
    ...(typeof statusMessage === 'string' ? { statusMessage: serverMessage(statusMessage) } : {}),
    createdAt: typeof createdAt === 'string' ? createdAt : time,
    lastUpdatedAt: typeof lastUpdatedAt === 'string' ? lastUpdatedAt : time,
    [NAMES[to].ttl]: millis(state[ttl]) ?? null,
    ...(millis(state[poll]) === undefined ? {} : { [NAMES[to].poll]: millis(state[poll]) }),
  };
}

/** Returns how long the server keeps the task after its creation; undefined if not declared. */
export function ttlOf(state: Params, era: Era): number | undefined {
  return millis(state[NAMES[era].ttl]);
}

/** Returns the task in the response to a call. */
export function createdState(created: Params, era: Era): Params {
  const { task } = created;
  return era === 'legacy' && isRecord(task) ? task : created;
}

/** Returns the response to a call that became a task; other members of the server's response are kept. */
export function createdFor(created: Params, fields: Params, { from, to }: Translation): Params {
  const meta = withoutRelated(cleanMeta(created['_meta'])._meta);
  const around = from === 'legacy' ? Object.entries(created).filter(([key]) => !APART.has(key)) : [];
  const result = { ...Object.fromEntries(around), ...(meta === undefined ? {} : { _meta: meta }) };
  return to === 'legacy' ? { ...result, task: fields } : { ...result, resultType: 'task', ...fields };
}

/** Adds the `_meta` that names the task of a message, for the legacy era. */
export function withRelated(params: Params, taskId: string): Params {
  const { _meta } = params;
  return { ...params, _meta: { ...(isRecord(_meta) ? _meta : undefined), [RELATED_TASK]: { taskId } } };
}

/** Removes that `_meta`, for the modern era. */
export function unrelated(params: Params): Params {
  const { _meta, ...rest } = params;
  const meta = withoutRelated(_meta);
  return meta === undefined ? rest : { ...rest, _meta: meta };
}

function withoutRelated(meta: unknown): Params | undefined {
  if (!isRecord(meta)) return undefined;
  const { [RELATED_TASK]: _related, ...rest } = meta;
  return Object.keys(rest).length === 0 ? undefined : rest;
}

/** Rounds to whole milliseconds: the modern era requires integers. */
function millis(value: unknown): number | undefined {
  return typeof value === 'number' && value >= 0 ? Math.round(value) : undefined;
}
