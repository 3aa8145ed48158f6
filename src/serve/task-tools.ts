/** The tools by which a client without tasks follows calls that went on in the background: only its own. */

import type { ShapedResult } from '../call/shape.ts';
import {
  TASK_CANCEL,
  TASK_LIST,
  TASK_RESULT,
  TASK_STATUS,
  TASK_TOOL_NAMES,
} from '../catalog/task-tool-names.ts';
import type { Tool } from '../catalog/tool.ts';
import type { Params } from '../endpoint/client-era.ts';
import { asPlugboardError, PlugboardError } from '../errors.ts';
import type { BackgroundTask } from '../host/background-task.ts';
import type { Clock } from '../lib/clock.ts';
import { inTime } from '../lib/waits.ts';
import type { TaskInfo } from '../tasks/task-record.ts';
import type { ServedSession } from './served-host.ts';

/** How long `task_result` may wait: agents give up after 60 s. */
const MAX_WAIT_SECONDS = 45;
const MAX_LISTED = 50;

const id = { type: 'string', minLength: 1, description: 'The id of the task.' };
const READS = { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false };

export const TASK_TOOLS: readonly Tool[] = [
  tool(TASK_STATUS, 'Returns the status and the progress of a call that goes on in the background.', READS, {
    id,
  }),
  tool(
    TASK_RESULT,
    'Returns the result of a call that went on in the background, or its status while it runs.',
    READS,
    {
      id,
      wait: {
        type: 'integer',
        minimum: 0,
        maximum: MAX_WAIT_SECONDS,
        description: 'Seconds to wait for its end (0).',
      },
    },
  ),
  tool(
    TASK_CANCEL,
    'Cancels a call that goes on in the background.',
    { ...READS, readOnlyHint: false, destructiveHint: true },
    { id },
  ),
  tool(TASK_LIST, 'Lists your calls that go on in the background, and those that have ended.', READS, {}),
];

function tool(
  name: string,
  description: string,
  annotations: NonNullable<Tool['annotations']>,
  properties: Params,
): Tool {
  const required = 'id' in properties ? ['id'] : [];
  return {
    name,
    server: '',
    tool: name,
    description,
    inputSchema: { type: 'object', properties, required, additionalProperties: false },
    annotations,
  };
}

export function isTaskTool(name: string): boolean {
  return TASK_TOOL_NAMES.includes(name);
}

/** The answer to a call that became a task. */
export function becameTask({ id: task, tool: name, server }: TaskInfo, called: Tool | undefined): Params {
  const text =
    `${name} (${server}) is still running. It goes on in the background as task ${task}. ` +
    `Do other work first, then call ${TASK_RESULT} with {"id": "${task}", "wait": ${MAX_WAIT_SECONDS}}. Do not call ${name} again.`;
  return {
    content: [{ type: 'text', text }],
    // A client rejects a result without the structured content that the tool declares, unless it is an error.
    ...(called?.outputSchema === undefined ? {} : { isError: true }),
    _meta: { 'plugboard/task': task },
  };
}

export interface TaskToolCall {
  readonly name: string;
  readonly args: Params;
  readonly session: ServedSession;
  readonly owner: string;
  readonly clock: Clock;
  /** Converts a result for the client. */
  readonly passOn: (task: BackgroundTask, result: ShapedResult) => Params;
}

/** Answers one of the tools. The model gets the text of a failure. */
export async function callTaskTool(call: TaskToolCall): Promise<Params> {
  const { name, args, session, owner } = call;
  if (name === TASK_LIST) {
    const tasks = await session.tasks(owner);
    return json({ tasks: tasks.slice(0, MAX_LISTED).map(shown) });
  }
  if (typeof args['id'] !== 'string')
    throw new PlugboardError('INVALID_ARGUMENTS', `${name} needs the id of a task`);
  const task = await session.task(args['id'], owner);
  if (name === TASK_STATUS) return json(shown(await task.refresh()));
  if (name === TASK_CANCEL) {
    await task.cancel();
    return json(shown(await task.refresh()));
  }
  return resultOf(call, task);
}

async function resultOf({ args, clock, passOn }: TaskToolCall, task: BackgroundTask): Promise<Params> {
  const { wait } = args;
  const seconds = typeof wait === 'number' && wait > 0 ? Math.min(wait, MAX_WAIT_SECONDS) : 0;
  const info = await task.refresh();
  if (info.status === 'working' || info.status === 'input_required') {
    const stopped = new AbortController();
    const ended = task.result({ signal: stopped.signal }).then(
      () => true,
      () => true,
    );
    const isEnded = seconds > 0 && (await inTime(ended, seconds * 1_000, clock, false));
    if (!isEnded) {
      stopped.abort(new PlugboardError('CANCELLED', 'The client asks again later'));
      return json(shown(task.info));
    }
  }
  try {
    return passOn(task, await task.result());
  } catch (thrown) {
    const error = asPlugboardError(thrown);
    // The state of the task, not of this call.
    return { ...json({ ...shown(task.info), error: error.toJSON() }), isError: true };
  }
}

/** A task as a model reads it. */
function shown({
  id: task,
  status,
  tool: name,
  server,
  message,
  progress,
  total,
  createdAt,
  error,
}: TaskInfo): Params {
  return { id: task, status, server, tool: name, message, progress, total, createdAt, error: error?.message };
}

function json(value: Params): Params {
  return { content: [{ type: 'text', text: JSON.stringify(value) }] };
}
