/** What the stages of a call need from the host, and the pipeline made of them. */

import { join, resolve } from 'node:path';
import { absenceOf, ownerOf, possibleOwnersOf } from '../call/absent-server.ts';
import type { ArgumentChecker } from '../call/argument-check.ts';
import { type AuditLog, createAuditLog } from '../call/audit-log.ts';
import type { Approvals, CallContext, Handler, OutputContext, ResourceAccess } from '../call/call.ts';
import { collect } from '../call/call-tasks.ts';
import { createOutputFiles, type OutputFiles } from '../call/output-files.ts';
import { createPipeline } from '../call/pipeline.ts';
import type { Session } from '../call/session.ts';
import type { Questions } from '../call/session-questions.ts';
import type { SessionWork } from '../call/session-work.ts';
import type { Telemetry } from '../call/telemetry.ts';
import type { Catalog } from '../catalog/catalog.ts';
import type { Deferral } from '../catalog/deferral.ts';
import type { SearchUsage } from '../catalog/search-usage.ts';
import type { Search } from '../catalog/search-view.ts';
import { type NameForm, serverNames } from '../catalog/tool-names.ts';
import { isRemote, type Settings } from '../config/entry.ts';
import { maxOutputTokens } from '../config/limits.ts';
import type { Connection } from '../connection/connection.ts';
import type { LogLevel } from '../connection/log-levels.ts';
import type { OpenQuestions } from '../connection/open-questions.ts';
import { type KeptTasks, openKeptTasks } from '../connection/tasks-kept.ts';
import type { PlugboardError } from '../errors.ts';
import type { Clock } from '../lib/clock.ts';
import type { Emitter } from '../lib/emitter.ts';
import type { HiddenReport } from '../policy/once-report.ts';
import type { HostCore } from './host-core.ts';
import type { HostEvents } from './host-options.ts';
import { createResourceAccess } from './host-resource-tools.ts';

export class HostCalls implements CallContext {
  readonly clock: Clock;
  readonly catalog: Catalog;
  readonly deferral: () => Deferral;
  readonly search: Search;
  readonly searchUsage: SearchUsage | undefined;
  readonly gatewayNaming: NameForm;
  readonly resources: ResourceAccess;
  readonly work: SessionWork;
  readonly questions: Questions;
  readonly openQuestions: OpenQuestions;
  readonly approvals: Approvals;
  readonly tasks: KeptTasks;
  readonly output: OutputContext;
  readonly events: Emitter<HostEvents>;
  readonly hidden: HiddenReport;
  readonly audit: AuditLog;
  readonly telemetry: Telemetry | undefined;
  readonly closing: AbortSignal;
  readonly pipeline: Handler;
  readonly #core: HostCore;
  #made = 0;
  #collecting: Promise<void> = Promise.resolve();
  #checker: Promise<ArgumentChecker> | undefined;

  constructor(core: HostCore, telemetry: Telemetry | undefined) {
    this.#core = core;
    this.clock = core.clock;
    this.catalog = core.catalog;
    this.deferral = core.deferral;
    this.search = core.search;
    this.searchUsage = core.searchUsage;
    this.gatewayNaming = core.gatewayNaming;
    this.resources = createResourceAccess(core);
    this.work = core.work;
    this.questions = core.questions;
    this.openQuestions = core.openQuestions;
    this.approvals = core.approvals;
    this.tasks = this.#openTasks();
    this.output = {
      files: this.#outputFiles(),
      maxTokens: maxOutputTokens(core.env),
      model: core.options.model ?? {},
    };
    this.events = core.events;
    this.hidden = core.hidden;
    this.audit = this.#openAuditLog();
    this.telemetry = telemetry;
    this.closing = core.closing;
    this.pipeline = createPipeline(this);
  }

  nextId(): string {
    this.#made += 1;
    return `${this.#core.idPrefix}c${this.#made}`;
  }

  settings(): Settings {
    return this.#core.config.settings;
  }

  sandboxState(): unknown {
    return this.#core.sandboxState;
  }

  log(server: string, level: LogLevel, message: string, session?: string): void {
    this.#core.log(server, level, message, session);
  }

