/** Stores the handles of running tasks in the home folder, so that the next host can collect their results. */

import { join } from 'node:path';
import type { Home } from '../config/home.ts';
import type { Clock } from '../lib/clock.ts';
import { isRecord } from '../lib/json.ts';
import { JsonStore } from '../lib/json-store.ts';
import { isAlive } from '../lib/process-group.ts';
import type { Era } from './eras.ts';

const MAX_KEPT = 200;
const MAX_AGE_MS: number = 7 * 24 * 60 * 60 * 1000;

export interface KeptTask {
  readonly server: string;
  /** The name of the tool for models; `tool` is its name on the server. */
  readonly name: string;
  readonly tool: string;
  readonly taskId: string;
  readonly era: Era;
  /** Clock time at which the task was created. */
  readonly at: number;
  /** The process that follows the task; absent if its host was closed properly. */
  readonly pid?: number;
}

export interface KeptTasks {
  /** Stores a task, if its server's tasks are kept. */
  keep(task: Omit<KeptTask, 'at' | 'pid'>): Promise<void>;
  drop(taskId: string): Promise<void>;
  /** Claims the tasks of this host's servers that no running process follows. */
  claim(): Promise<readonly KeptTask[]>;
  /** Leaves the tasks that this host still follows to the next host. */
  release(): Promise<void>;
}

export interface KeptTasksOptions {
  readonly home: Home;
  readonly clock: Clock;
  /** True for servers that this host has, and whose tasks a later host may collect. */
  readonly isKept: (server: string) => boolean;
  /** Called once when the file cannot be written. */
  readonly failed: (message: string) => void;
}

export function openKeptTasks({ home, clock, isKept, failed }: KeptTasksOptions): KeptTasks {
  const file = join(home.dir, 'tasks.json');
  const store = new JsonStore({
    file,
    lockDir: join(home.run, 'locks'),
    parse: (value): readonly KeptTask[] => (Array.isArray(value) ? value.filter(isKeptTask) : []),
    toJson: (tasks) => tasks.slice(-MAX_KEPT),
    indent: 1,
  });
  const mine = new Set<string>();
  let isReported = false;

  const change = async (edit: (tasks: readonly KeptTask[]) => readonly KeptTask[]): Promise<void> => {
    const now = clock.now();
    try {
      await store.update((tasks) => edit(tasks.filter(({ at }) => now - at < MAX_AGE_MS)));
    } catch (error) {
      if (!isReported)
        failed(`${file} cannot be written: ${error instanceof Error ? error.message : String(error)}`);
      isReported = true;
    }
  };

  return {
    async keep(task) {
      if (!isKept(task.server)) return;
      mine.add(task.taskId);
      const kept = { ...task, at: clock.now(), pid: process.pid };
      await change((tasks) => [...tasks.filter(({ taskId }) => taskId !== task.taskId), kept]);
    },
    async drop(taskId) {
      mine.delete(taskId);
      await change((tasks) => tasks.filter((task) => task.taskId !== taskId));
    },
    async claim() {
      // Usually there is no task, and then nothing is locked or written.
      if (!(await store.read()).some((task) => isOrphan(task) && isKept(task.server))) return [];
      const claimed: KeptTask[] = [];
      await change((tasks) => {
        claimed.length = 0;
        return tasks.map((task) => {
          if (!isOrphan(task) || !isKept(task.server)) return task;
          const taken = { ...task, pid: process.pid };
          claimed.push(taken);
          return taken;
        });
      });
      for (const { taskId } of claimed) mine.add(taskId);
      return claimed;
    },
    async release() {
      if (mine.size === 0) return;
      await change((tasks) =>
        tasks.map((task) => {
          if (!mine.has(task.taskId)) return task;
          const { pid: _mine, ...left } = task;
          return left;
        }),
      );
      mine.clear();
    },
  };
}

function isOrphan({ pid }: KeptTask): boolean {
  return pid === undefined || !isAlive(pid);
}

function isKeptTask(value: unknown): value is KeptTask {
  return (
    isRecord(value) &&
    ['server', 'name', 'tool', 'taskId'].every((key) => typeof value[key] === 'string') &&
    (value['era'] === 'modern' || value['era'] === 'legacy') &&
    typeof value['at'] === 'number' &&
    (value['pid'] === undefined || typeof value['pid'] === 'number')
  );
}
