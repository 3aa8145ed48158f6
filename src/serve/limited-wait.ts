/** A call whose client waits for a limited time: then it goes on as a stored task, and the client gets its id. */

import type { CallOptions } from '../call/call.ts';
import type { ShapedResult } from '../call/shape.ts';
import type { Tool } from '../catalog/tool.ts';
import type { Params } from '../endpoint/client-era.ts';
import type { Work } from '../endpoint/work.ts';
import { Cancellation } from '../lib/cancellation.ts';
import type { RunningTask } from '../tasks/running-task.ts';
import type { ClientTasks } from './client-tasks.ts';
import type { ServedSession } from './served-host.ts';
import { becameTask } from './task-tools.ts';

export interface LimitedWaitOptions {
  /** Undefined: the client does not wait. */
  readonly afterMs: number | undefined;
  readonly ttlMs: number | undefined;
  readonly tool: Tool;
  /** True if the client follows tasks itself. */
  readonly isTask: boolean;
  readonly tasks: ClientTasks;
}

/** The result of the call, or the response of one that became a task. */
export type Awaited = { readonly result: ShapedResult } | { readonly response: Params };

export class LimitedWait {
  readonly #options: LimitedWaitOptions;

  constructor(options: LimitedWaitOptions) {
    this.#options = options;
  }

  /** `work`: the request, whose cancellation ends the call until it is a task. */
  async call(
    session: ServedSession,
    name: string,
    args: Params,
    options: CallOptions & { readonly cancellation: Work },
  ): Promise<Awaited> {
    const { afterMs, ttlMs, tool, isTask, tasks } = this.#options;
    const { cancellation: work } = options;
    const cancellation = new Cancellation();
    const takenBack = (): void => {
      const { reason } = work;
      if (reason !== undefined) cancellation.cancel(reason);
    };
    work.onCancel(takenBack);
    if (work.isCancelled) takenBack();
    let begin: (task: RunningTask) => void = () => {};
    const begun = new Promise<{ readonly id: string }>((resolve) => {
      begin = ({ record }) => resolve({ id: record.id });
    });
    const called = session.call(name, args, {
      ...options,
      cancellation,
      becomes: { owner: tasks.storedOwner, afterMs, ttlMs, begun: begin },
    });
    // It may fail after the response.
    called.catch(() => {});
    try {
      const first = await Promise.race([called.then((result) => ({ result })), begun]);
      if ('result' in first) return first;
      const stored = await session.task(first.id, tasks.storedOwner);
      return { response: isTask ? tasks.handOnStored(stored, work) : becameTask(stored.info, tool) };
    } finally {
      work.offCancel(takenBack);
    }
  }
}