  /** Loads the argument validator once. */
  argumentChecker(): Promise<ArgumentChecker> {
    this.#checker ??= import('../call/argument-check.ts').then(({ createArgumentChecker }) =>
      createArgumentChecker(),
    );
    return this.#checker;
  }

  connection(server: string, session: Session): Connection | undefined {
    return this.work.of(this.#core.pool.get(server), session);
  }

  absenceOf(name: string): PlugboardError | undefined {
    const unknown = this.#core.pool.all().filter((connection) => !this.#core.isKnown(connection.name));
    return absenceOf(name, this.catalog.naming, unknown);
  }

  /**
   * Rereads the list of the server that an unknown tool's name begins with, if the tool may exist after all; connects
   * the server first if it is idle, or if its credentials changed since it refused them. Undefined if there is
   * nothing to reread.
   */
  relist(name: string, session: Session): Promise<void> | undefined {
    const { naming } = this.catalog;
    const connections = this.#core.pool.all();
    const named = ownerOf(name, naming, connections);
    const relisting = possibleOwnersOf(name, naming, connections).flatMap((owner) => {
      if (!mayUse(session, owner.name, name)) return [];
      if (owner.live?.mayHaveMore === true) return [owner.reread()];
      // If the name does not identify its server, every server would be started.
      if (owner !== named) return [];
      switch (owner.state.status) {
        case 'idle':
        case 'connecting':
          return [owner.connect().catch(() => {})];
        case 'needs_auth':
        case 'needs_client_registration':
          return this.#core.isKnown(owner.name) ? [] : [this.#connectIfChanged(owner)];
        default:
          return [];
      }
    });
    return relisting.length === 0 ? undefined : Promise.all(relisting).then(() => {});
  }

  /** Reconnects a server that refused us if its credentials changed: another process may have logged in. */
  async #connectIfChanged(connection: Connection): Promise<void> {
    const { inputs, auth } = this.#core;
    const { spec } = connection;
    const entry = await inputs.expand(spec, { ask: false });
    if (!isRemote(entry)) return;
    const hasOther = entry.headersFrom !== undefined || (await (await auth.of(spec, entry)).hasOtherLogin());
    if (hasOther) await connection.connect().catch(() => {});
  }

  /** Collects the results of tasks that an earlier host with this home started and did not finish. */
  collectTasks(): void {
    this.#collecting = this.#collectTasks().catch((error: unknown) => {
      this.#core.log(undefined, 'warning', `Tasks of an earlier host: ${String(error)}`);
    });
  }

  async #collectTasks(): Promise<void> {
    if (this.closing.aborted) return;
    const claimed = await this.tasks.claim();
    await Promise.all(
      claimed.map(async (task) => {
        const connection = this.#core.pool.get(task.server);
        if (connection !== undefined) await collect(this, task, connection);
      }),
    );
  }

  /** Waits for tasks that are being collected. The host has closed its servers before. */
  async settled(): Promise<void> {
    await this.#collecting;
  }

  async flush(): Promise<void> {
    await Promise.all([this.audit.flush(), this.searchUsage?.flush(), this.tasks.release()]);
  }

  /** True for servers whose tasks are kept for later hosts. */
  #isKept(server: string): boolean {
    const spec = this.#core.pool.get(server)?.spec;
    return spec !== undefined && !this.#core.transports.keepsNothingOf(spec);
  }

  #openTasks(): KeptTasks {
    const { home, clock } = this.#core;
    return openKeptTasks({
      home,
      clock,
      isKept: (server) => this.#isKept(server),
      failed: (message) => {
        if (!home.isNone) this.#core.log(undefined, 'error', message);
      },
    });
  }

  #openAuditLog(): AuditLog {
    const { home, clock } = this.#core;
    if (home.isNone) return { record: () => {}, flush: () => Promise.resolve() };
    return createAuditLog({
      file: home.audit,
      lockDir: join(home.run, 'locks'),
      clock,
      failed: (message) => this.#core.log(undefined, 'error', message),
    });
  }

  #outputFiles(): OutputFiles {
    const { options, home, clock } = this.#core;
    const { outputs, cwd = process.cwd() } = options;
    if (outputs !== undefined) return createOutputFiles(resolve(cwd, outputs), clock);
    return home.isNone ? { save: () => Promise.resolve('') } : createOutputFiles(home.outputs, clock);
  }
}

/** Whether a session may use a tool of this name, when only the name is known. */
function mayUse({ offers }: Session, server: string, name: string): boolean {
  if (offers === undefined) return true;
  const short = name.replace(/^mcp__/, '');
  return offers(server, { long: [`mcp__${short}`], short: [short], server: serverNames(server) });
}
