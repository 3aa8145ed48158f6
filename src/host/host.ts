/** The public `Host` class: the user's servers as tools, and the operations on them. */

import type { LoginOptions } from '../auth/interactive.ts';
import type { BegunLogin, LoginAnswer } from '../auth/login.ts';
import type { ServerAuth } from '../auth/server-auth.ts';
import type { ApprovalState } from '../call/approve.ts';
import type { ContentAction } from '../call/approve-content.ts';
import type { CallOptions } from '../call/call.ts';
import type { CostReport } from '../call/cost-report.ts';
import type { SessionOptions } from '../call/session.ts';
import type { ShapedResult } from '../call/shape.ts';
import type { Completion, CompletionOptions, CompletionRef } from '../catalog/completion.ts';
import { definitionCost } from '../catalog/deferral.ts';
import type { ListedPrompt, PromptArguments, PromptResult } from '../catalog/prompts.ts';
import type { ReadResult, ResourceListing } from '../catalog/resources.ts';
import type { ResourceListener } from '../catalog/resources-subscribe.ts';
import { type Tool, toolId } from '../catalog/tool.ts';
import type { NameForm } from '../catalog/tool-names.ts';
import { isRemote, type Problem } from '../config/entry.ts';
import type { GivenEntry } from '../config/given-entry.ts';
import type { LoadedConfig } from '../config/load.ts';
import type { EditableScope } from '../config/scopes.ts';
import type { Connection } from '../connection/connection.ts';
import type { Phase } from '../connection/open.ts';
import { asPlugboardError, PlugboardError } from '../errors.ts';
import type { Unsubscribe } from '../lib/emitter.ts';
import type { BudgetUse } from '../policy/budgets.ts';
import type { Finding } from '../policy/scan.ts';
import type { TaskInfo } from '../tasks/task-record.ts';
import type { BackgroundTask } from './background-task.ts';
import type { FirstLists } from './first-lists.ts';
import type { HeldBack, SaveOptions, ServerOrigin } from './host-configure.ts';
import type { ContentOptions, Expansion } from './host-content.ts';
import { HostCore } from './host-core.ts';
import type { CostOptions } from './host-cost.ts';
import { checkEvent } from './host-events.ts';
import { HostManagement } from './host-management.ts';
import type { HostEvents, HostOptions } from './host-options.ts';
import { checkHostOptions } from './host-options-check.ts';
import type { HostProfiles } from './host-profiles.ts';
import {
  detailsOf,
  type InspectedTool,
  inspectTools,
  type ServerDetails,
  type ServerReport,
} from './host-report.ts';
import { givenText, type SearchResult } from './host-search.ts';
import { HostServers } from './host-servers.ts';
import { HostSession } from './host-session.ts';
import type { ToolSchemas, TypedTools } from './typed-tools.ts';

/**
 * Reads the configuration and begins to start the user's servers. Resolves when the configuration is read and every
 * tool known from the cache is available; `ready()` waits for the servers.
 *
 * @example
 * await using host = await createHost({ approve: () => 'allow' });
 * await host.ready();
 * const result = await host.call('mcp__files__read_file', { path: 'README.md' });
 */
export async function createHost(options: HostOptions = {}): Promise<Host> {
  const host = new Host(await HostCore.build(options));
  await host.start();
  return host;
}

/** Options of a login whose response is sent to an address of the program. */
export interface RedirectLogin {
  /** Where the authorization server sends the browser back to: https, or http on this machine. */
  readonly redirectUrl: string | URL;
  readonly signal?: AbortSignal | undefined;
}

/** A server that failed, with the reason. */
export type FailedServer = ServerReport & { readonly error: NonNullable<ServerReport['error']> };

/** The servers' states when `ready()` resolves; those that start only on demand are in neither list. */
export interface Readiness {
  readonly connected: readonly string[];
  readonly failed: readonly FailedServer[];
}

/** The user's servers as tools. Created by `createHost`, closed by `close()`. */
export class Host {
  /** The folder of Plugboard's own files. */
  readonly home: string;
  /**
   * Lists that do not wait for every server; used by the gateway and by commands.
   *
   * @internal
   */
  readonly firstLists: FirstLists;
  /**
   * The form of tool names for clients of a gateway: from `naming`, else `server__tool`.
   *
   * @internal
   */
  readonly gatewayNaming: NameForm;
  /**
   * The profiles of clients, and the settings that recognise clients; used by the gateway and by commands.
   *
   * @internal
   */
  readonly profiles: HostProfiles;
  /**
   * Operations for the management API and the page.
   *
   * @internal
   */
  readonly management: HostManagement;
  readonly #core: HostCore;
  readonly #servers: HostServers;
  #closing: Promise<void> | undefined;
  readonly #own: HostSession;

