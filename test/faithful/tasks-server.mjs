/**
 * Tasks of both eras, moved on by the tool `go`: `progress`, `ask`, `done`, `isError` and `error` are steps of the
 * newest task, so that a test decides what happens when.
 */

import { ask, era, notify, RpcError, received, serve, text, tool } from './raw-server.mjs';

const TASKS = 'io.modelcontextprotocol/tasks';
const RELATED = 'io.modelcontextprotocol/related-task';
const tasks = new Map();
let newest;
let subscription;

const isModern = era === 'modern';
const form = {
  method: 'elicitation/create',
  params: {
    mode: 'form',
    message: 'Which?',
    requestedSchema: { type: 'object', properties: { pick: { type: 'string' } }, required: ['pick'] },
  },
};

function create(params) {
  const now = new Date(0).toISOString();
  const times = isModern
    ? { ttlMs: 60_000, pollIntervalMs: 50 }
    : { ttl: params.task.ttl ?? null, pollInterval: 50 };
  const task = {
    taskId: `t${tasks.size + 1}`,
    status: 'working',
    statusMessage: 'begun',
    createdAt: now,
    lastUpdatedAt: now,
    ...times,
    'com.example/field': 'kept',
  };
  newest = {
    task,
    progressToken: params._meta?.progressToken,
    wakers: [],
    steps: [...(params.arguments?.steps ?? [])],
  };
  tasks.set(task.taskId, newest);
  return isModern ? { resultType: 'task', ...task } : { task, _meta: { 'com.example/created': true } };
}

function move(to, of = newest) {
  const { task } = of;
  if (to === 'progress') {
    const { progressToken } = of;
    if (progressToken !== undefined)
      notify('notifications/progress', { progressToken, progress: 5, total: 10 });
    task.statusMessage = 'half';
  }
  if (to === 'ask') task.status = 'input_required';
  if (to === 'working') task.status = 'working';
  if (to === 'done') {
    of.result = text(of.pick ?? 'done');
    task.status = 'completed';
  }
  if (to === 'isError') {
    of.result = { ...text('sorry'), isError: true };
    task.status = isModern ? 'completed' : 'failed';
  }
  if (to === 'error') {
    of.error = { code: 4711, message: 'broken', data: { why: 'a' } };
    task.status = 'failed';
  }
  for (const wake of of.wakers.splice(0)) wake();
  if (!isModern) notify('notifications/tasks/status', task);
  else if (subscription?.ids.includes(task.taskId))
    subscription.send({
      jsonrpc: '2.0',
      method: 'notifications/tasks',
      params: { ...detailed(of), ...subscription.of },
    });
}

function detailed({ task, result, error, pick }) {
  if (!isModern) return task;
  return {
    ...task,
    ...(task.status === 'input_required' && pick === undefined ? { inputRequests: { pick: form } } : {}),
    ...(result === undefined || task.status !== 'completed' ? {} : { result }),
    ...(error === undefined ? {} : { error }),
  };
}

function find({ taskId }) {
  const found = tasks.get(taskId);
  if (found === undefined) throw new RpcError(-32602, 'Failed to retrieve task: Task not found');
  return found;
}

const isOver = ({ task }) => ['completed', 'failed', 'cancelled'].includes(task.status);
const woken = (one) => new Promise((resolve) => one.wakers.push(resolve));

/** Legacy: blocks until the end, and asks while it runs. */
async function result(params, { send }) {
  const one = find(params);
  const _meta = { [RELATED]: { taskId: one.task.taskId } };
  while (!isOver(one)) {
    if (one.task.status === 'input_required') {
      const answer = await ask(form.method, { ...form.params, _meta }, send);
      one.pick = JSON.stringify(answer);
      move('working', one);
    } else await woken(one);
  }
  if (one.error !== undefined) throw new RpcError(one.error.code, one.error.message, one.error.data);
  if (one.result === undefined) throw new RpcError(-32603, 'the task was cancelled');
  return { ...one.result, _meta };
}

function cancel(params) {
  const one = find(params);
  if (isOver(one)) {
    if (isModern) return {};
    throw new RpcError(-32602, 'Cannot cancel task: already in terminal status');
  }
  one.task.status = 'cancelled';
  move('cancelled', one);
  return isModern ? {} : one.task;
}

await serve({
  capabilities: isModern
    ? { tools: {}, extensions: { [TASKS]: {} } }
    : { tools: {}, tasks: { list: {}, cancel: {}, requests: { tools: { call: {} } } } },
  tools: [
    tool('job', isModern ? {} : { execution: { taskSupport: 'required' } }),
    tool('go'),
    tool('plain', isModern ? {} : { execution: { taskSupport: 'forbidden' } }),
  ],
  handlers: {
    'tasks/get': (params) => {
      const one = find(params);
      const step = one.steps.shift();
      if (step !== undefined) move(step, one);
      return detailed(one);
    },
    'tasks/cancel': cancel,
    ...(isModern
      ? {
          'tasks/update': (params) => {
            const one = find(params);
            one.pick = JSON.stringify(params.inputResponses.pick);
            move('working', one);
            return {};
          },
          'subscriptions/listen': ({ notifications }, { send, id }) => {
            const of = { _meta: { 'io.modelcontextprotocol/subscriptionId': id } };
            subscription = { ids: notifications.taskIds ?? [], send, of };
            send({
              jsonrpc: '2.0',
              method: 'notifications/subscriptions/acknowledged',
              params: { notifications, ...of },
            });
            return new Promise(() => {});
          },
        }
      : {
          'tasks/result': result,
          'tasks/list': () => ({ tasks: [...tasks.values()].map(({ task }) => task) }),
        }),
  },
  called(params) {
    if (params.name === 'job') {
      if (!isModern && params.task === undefined) throw new RpcError(-32601, 'this tool has to be a task');
      return create(params);
    }
    if (params.name === 'go') {
      move(params.arguments.to);
      return text(JSON.stringify(received.filter(({ method }) => method?.startsWith('tasks/'))));
    }
    return text('plain');
  },
});
