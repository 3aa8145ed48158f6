/**
 * The tasks that a client of a pass-through began: their progress and states are sent after the responses to its
 * calls.
 */

import { createdTask } from '../../connection/tasks.ts';
import type { ClientConnection } from '../../endpoint/client-connection.ts';
import type { Params } from '../../endpoint/client-era.ts';
import { progressOf } from '../../endpoint/requests.ts';
import type { Work } from '../../endpoint/work.ts';
import { isRecord } from '../../lib/json.ts';

/** The oldest is dropped if there are more. */
const MAX_TASKS = 1_000;
const ENDED: ReadonlySet<unknown> = new Set(['completed', 'failed', 'cancelled']);

/** A call that may become a task. */
export interface Begun {
  readonly onProgress: ReturnType<typeof progressOf>;
  readonly progressUntil: AbortSignal;
  /** Called with the server's response. */
  answered(result: unknown): void;
  failed(): void;
}

export class PassedTasks {
  readonly #tasks = new Map<string, AbortController>();

  /** Records a legacy client's call that requests a task; undefined for every other request. */
  begin(
    method: string,
    params: Params,
    work: Work,
    clientConnection: ClientConnection | undefined,
  ): Begun | undefined {
    if (method !== 'tools/call' || work.clientInfo.era === 'modern' || !isRecord(params['task']))
      return undefined;
    const ended = new AbortController();
    return {
      onProgress: progressOf(params, {
        notify: (name, told) => {
          if (work.exchange === undefined) clientConnection?.notify(name, told);
          else work.notify(name, told);
        },
      }),
      progressUntil: ended.signal,
      answered: (result) => {
        const task = createdTask(result, 'legacy');
        if (task === undefined) ended.abort();
        else this.#keep(task.taskId, ended);
      },
      failed: () => ended.abort(),
    };
  }

  has({ taskId }: Params): boolean {
    return typeof taskId === 'string' && this.#tasks.has(taskId);
  }

  /** Handles a server's response about a task, or a reported state. */
  seen(method: string, params: Params, state: unknown): void {
    const { taskId } = params;
    const status = isRecord(state) ? state['status'] : undefined;
    if (method === 'tasks/result' || ENDED.has(status)) this.#drop(taskId);
  }

  close(): void {
    for (const taskId of [...this.#tasks.keys()]) this.#drop(taskId);
  }

  #keep(taskId: string, ended: AbortController): void {
    const [oldest] = this.#tasks.keys();
    if (this.#tasks.size >= MAX_TASKS) this.#drop(oldest);
    this.#tasks.set(taskId, ended);
  }

  #drop(taskId: unknown): void {
    if (typeof taskId !== 'string') return;
    this.#tasks.get(taskId)?.abort();
    this.#tasks.delete(taskId);
  }
}
