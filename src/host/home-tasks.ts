/** Tasks of a home for a command that needs no server: it reads the table, without a host. */

import type { Home } from '../config/home.ts';
import { systemClock } from '../lib/clock.ts';
import { RunningTasks } from '../tasks/running-tasks.ts';
import { TaskFiles } from '../tasks/task-files.ts';
import { type TaskInfo, type TaskRecord, taskInfo, unknownTask } from '../tasks/task-record.ts';
import { BackgroundTask, type TaskAccess } from './background-task.ts';

export class HomeTasks {
  readonly #access: TaskAccess;

  constructor(home: Home, signal: AbortSignal) {
    const clock = systemClock;
    const table = new TaskFiles({ home, clock, lost: () => {} });
    const tasks = new RunningTasks({ table, clock, changed: () => {}, failed: () => {} });
    this.#access = { tasks, clock, closing: signal, adopt: () => {} };
  }

  async list(): Promise<readonly TaskInfo[]> {
    return (await this.#access.tasks.table.list()).map(taskInfo);
  }

  /**
   * Returns a task and its handle.
   *
   * @throws PlugboardError UNKNOWN_TASK.
   */
  async find(id: string): Promise<{ readonly record: TaskRecord; readonly task: BackgroundTask }> {
    const record = await this.#access.tasks.table.get(id);
    if (record === undefined) throw unknownTask(id);
    return { record, task: new BackgroundTask(this.#access, record) };
  }
}