  /**
   * Use {@link createHost}.
   *
   * @internal
   */
  constructor(core: HostCore) {
    this.#core = core;
    this.home = core.home.dir;
    this.firstLists = core.firstLists;
    this.gatewayNaming = core.gatewayNaming;
    this.profiles = core.profiles;
    this.management = new HostManagement(core);
    this.#servers = new HostServers(core);
    this.#own = new HostSession(core, core.session);
  }

  /**
   * Begins to start the configured servers; `createHost` calls it.
   *
   * @internal
   */
  start(): Promise<void> {
    return this.#servers.start();
  }

  // Tools.

  /**
   * Returns the tools for the model, in stable order; with `all`, also those deferred behind the search.
   *
   * @param options - `all`: with the deferred tools.
   */
  tools(options: { readonly all?: boolean } = {}): readonly Tool[] {
    if (options.all !== true) return this.#own.tools();
    this.#core.freshen();
    const { deferred } = this.#core.deferral();
    const all = this.#core.catalog.snapshot.tools.map((tool) => deferred.get(toolId(tool)) ?? tool);
    return [...all, ...this.#own.resourceTools()];
  }

  /**
   * Returns the tool of a name: as `tools()` returns it, as `mcp__server__tool` or as `server__tool`; deferred or
   * not.
   *
   * @param name - The name of the tool.
   */
  find(name: string): Tool | undefined {
    return this.#own.find(name);
  }

  /**
   * Returns whether a call of a tool would need an approval now, without asking. Undefined if there is no such tool,
   * or if the arguments do not name the server of `read_mcp_resource` or the tool of `call_tool`, which they decide on.
   *
   * @param name - The name of the tool.
   * @param args - Its arguments.
   * @example
   * host.approvalOf('mcp__files__write')?.decision; // → 'ask'
   */
  approvalOf(name: string, args?: Readonly<Record<string, unknown>>): ApprovalState | undefined {
    return this.#own.approvalOf(name, args);
  }

  /**
   * Allows the calls of a tool without a question, like an answer of `approve`: `session` until this host closes,
   * `always` with a rule in the person's configuration. For programs that ask the person in another way.
   *
   * @param name - The name of the tool.
   * @param until - How long it is allowed.
   * @param args - For `read_mcp_resource` and `call_tool`: the arguments that decide.
   * @throws PlugboardError `UNKNOWN_TOOL`; `CONFIG_UNWRITABLE` if the rule cannot be written.
   * @example
   * await host.allow('mcp__files__write', 'session');
   */
  allow(name: string, until: 'session' | 'always', args?: Readonly<Record<string, unknown>>): Promise<void> {
    return this.#own.allow(name, until, args);
  }

  /**
   * Returns one sentence for each problem that a call with these arguments would be rejected for; empty if there are
   * none, undefined if there is no such tool. No tool is called and no question is asked.
   *
   * @param name - The name of the tool.
   * @param args - The arguments to check.
   * @example
   * await host.checkArguments('mcp__demo__add', { a: 'x' }); // → ['a must be a number']
   */
  checkArguments(
    name: string,
    args: Readonly<Record<string, unknown>>,
  ): Promise<readonly string[] | undefined> {
    return this.#own.checkArguments(name, args);
  }

  /** Returns the token cost of all definitions, and of those that the model is given now. */
  definitionTokens(): { readonly all: number; readonly given: number } {
    const given = this.tools().reduce((sum, tool) => sum + definitionCost(tool), 0);
    return { all: this.#core.deferral().definitionTokens, given };
  }

  /**
   * Returns what servers and tools cost a model, counted with the o200k vocabulary: definitions in each form, results of
   * the last days from the audit log, calls, and what saves most.
   *
   * @param options - `days`: the period of calls (default: 30).
   * @example
   * const { servers } = await host.cost({ days: 7 });
   * servers[0]?.definitions; // { full: 12040, compact: 5310, deferred: 2210 }
   */
  async cost(options: CostOptions = {}): Promise<CostReport> {
    const { hostCost } = await import('./host-cost.ts');
    return hostCost(this.#core, options);
  }

  /**
   * Calls a tool by the name that `tools()` gave it, or as `server__tool`; rejects only with a PlugboardError. The type
   * of its structured content is not checked.
   *
   * @param name - The name of the tool.
   * @param args - Its arguments.
   * @param options - Signal, timeout, progress.
   * @returns The result; `isError` is true if the tool reports a failure.
   * @throws PlugboardError `UNKNOWN_TOOL`, `INVALID_ARGUMENTS`, `APPROVAL_REQUIRED`, `DENIED`, `PIN_CHANGED`, `TIMEOUT`, `CANCELLED`, or the reason why the server cannot be reached, such as `NEEDS_AUTH`, `START_FAILED`, `CONNECTION_LOST`.
   * @example
   * const { structuredContent } = await host.call<{ files: string[] }>('mcp__files__glob', { pattern: '*.md' });
   */
  call(
    name: string,
    args: Readonly<Record<string, unknown>>,
    options: CallOptions & { readonly background: true },
  ): Promise<BackgroundTask>;
  call<T = unknown>(
    name: string,
    args?: Readonly<Record<string, unknown>>,
    options?: CallOptions,
  ): Promise<ShapedResult<T>>;
  call<T = unknown>(
    name: string,
    args: Readonly<Record<string, unknown>> = {},
    options: CallOptions = {},
  ): Promise<ShapedResult<T> | BackgroundTask> {
    return this.#own.call<T>(name, args, options);
  }

  /**
   * Returns a call in the background by its id, also one that another process with the same home began.
   *
   * @param id - The id of the task.
   * @throws PlugboardError `UNKNOWN_TASK` if there is none, or it has expired.
   * @example
   * const { id } = await host.call('mcp__reports__build', {}, { background: true });
   * const task = await host.task(id);
   * if (task.status === 'completed') await task.result();
   */
  async task(id: string): Promise<BackgroundTask> {
    const { findTask } = await import('./host-tasks.ts');
    return findTask(this.#core, String(id));
  }

  /** Returns the calls in the background of all processes with the same home, newest first. */
  async tasks(): Promise<readonly TaskInfo[]> {
    const { listTasks } = await import('./host-tasks.ts');
    return listTasks(this.#core);
  }

  /**
   * Returns functions for tools with your own schemas: arguments and structured content have exact types and are
   * validated. The result is that of `call()`. A missing tool is an error when it is called.
   *
   * @param schemas - Schemas of arguments and results, by the name of the tool.
   * @throws PlugboardError USAGE if a schema is neither a Standard Schema nor a JSON Schema.
   * @example
   * const files = host.typed({
   *   mcp__files__glob: {
   *     inputSchema: z.object({ pattern: z.string() }),
   *     outputSchema: z.object({ files: z.array(z.string()) }),
   *   },
   * });
   * const found = await files.mcp__files__glob({ pattern: '*.md' });
   * if (!found.isError) found.structuredContent.files; // string[]
   */
  typed<const S extends ToolSchemas>(schemas: S): TypedTools<S> {
    return this.#own.typed(schemas);
  }

  /**
   * Sends a request of a method that the host has no function for: of an extension, or specific to one server. The
   * rules for the server apply; methods such as `tools/call` are refused, because `call()` asks for approval.
   *
   * @param server - The name of the server.
   * @param method - The method.
   * @param params - Its params.
   * @param options - Signal, timeout, progress.
   * @returns The result of the response.
   * @throws PlugboardError `UNKNOWN_SERVER`, `USAGE` for a method that has a function of its own, `PROTOCOL_ERROR` with the error of the server.
   * @example
   * const { answer } = await host.request('mine', 'mine/ask', { question: 'why' });
   */
  async request(
    server: string,
    method: string,
    params: Readonly<Record<string, unknown>> = {},
    options: ContentOptions & Pick<CallOptions, 'onProgress'> = {},
  ): Promise<Readonly<Record<string, unknown>>> {
    this.#servers.get(server);
    return this.#own.request(server, method, params, options);
  }

  /**
   * Sends a notification of a method that the host has no function for, like `request`. Resolves when it is sent:
   * notifications have no response.
   *
   * @param server - The name of the server.
   * @param method - The method.
   * @param params - Its params.
   * @param options - Signal.
   * @throws PlugboardError `UNKNOWN_SERVER`.
   * @example
   * await host.notify('mine', 'notifications/mine/seen', { id: 7 });
   */
  async notify(
    server: string,
    method: string,
    params: Readonly<Record<string, unknown>> = {},
    options: Pick<ContentOptions, 'signal'> = {},
  ): Promise<void> {
    this.#servers.get(server);
    return this.#own.notify(server, method, params, options);
  }

  /**
   * Opens a session over the same servers, with its own loaded tools, session approvals, roots and questions.
   *
   * @param options - Approvals, questions, roots and tools of the session.
   * @throws PlugboardError `CONFIG_INVALID` for an invalid option, `CANCELLED` if the host is closed.
   * @example
   * const session = host.session({ approve: () => 'deny' });
   * session.tools();
   */
  session(options: SessionOptions = {}): HostSession {
    this.#core.checkOpen();
    // The gateway's own options are right, and stateless clients open a session for each request.
    if (options.gateway !== true) checkHostOptions(options, 'host.session');
    return new HostSession(this.#core, this.#core.openSession(options));
  }

  /**
   * Replaces the roots of this host, and notifies the servers that support roots. A host that was created without
   * `roots` declares them from now on; legacy servers are reconnected for that.
   *
   * @param roots - Folders, or a function that returns them.
   * @throws PlugboardError `CONFIG_INVALID` for an invalid root.
   * @example
   * await host.setRoots([{ uri: 'file:///home/ada/app' }]);
   */
  async setRoots(roots: NonNullable<HostOptions['roots']>): Promise<void> {
    checkHostOptions({ roots }, 'host.setRoots');
    await this.#core.setRoots(roots);
  }

  /**
   * Returns the tools that match a description, best first.
   *
   * @param query - Words, or a sentence.
   * @param options - `limit`: how many tools.
   */
  search(query: string, options: { readonly limit?: number } = {}): Promise<readonly SearchResult[]> {
    return this.#own.search(query, options);
  }

  /** Returns the instructions of servers for the model's system prompt. */
  instructions(): string {
    return this.#own.instructions();
  }

  // Resources and prompts.

  /**
   * Lists the resources of all connected or idle servers, or of one.
   *
   * @param server - The name of one server.
   * @throws PlugboardError `UNKNOWN_SERVER`.
   */
  async resources(server?: string): Promise<ResourceListing> {
    return this.#core.content.resources(this.#listed(server));
  }

  /**
   * Reads a resource: text, or bytes as base64.
   *
   * @param server - The name of the server.
   * @param uri - The address of the resource.
   * @param options - Signal.
   * @throws PlugboardError `UNKNOWN_SERVER`, `DENIED`, or the error of the server.
   */
  async read(server: string, uri: string, options?: ContentOptions): Promise<ReadResult> {
    this.#servers.get(server);
    return this.#own.read(server, uri, options);
  }

  /**
   * Calls `listener` whenever the server reports that the resource changed, also after a reconnect; changes while the
   * server was disconnected are not reported.
   *
   * @param server - The name of the server.
   * @param uri - The address of the resource.
   * @param listener - Called after each change.
   * @returns A function that ends the subscription.
   * @throws PlugboardError `UNKNOWN_SERVER`, `DENIED`.
   */
  async subscribe(server: string, uri: string, listener: ResourceListener): Promise<Unsubscribe> {
    const connection = this.#servers.get(server);
    await this.#approve({ server, kind: 'resource', name: uri });
    return this.#core.content.subscribe(this.#used(connection), uri, listener);
  }

  /**
   * Lists the prompts of all servers, or of one, with the commands that people type for them.
   *
   * @param server - The name of one server.
   * @throws PlugboardError `UNKNOWN_SERVER`.
   */
  async prompts(server?: string): Promise<readonly ListedPrompt[]> {
    return this.#core.content.prompts(this.#listed(server));
  }

  /**
   * Returns the messages of a prompt.
   *
   * @param server - The name of the server.
   * @param name - The name of the prompt.
   * @param args - Its arguments.
   * @param options - Signal.
   * @throws PlugboardError `UNKNOWN_SERVER`, `DENIED`, or the error of the server.
   */
  async prompt(
    server: string,
    name: string,
    args: PromptArguments = {},
    options?: ContentOptions,
  ): Promise<PromptResult> {
    this.#servers.get(server);
    return this.#own.prompt(server, name, args, options);
  }

  /**
   * Converts typed text to messages: `@server:uri` is attached, `/mcp__server__prompt one "two words"` is replaced by
   * the prompt's messages. `\@` stays an `@`; unresolved mentions stay in the text and are reported.
   *
   * @param text - Text as a person typed it.
   * @param options - Signal.
   * @example
   * const { messages, unknown } = await host.expand('summarise @docs:file:///a.md');
   */
  async expand(text: string, options?: ContentOptions): Promise<Expansion> {
    return this.#own.expand(givenText('text', text), options);
  }

  /**
   * Returns suggestions for an argument of a prompt or of a resource template.
   *
   * @param ref - The prompt or the template.
   * @param argument - The argument and the text typed so far.
   * @param options - Signal, and values of other arguments.
   * @throws PlugboardError `UNKNOWN_SERVER`, `INVALID_ARGUMENTS`.
   */
  async complete(
    ref: CompletionRef,
    argument: { readonly name: string; readonly value: string },
    options?: CompletionOptions,
  ): Promise<Completion> {
    checkRef(ref);
    const connection = this.#servers.get(ref.server);
    const content =
      ref.type === 'ref/prompt'
        ? ({ kind: 'prompt', name: ref.name } as const)
        : ({ kind: 'resource', name: ref.uri } as const);
    await this.#approve({ server: ref.server, ...content, mayAsk: false });
    return this.#core.content.complete(this.#used(connection), ref, argument, options);
  }

  /** Returns the current use of the budgets of the configuration, which all sessions share. */
  budgets(): readonly BudgetUse[] {
    return this.#own.budgets();
  }

  // Servers.

  /** Returns every server with its state. */
  servers(): readonly ServerReport[] {
    return this.#core.pool.all().map((connection) => this.#core.report(connection));
  }

  /**
   * Returns one server with the location and content of its entry, without secrets.
   *
   * @param name - The name of the server.
   * @throws PlugboardError `UNKNOWN_SERVER`.
   */
  async describe(name: string): Promise<ServerReport & ServerOrigin> {
    const connection = this.#servers.get(name);
    const { originOf } = await import('./host-configure.ts');
    const origin = await originOf(this.#core, connection.spec);
    return { ...this.#core.report(connection), ...origin };
  }

  /** Whether a tool, by its server's own name or its full name, is held back because it changed since it was pinned. */
  isHeld(server: string, tool: string): boolean {
    const { catalog } = this.#core;
    if (catalog.listing(server)?.held?.some(({ name }) => name === tool) === true) return true;
    return catalog.snapshot.findHeld(tool)?.server === server;
  }

  /**
   * Compiles the check of a tool's arguments ahead of its call, if the tool is known.
   *
   * @internal
   */
  prepareCall(server: string, tool: string): void {
    const { catalog, calls } = this.#core;
    const known = catalog.snapshot.tools.find((each) => each.server === server && each.tool === tool);
    if (known === undefined) return;
    void calls.argumentChecker().then((checker) => checker.checkFor(known.inputSchema));
  }

  /**
   * Returns a connected server's description of itself: name and version, instructions, capabilities.
   *
   * @param name - The name of the server.
   * @throws PlugboardError `UNKNOWN_SERVER`.
   */
  details(name: string): ServerDetails {
    return detailsOf(this.#core, this.#servers.get(name));
  }

  /**
   * Returns every tool of a server for inspection: also held-back or hidden ones, with the reason.
   *
   * @param name - The name of the server.
   * @throws PlugboardError `UNKNOWN_SERVER`.
   */
  inspect(name: string): readonly InspectedTool[] {
    return inspectTools(this.#core, this.#servers.get(name));
  }

  /** Returns the items of a server that are held back because they are new or have changed, with the differences. */
  async heldBack(name: string): Promise<HeldBack> {
    const { spec } = this.#servers.get(name);
    const { heldBackOf } = await import('./host-configure.ts');
    await this.#servers.reviewPins();
    return heldBackOf(this.#core.home, spec);
  }

  /** Accepts the items that `heldBack` returned, by its digest; rejects if the server has changed since then. */
  async acceptHeldBack(name: string, digest: string): Promise<HeldBack> {
    const { spec } = this.#servers.get(name);
    const { acceptHeldBack } = await import('./host-configure.ts');
    await this.#servers.reviewPins();
    const accepted = await acceptHeldBack(this.#core.home, spec, digest);
    await this.#servers.reviewPins();
    return accepted;
  }

  /** Returns the problems in the configuration files, with their locations. */
  problems(): readonly Problem[] {
    return this.#core.config.problems;
  }

  /**
   * Returns the steps of a server's last start, with their times.
   *
   * @param name - The name of the server.
   * @throws PlugboardError `UNKNOWN_SERVER`.
   */
  phases(name: string): readonly Phase[] {
    return this.#servers.get(name).phases;
  }

  /**
   * Scans the definitions of a server's tools for signs of an attack, including hidden text and held-back tools. The
   * findings are advisory.
   *
   * @param name - The name of the server.
   * @throws PlugboardError `UNKNOWN_SERVER`.
   */
  async scan(name: string): Promise<readonly Finding[]> {
    this.#servers.get(name);
    const { scanListing } = await import('../policy/scan.ts');
    // Uses the server's original text: the removed characters are what must be reported.
    const { tools = [], held = [] } = this.#core.catalog.listing(name) ?? {};
    return scanListing([...tools, ...held].map(({ name: tool, ...rest }) => ({ tool, ...rest })));
  }

  /**
   * Adds or replaces a server until this host closes; resolves when it has settled.
   *
   * @param name - The name of the server.
   * @param entry - Its entry.
   * @throws PlugboardError `CONFIG_INVALID` for an invalid entry.
   */
  async add(name: string, entry: GivenEntry): Promise<ServerReport> {
    return this.#core.report(await this.#servers.add(name, entry));
  }

  /**
   * Writes a server to a configuration file and reloads; an entry in a project's file still needs consent.
   *
   * @param name - The name of the server.
   * @param entry - Its entry.
   * @param options - The scope, and whether an entry is replaced.
   * @throws PlugboardError `CONFIG_INVALID`, `CONFIG_UNWRITABLE`.
   */
  async save(name: string, entry: GivenEntry, options: SaveOptions = {}): Promise<void> {
    const { saveGiven } = await import('./host-configure.ts');
    await saveGiven(this.#core, name, entry, options);
    await this.#servers.reload();
  }

  /**
   * Approves an entry that was saved as `unapproved`, and reloads. For a person only: `digest` is that of the entry
   * they were shown, from `describe`.
   *
   * @param name - The name of the server.
   * @param digest - The digest of the entry that the person was shown.
   * @throws PlugboardError `UNKNOWN_SERVER`.
   */
  async approve(name: string, digest: string): Promise<void> {
    const { spec } = this.#servers.get(name);
    const { approveEntry } = await import('./host-configure.ts');
    await approveEntry(this.#core, spec, digest);
    await this.#servers.reload();
  }

  /**
   * Removes a server from its configuration file, and reloads.
   *
   * @param name - The name of the server.
   * @param options - The scope, if several have the name.
   * @returns The file that was changed.
   * @throws PlugboardError `UNKNOWN_SERVER`, `CONFIG_UNWRITABLE`.
   */
  async erase(
    name: string,
    options: Pick<SaveOptions, 'scope' | 'signal'> = {},
  ): Promise<{ readonly scope: EditableScope; readonly file: string }> {
    const { eraseEntry } = await import('./host-configure.ts');
    const erased = await eraseEntry(this.#core, name, options);
    await this.#servers.reload();
    return erased;
  }

  /**
   * Starts a server; rejects with the reason if it fails. Without a name: begins to start the servers that `connect:
   * 'none'` skipped, by their lifecycles, and `ready()` waits for them.
   *
   * @param name - The name of the server.
   * @throws PlugboardError `UNKNOWN_SERVER`, or the reason why the server cannot be started.
   */
  async connect(name?: string): Promise<void> {
    await (name === undefined ? this.#servers.startIdleTimer() : this.#servers.get(name).connect());
  }

  /**
   * Stops a server; its tools are unavailable until `connect`.
   *
   * @param name - The name of the server.
   * @throws PlugboardError `UNKNOWN_SERVER`.
   */
  async disconnect(name: string): Promise<void> {
    await this.#servers.get(name).disconnect();
  }

  /**
   * Restarts a server, or starts it if it is not running; rejects with the reason if it fails.
   *
   * @param name - The name of the server.
   * @throws PlugboardError `UNKNOWN_SERVER`, or the reason why the server cannot be started.
   */
  async reconnect(name: string): Promise<void> {
    const connection = this.#servers.get(name);
    await connection.reconnect();
    // A server that was not running is started, or rejected with its reason.
    await connection.connect();
  }

  /**
   * Logs in to a remote server. With `redirectUrl`, for programs whose user has a browser on another machine: resolves
   * to the address to send that browser to, and `finishLogin`, also in another process with the same `credentials`, is
   * called with the parameters that come back to `redirectUrl`. Without it, uses a browser of this machine; running
   * hosts of this machine notice the login.
   *
   * @param name - The name of the server.
   * @param options - `redirectUrl`, or how the browser is opened.
   * @throws PlugboardError `UNKNOWN_SERVER`, `AUTH_FAILED`, `NEEDS_CLIENT_REGISTRATION`.
   * @example
   * const { authorizationUrl } = await host.login('docs', { redirectUrl: 'https://app.example/callback' });
   */
  login(name: string, options: RedirectLogin): Promise<BegunLogin>;
  login(name: string, options?: LoginOptions): Promise<void>;
  // biome-ignore lint/suspicious/noConfusingVoidType: one of the two forms resolves to nothing.
  async login(name: string, options: LoginOptions | RedirectLogin = {}): Promise<BegunLogin | void> {
    const auth = await this.#auth(name);
    const login =
      'redirectUrl' in options && options.redirectUrl !== undefined
        ? auth.beginLogin({ redirectUri: redirectTo(options.redirectUrl), signal: options.signal })
        : auth.login(options);
    return login.catch(async (error: unknown) => {
      // From now on the server's state reports the missing registration instead of a missing login.
      if (asPlugboardError(error).code === 'NEEDS_CLIENT_REGISTRATION')
        await this.#servers
          .get(name)
          .reconnect()
          .catch(() => {});
      throw error;
    });
  }

  /**
   * Finishes a pending login, started in this process or another, with the parameters that came back through the
   * browser.
   *
   * @param name - The name of the server.
   * @param answer - The parameters of the redirect.
   * @param signal - Cancels it.
   * @throws PlugboardError `UNKNOWN_SERVER`, `AUTH_FAILED`.
   * @example
   * await host.finishLogin('docs', new URL(request.url, 'https://app.example').searchParams);
   */
  async finishLogin(
    name: string,
    answer: LoginAnswer | URLSearchParams,
    signal?: AbortSignal,
  ): Promise<void> {
    const auth = await this.#auth(name);
    await auth.finishLogin(answer, signal);
  }

  /**
   * Deletes the login of a remote server; false if there was none.
   *
   * @param name - The name of the server.
   * @throws PlugboardError `UNKNOWN_SERVER`.
   */
  async logout(name: string): Promise<boolean> {
    const auth = await this.#auth(name, { forgetting: true });
    return auth.logout();
  }

  /** Returns where the credentials of a server come from. */
  async credentialPlace(name: string): Promise<'keyring' | 'file' | 'store' | 'env' | 'none'> {
    const { spec } = this.#servers.get(name);
    return isRemote(spec.entry) ? (await this.#auth(name)).credentialPlace() : 'none';
  }

  /**
   * Removes a server from this host; files are not changed.
   *
   * @param name - The name of the server.
   * @throws PlugboardError `UNKNOWN_SERVER`.
   */
  remove(name: string): Promise<void> {
    return this.#servers.remove(name);
  }

  /** Rereads the configuration; only servers that changed are restarted, and awaited unless `settle` is false. */
  reload(config?: LoadedConfig, options: { readonly settle?: boolean | undefined } = {}): Promise<void> {
    return this.#servers.reload(config, options);
  }

  /**
   * Connects a server, or rereads its tools; rejects with the reason if it fails to start.
   *
   * @param name - The name of the server.
   * @throws PlugboardError `UNKNOWN_SERVER`, or the reason why the server cannot be started.
   */
  refresh(name: string): Promise<void> {
    return this.#servers.refresh(name);
  }

  /** Sends the agent's current sandbox permissions to servers that declared support for it. */
  async setSandboxState(state: unknown): Promise<void> {
    this.#core.sandboxState = state;
    await Promise.all(this.#core.pool.all().map((connection) => connection.pushSandboxState()));
  }

  /**
   * Reports something, about a server if one is named, as a `log` event of level `warning`, once.
   *
   * @internal
   */
  report(server: string | undefined, message: string): void {
    this.#core.warnOnce(server, message);
  }

  /**
   * Adds a listener for an event; the returned function removes it.
   *
   * @param event - The name of the event.
   * @param listener - Called with the event.
   * @throws PlugboardError `USAGE` for an unknown event.
   */
  on<Name extends keyof HostEvents>(event: Name, listener: (event: HostEvents[Name]) => void): Unsubscribe {
    checkEvent(event, listener);
    return this.#core.events.on(event, listener);
  }

  // Lifecycle.

  /**
   * Waits until every server has settled; rejects if a `required` one failed to start. Resolves with the states.
   *
   * @returns The connected servers, and those that failed with their reasons.
   * @throws PlugboardError `REQUIRED_FAILED` if a `required` server failed.
   */
  async ready(): Promise<Readiness> {
    await this.#servers.ready();
    const servers = this.servers();
    return {
      connected: servers.filter(({ status }) => status === 'connected').map(({ name }) => name),
      failed: servers.filter((server): server is FailedServer => server.error !== undefined),
    };
  }

  /**
   * Like `ready()`, for `required` servers only; with `unknown`, only those whose tools are unknown.
   *
   * @internal
   */
  requiredReady(which: 'all' | 'unknown', among?: (server: string) => boolean): Promise<void> {
    return this.#servers.requiredReady(which, among);
  }

  /**
   * Whether any server is `required`.
   *
   * @internal
   */
  hasRequired(among?: (server: string) => boolean): boolean {
    return this.#servers.hasRequired(among);
  }

  /** Stops every server and waits until all of them have exited. May be called twice. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  /** Calls `close()`, for `await using`. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  // Private members.

  async #close(): Promise<void> {
    this.#servers.stop();
    await this.#core.close();
    await this.#servers.settled;
    this.#core.events.clear();
    await this.#core.options.closed?.();
  }

  /** Returns the one server whose content is listed; a list of all omits servers that a rule denies. */
  #listed(name: string | undefined): Connection | undefined {
    if (name === undefined) return undefined;
    const connection = this.#servers.get(name);
    const denial = this.#core.approvals.contentDenial(name);
    if (denial !== undefined) throw denial;
    return connection;
  }

  /** Returns the process of a server that this host itself uses. */
  #used(connection: Connection): Connection {
    return this.#core.work.of(connection, this.#core.session);
  }

  #approve(content: Omit<ContentAction, 'mayAsk'> & { readonly mayAsk?: boolean }): Promise<void> {
    return this.#core.approvals.approveContent(this.#core.session, { mayAsk: true, ...content });
  }

  async #auth(name: string, options: { readonly forgetting?: boolean } = {}): Promise<ServerAuth> {
    const { spec, state } = this.#servers.get(name);
    // A blocked or unapproved server must not be contacted for a login.
    if (state.status === 'blocked' || state.status === 'untrusted') throw state.error;
    try {
      return await this.#core.auth.of(
        spec,
        await this.#core.inputs.expand(spec, { ask: !options.forgetting }),
      );
    } catch (thrown) {
      // A login is found by its address: other missing values of the entry must not prevent a logout.
      if (!options.forgetting || !isRemote(spec.entry)) throw thrown;
      const { url, oauth } = spec.entry;
      const bare = { ...spec, entry: { url, ...(oauth === undefined ? {} : { oauth }) } };
      return this.#core.auth.of(bare, await this.#core.inputs.expand(bare, { ask: false }));
    }
  }
}

function redirectTo(value: string | URL): string {
  const url = URL.canParse(String(value)) ? new URL(value) : undefined;
  const isAllowed = url?.protocol === 'https:' || (url?.protocol === 'http:' && isLocalName(url.hostname));
  if (isAllowed && url !== undefined && url.hash === '') return String(value);
  throw new PlugboardError('USAGE', 'The redirectUrl is not an https address, or has a fragment', {
    hint: 'Give the whole address of your callback route; http is allowed on localhost only.',
  });
}

function isLocalName(hostname: string): boolean {
  return ['localhost', '127.0.0.1', '[::1]'].includes(hostname);
}

/** Rejects an invalid reference here: the server would report it as a schema error of its own. */
function checkRef(ref: CompletionRef): void {
  const isPrompt = ref?.type === 'ref/prompt' && typeof ref.name === 'string';
  const isResource = ref?.type === 'ref/resource' && typeof ref.uri === 'string';
  if (isPrompt || isResource) return;
  throw new PlugboardError('INVALID_ARGUMENTS', 'The reference is neither to a prompt nor to a resource', {
    hint: "Give { type: 'ref/prompt', server, name } or { type: 'ref/resource', server, uri }.",
  });
}
