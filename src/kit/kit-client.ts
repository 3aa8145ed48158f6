/** One client of a kit server: dispatches its requests to handlers, and converts their outcomes (KIT-2). */

import { TASKS_EXTENSION } from '../connection/tasks.ts';
import type { ClientHandler } from '../endpoint/backend.ts';
import type { ClientConnection } from '../endpoint/client-connection.ts';
import type { ClientInfo, Params } from '../endpoint/client-era.ts';
import { invalidParams, missingExtension, RpcFailure, resourceNotFound } from '../endpoint/rpc-failure.ts';
import { noTask, takesTasks, tasksCapability } from '../endpoint/task-support.ts';
import type { Exchange, Work } from '../endpoint/work.ts';
import type { Unsubscribe } from '../lib/emitter.ts';
import { isRecord } from '../lib/json.ts';
import { RPC_METHOD_NOT_FOUND } from '../lib/json-rpc.ts';
import { type Access, clientOf, plainHeaders } from './access.ts';
import { callTool } from './call-handler.ts';
import { type Context, HandlerContext } from './handler-context.ts';
import { toContents, toPromptResult } from './handler-results.ts';
import type { KitBackend } from './kit-backend.ts';
import { KIT_METHODS } from './kit-methods.ts';
import type { KitTask } from './kit-task.ts';
import type { KitTasks } from './kit-tasks.ts';
import type { Offer } from './offer.ts';

export class KitClient implements ClientHandler {
  readonly methods: typeof KIT_METHODS = KIT_METHODS;
  readonly #backend: KitBackend;
  readonly #clientConnection: ClientConnection;

  constructor(backend: KitBackend, clientConnection: ClientConnection) {
    this.#backend = backend;
    this.#clientConnection = clientConnection;
  }

  enter(): void {
    // Nothing to start: it is registered with the backend from its first request on.
  }

  leave(): void {
    this.#backend.leave(this.#clientConnection);
  }

  about(who: Pick<ClientInfo, 'era' | 'version'>): Params {
    const { offer, instructions, capabilities } = this.#backend.parts;
    const { tools, resources, templates, prompts } = offer;
    const declared = offer.hasTasks ? withTasks(capabilities, tasksCapability(who)) : capabilities;
    const content = resources.size > 0 || templates.size > 0;
    return {
      capabilities: {
        ...(tools.size > 0 || (!content && prompts.size === 0) ? { tools: { listChanged: true } } : {}),
        ...(content ? { resources: { subscribe: true, listChanged: true } } : {}),
        ...(prompts.size > 0 ? { prompts: { listChanged: true } } : {}),
        ...(offer.completes ? { completions: {} } : {}),
        logging: {},
        ...declared,
      },
      ...(instructions === undefined ? {} : { instructions }),
    };
  }

  async initialized(params: Params, answer: Params): Promise<Params> {
    const changed = await this.#backend.parts.initialize?.(params, answer);
    return isRecord(changed) ? changed : answer;
  }

  get offer(): Offer {
    return this.#backend.parts.offer;
  }

