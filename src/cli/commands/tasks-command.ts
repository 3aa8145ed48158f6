/** `plugboard tasks`: lists, watches and cancels calls in the background, and prints their results. */

import { Argument } from 'commander';
import type { BackgroundTask } from '../../host/background-task.ts';
import { HomeTasks } from '../../host/home-tasks.ts';
import { clean, oneLine } from '../../policy/clean.ts';
import { isRunning } from '../../tasks/runner.ts';
import { isOver, type TaskInfo, type TaskRecord } from '../../tasks/task-record.ts';
import type { CliCommand, Context } from '../cli-command.ts';
import { misuse } from '../flags.ts';
import { ProgressLine } from '../progress-line.ts';
import { resultText } from '../result-output.ts';
import { layOut } from '../text-layout.ts';
import { openHost } from '../with-host.ts';

const ACTIONS = ['list', 'watch', 'result', 'cancel'] as const;
/** Exit status if the tool returned an error, as that of `call`. */
const EXIT_TOOL_ERROR = 1;
const MAX_MESSAGE_CHARS = 60;

export const tasks: CliCommand = {
  configure(command): void {
    command
      .addArgument(new Argument('[action]', 'action (default: list)').choices(ACTIONS))
      .argument('[id]', 'with watch, result and cancel: the id of a task')
      .addHelpText('after', EXAMPLES);
  },

  async run(context: Context, args: readonly string[]): Promise<number> {
    const [action = 'list', id] = args;
    if (action === 'list') {
      if (id !== undefined) throw misuse('tasks', 'plugboard tasks list does not take an id');
      return list(context);
    }
    if (id === undefined) throw misuse('tasks', `plugboard tasks ${action} needs the id of a task`);
    return withTask(context, id, (task) => {
      if (action === 'watch') return watch(context, task);
      return action === 'cancel' ? cancel(context, task) : result(context, task);
    });
  },
};

const EXAMPLES = `
A task is a call that goes on without its caller: of "plugboard call --background", of a program, or of an agent whose
call took long. It is kept for seven days. "result" does not wait; "watch" does, and prints the result. With --json, watch
prints a JSON document in each line.

Examples:
  plugboard call --background reports build year=2026
  plugboard tasks
  plugboard tasks watch 9c436708d4ac50840293d1f72070
  plugboard tasks result 9c436708d4ac50840293d1f72070 --json
  plugboard tasks cancel 9c436708d4ac50840293d1f72070`;

async function list({ home, output, signal }: Context): Promise<number> {
  const all = await new HomeTasks(home, signal).list();
  output.answer({ tasks: all }, () => {
    if (all.length === 0) return 'There are no tasks.';
    const rows = all.map((task) => [
      task.id,
      oneLine(`${task.server} ${task.tool}`),
      task.status,
      stateText(task),
      task.createdAt.replace('T', ' ').replace(/\.\d+Z$/, ''),
    ]);
    return layOut(rows, { columns: [{}, {}, {}, {}, {}], total: output.columns }).join('\n');
  });
  return 0;
}

/** The progress of a running task, or why one has no result. */
function stateText({ progress, total, message, error }: TaskInfo): string {
  const done = progress === undefined ? '' : total === undefined ? `${progress}` : `${progress}/${total}`;
  const text = error?.message ?? message ?? '';
  return clean(`${done} ${text}`.trim(), { multiline: false, max: MAX_MESSAGE_CHARS });
}

/** Runs `work` with a task; one that no process runs is continued by a host with its server. */
async function withTask(
  context: Context,
  id: string,
  work: (task: BackgroundTask) => Promise<number>,
): Promise<number> {
  const { record, task } = await new HomeTasks(context.home, context.signal).find(id);
  if (!isLeft(record)) return work(task);
  return openHost(context, { servers: [record.server] }, async ({ host }) => {
    const found = await host.task(id);
    await found.refresh();
    return work(found);
  });
}

function isLeft(record: TaskRecord): boolean {
  return !isOver(record) && (record.runner === undefined || !isRunning(record.runner));
}

async function result(context: Context, task: BackgroundTask): Promise<number> {
  const { output } = context;
  const { status } = task;
  if (status === 'working' || status === 'input_required') {
    output.answer({ status }, () => `${status} ${stateText(task.info)}`.trim());
    return 0;
  }
  return printed(context, task);
}

async function printed({ output, signal }: Context, task: BackgroundTask): Promise<number> {
  const ended = await task.result({ signal });
  if (output.json) output.answer(ended, () => '');
  else output.text(resultText(ended));
  return ended.isError ? EXIT_TOOL_ERROR : 0;
}

async function watch(context: Context, task: BackgroundTask): Promise<number> {
  const { output, signal } = context;
  const line = new ProgressLine(output, task.info.tool);
  const show = (info: TaskInfo): void => {
    const { progress = 0, total, message } = info;
    if (output.json) output.line(JSON.stringify(info));
    else
      line.show({
        progress,
        ...(total === undefined ? {} : { total }),
        ...(message === undefined ? {} : { message }),
      });
  };
  show(task.info);
  const stop = task.on('changed', show);
  try {
    const ended = task.result({ signal });
    ended.then(stop, stop);
    if (!output.json) return await ended.then(() => line.clear()).then(() => printed(context, task));
    return (await ended).isError ? EXIT_TOOL_ERROR : 0;
  } finally {
    stop();
    line.clear();
  }
}

async function cancel({ output }: Context, task: BackgroundTask): Promise<number> {
  await task.cancel();
  const info = await task.refresh();
  output.answer(info, () => (info.status === 'cancelled' ? 'Cancelled.' : `It is ${info.status} already.`));
  return 0;
}
