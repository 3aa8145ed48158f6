/** The state of a task as each era writes it: the same fields under other names, and results in other places. */

import type { Era } from '../connection/eras.ts';
import { cleanMeta } from '../connection/handed-on.ts';
import { serverWords } from '../connection/rpc-error.ts';
import { RELATED_TASK } from '../connection/tasks.ts';
import type { Params } from '../endpoint/eras.ts';
import { isRecord } from '../lib/json-rpc.ts';
import { cleanRecord } from '../policy/clean-value.ts';

const NAMES: Readonly<Record<Era, { readonly ttl: string; readonly poll: string }>> = {
  legacy: { ttl: 'ttl', poll: 'pollInterval' },
  modern: { ttl: 'ttlMs', poll: 'pollIntervalMs' },
};

/** Members that are no part of a task's own state, or are added where they belong. */
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
  /** The task's id towards the client. */
  readonly id: string;
  /** The time used where the server left it out. */
  readonly now: number;
}

/** A task's own fields for a client; members that no one knows are kept. */
export function taskFields(state: Params, { from, to, id, now }: Translation): Params {
  const { ttl, poll } = NAMES[from];
  const entries = Object.entries(state).filter(([key]) => !APART.has(key) && key !== ttl && key !== poll);
  const { statusMessage, createdAt, lastUpdatedAt, ...rest } = cleanRecord(Object.fromEntries(entries));
  const time = new Date(now).toISOString();
  return {
    ...rest,
    taskId: id,
    ...(typeof statusMessage === 'string' ? { statusMessage: serverWords(statusMessage) } : {}),
    createdAt: typeof createdAt === 'string' ? createdAt : time,
    lastUpdatedAt: typeof lastUpdatedAt === 'string' ? lastUpdatedAt : time,
    [NAMES[to].ttl]: millis(state[ttl]) ?? null,
    ...(millis(state[poll]) === undefined ? {} : { [NAMES[to].poll]: millis(state[poll]) }),
  };
}

/** How long the server keeps the task after its creation; undefined: it does not say. */
export function ttlOf(state: Params, era: Era): number | undefined {
  return millis(state[NAMES[era].ttl]);
}

/** The task in the answer to a call. */
export function createdState(created: Params, era: Era): Params {
  const { task } = created;
  return era === 'legacy' && isRecord(task) ? task : created;
}

/** The answer to a call that became a task; what the server put around the task is kept. */
export function createdFor(created: Params, fields: Params, { from, to }: Translation): Params {
  const meta = withoutRelated(cleanMeta(created['_meta'])._meta);
  const around = from === 'legacy' ? Object.entries(created).filter(([key]) => !APART.has(key)) : [];
  const result = { ...Object.fromEntries(around), ...(meta === undefined ? {} : { _meta: meta }) };
  return to === 'legacy' ? { ...result, task: fields } : { ...result, resultType: 'task', ...fields };
}

/** `_meta` that names the task a message belongs to, for the legacy era. */
export function withRelated(params: Params, taskId: string): Params {
  const { _meta } = params;
  return { ...params, _meta: { ...(isRecord(_meta) ? _meta : undefined), [RELATED_TASK]: { taskId } } };
}

/** A message without that name, for the modern era. */
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

/** Whole milliseconds: the modern era has no others. */
function millis(value: unknown): number | undefined {
  return typeof value === 'number' && value >= 0 ? Math.round(value) : undefined;
}