  /** Describes the sender of a request that is answered at once. */
  access(clientInfo: ClientInfo, { caller, headers }: Pick<Exchange, 'caller' | 'headers'>): Access {
    return {
      client: clientOf(clientInfo, this.#clientConnection.principal, caller),
      headers: plainHeaders(headers),
    };
  }

  /** True if there is one, or the author declared the capability. */
  offers(kind: 'resources' | 'prompts'): boolean {
    const { offer, capabilities } = this.#backend.parts;
    const some =
      kind === 'prompts' ? offer.prompts.size > 0 : offer.resources.size > 0 || offer.templates.size > 0;
    return some || capabilities[kind] !== undefined;
  }

  get principal(): string {
    return this.#clientConnection.principal;
  }

  get tasks(): KitTasks {
    return this.#backend.tasks;
  }

  call(params: Params, work: Work): Promise<Params> {
    const { name, task } = params;
    const tool = typeof name === 'string' ? this.offer.tools.get(name)?.tool : undefined;
    const mayBeTask = task !== undefined || tool?.task !== undefined;
    return mayBeTask ? this.#callOrTask(params, work) : this.#call(params, work);
  }

  watchTask(taskId: string, clientInfo: ClientInfo, changed: (state: Params) => void): Unsubscribe {
    return this.tasks.watch(taskId, this.principal, clientInfo, changed);
  }

  #call(params: Params, work: Work, task?: KitTask): Promise<Params> {
    const run = (context: Context): Promise<Params> => callTool(this.#backend.parts, params, context);
    return this.handled('tools/call', params['name'], params, work, run, task);
  }

  /** Answers with a task if the tool and the client support it. */
  async #callOrTask(params: Params, work: Work): Promise<Params> {
    const { name } = params;
    const { clientInfo } = work;
    const found =
      typeof name === 'string' ? this.offer.findTool(name, this.access(clientInfo, work)) : undefined;
    const tool = (await found)?.tool;
    // An unknown or hidden tool is reported by the call.
    if (tool === undefined) return this.#call(params, work);
    const isAccepted = takesTasks(clientInfo, params);
    if (tool.task === undefined) {
      // A modern client accepts either; a legacy client that requests a task waits for one.
      if (isAccepted && clientInfo.era === 'legacy' && this.offer.hasTasks) throw noTask(tool.name);
      return this.#call(params, work);
    }
    if (!isAccepted) {
      if (tool.task === true) throw onlyTask(tool.name, clientInfo);
      return this.#call(params, work);
    }
    const task = this.tasks.create(tool.name, params, work, this.#clientConnection, this);
    return task.begin(
      () => this.#call(params, task.work, task),
      (thrown) => this.#backend.failureOf(thrown, clientInfo.era),
    );
  }

  async watch(uri: unknown, clientInfo: ClientInfo, changed: (uri: string) => void): Promise<Unsubscribe> {
    if (typeof uri !== 'string') throw invalidParams('The address of a resource must be text');
    const { resources, templates } = this.#backend.parts.offer;
    const known = resources.has(uri) || [...templates.values()].some(({ parsed }) => parsed.match(uri));
    if (!known) throw resourceNotFound(uri, clientInfo.era);
    return this.#backend.watch(uri, changed);
  }

  /** Runs the author's handler, in a span if tracing is on. */
  handled(
    method: string,
    name: unknown,
    params: Params,
    work: Work,
    run: (context: Context) => Promise<Params>,
    task?: KitTask,
  ): Promise<Params> {
    const { tracing, checker, identity } = this.#backend.parts;
    const context = new HandlerContext({
      work,
      params,
      principal: this.#clientConnection.principal,
      checker,
      log: (level, data, logger = identity.name) =>
        this.#clientConnection.log(
          level,
          { level, logger, data },
          (each) => each === work || task?.isAttendedBy(each) === true,
        ),
      ...(task === undefined ? {} : { progressed: (...progress) => task.progressed(...progress) }),
    });
    if (tracing === undefined) return run(context);
    return tracing({ method, name: typeof name === 'string' ? name : undefined, context }, () =>
      run(context),
    );
  }

  async read(params: Params, context: Context): Promise<Params> {
    const { uri } = params;
    if (typeof uri !== 'string') throw invalidParams('resources/read needs an address');
    const { resources, templates } = this.#backend.parts.offer;
    const exact = resources.get(uri);
    if (exact !== undefined)
      return { contents: toContents(await exact.read(uri, context), uri, exact.mimeType) };
    for (const { template, parsed } of templates.values()) {
      const variables = parsed.match(uri);
      if (variables === undefined) continue;
      return { contents: toContents(await template.read(variables, context, uri), uri, template.mimeType) };
    }
    throw resourceNotFound(uri, context.client.era);
  }

  async prompt(params: Params, context: Context): Promise<Params> {
    const { name, arguments: given } = params;
    if (typeof name !== 'string') throw invalidParams('prompts/get needs the name of a prompt');
    if (given !== undefined && !isRecord(given)) throw invalidParams('The arguments must be an object');
    const prompt = this.#backend.parts.offer.prompts.get(name);
    if (prompt === undefined) throw invalidParams(`There is no prompt ${JSON.stringify(name)}`);
    const args: Record<string, string> = {};
    for (const [key, { required }] of Object.entries(prompt.arguments)) {
      const value = given !== undefined && Object.hasOwn(given, key) ? given[key] : undefined;
      if (typeof value === 'string') args[key] = value;
      else if (value !== undefined) throw invalidParams(`The argument ${key} must be text`);
      else if (required === true) throw invalidParams(`The argument ${key} is missing`);
    }
    // The arguments are those that the prompt itself declares.
    return toPromptResult(await prompt.get(args as never, context));
  }
}

/** Adds the capability of tasks to those of the author, which may have extensions too. */
function withTasks(capabilities: Params, tasks: Params): Params {
  const { extensions } = capabilities;
  if (!isRecord(extensions) || !isRecord(tasks['extensions'])) return { ...tasks, ...capabilities };
  return { ...capabilities, extensions: { ...tasks['extensions'], ...extensions } };
}

/** Returns the error for a call without a task of a tool that has `task: true`. */
function onlyTask(name: string, { era }: ClientInfo): RpcFailure {
  if (era === 'modern') return missingExtension(TASKS_EXTENSION);
  return new RpcFailure(RPC_METHOD_NOT_FOUND, `${name} must be called as a task`);
}
