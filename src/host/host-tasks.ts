/** Opens the table of tasks of a host, and finds tasks in it. Loaded when a call becomes a task. */

import { RunningTasks } from '../tasks/running-tasks.ts';
import { TaskFiles } from '../tasks/task-files.ts';
import { TaskMemory } from '../tasks/task-memory.ts';
import { type TaskInfo, type TaskRecord, taskInfo, unknownTask } from '../tasks/task-record.ts';
import { BackgroundTask, type TaskAccess } from './background-task.ts';
import type { HostCore } from './host-core.ts';

export function openTasks(core: HostCore): RunningTasks {
  const { home, clock, events } = core;
  const changed = (record: TaskRecord): void => events.emit('task', taskInfo(record));
  return new RunningTasks({
    table: home.isNone
      ? new TaskMemory(clock)
      : new TaskFiles({
          home,
          clock,
          lost: (record) => {
            const { server, tool, createdAt } = record;
            const begun = new Date(createdAt).toISOString();
            core.log(server, 'warning', `the task of ${tool} that was begun at ${begun} is lost: ${LOST}`);
            changed(record);
          },
        }),
    clock,
    changed,
    failed: (message) => core.log(undefined, 'error', message),
  });
}

const LOST = 'the process that ran it has ended. It is not repeated.';

/** Returns the access of handles to the tasks of a host. */
export function taskAccess({ clock, calls, closing }: HostCore, tasks: RunningTasks): TaskAccess {
  return { tasks, clock, closing, adopt: (record) => calls.adoptTask(record) };
}

/** Finds a task; `owner`: only one of this owner. */
export async function findTask(core: HostCore, id: string, owner?: string): Promise<BackgroundTask> {
  const tasks = await core.calls.tasks.running();
  const record = tasks.find(id)?.record ?? (await tasks.table.get(id));
  if (record === undefined || (owner !== undefined && record.owner !== owner)) throw unknownTask(id);
  return new BackgroundTask(taskAccess(core, tasks), record);
}

/** Returns the tasks of an owner, or all of the home, newest first. */
export async function listTasks(core: HostCore, owner?: string): Promise<readonly TaskInfo[]> {
  const tasks = await core.calls.tasks.running();
  const stored = await tasks.table.list(owner);
  // This process knows the newest progress.
  return stored.map((record) => taskInfo(tasks.find(record.id)?.record ?? record));
}
