/** What the stages of a call need from the host, and the pipeline made of them. */

import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { absenceOf, ownerOf, possibleOwnersOf } from '../call/absent-server.ts';
import type { ArgumentChecker } from '../call/argument-check.ts';
import { type AuditLog, createAuditLog } from '../call/audit-log.ts';
import type { CallTasks } from '../call/become-task.ts';
import type { Call, CallContext, Handler } from '../call/call.ts';
import { collect } from '../call/call-tasks.ts';
import { createOutputFiles, type OutputFiles } from '../call/output-files.ts';
import { createPipeline } from '../call/pipeline.ts';
import { ResultStore } from '../call/result-store.ts';
import type { Session } from '../call/session.ts';
import type { Telemetry } from '../call/telemetry.ts';
import { type CodeModeSettings, isRemote } from '../config/entry.ts';
import { maxOutputTokens } from '../config/limits.ts';
import type { Connection } from '../connection/connection.ts';
import { canonicalJson } from '../lib/canonical-json.ts';
import { LinkedList } from '../lib/linked-list.ts';
import { quickHash } from '../lib/quick-hash.ts';
import type { Programs } from '../programs/program-runner.ts';
import type { RunningTasks } from '../tasks/running-tasks.ts';
import type { TaskRecord } from '../tasks/task-record.ts';
import type { HostCore } from './host-core.ts';
import { createResourceAccess } from './host-resource-tools.ts';
import { mayUse } from './may-use.ts';

/** Commands that list tools have ended by then, and models have not answered. */
const WARM_MS = 200;

export interface HostCalls extends CallContext {
  readonly pipeline: Handler;
  nextId(): string;
  /** Prepares for the first program, soon after a model was given `run`. */
  expectPrograms(settings: CodeModeSettings): void;
  /** Collects the results of tasks that an earlier host with this home started and did not finish. */
  collectTasks(): void;
  /** Continues a task that no process runs, if this host has its server. */
  adoptTask(task: TaskRecord): void;
  /** True while a call of this host is a task. */
  readonly isBusy: boolean;
  /** Waits for tasks that are being collected. The host has closed its servers before. */
  settled(): Promise<void>;
  flush(): Promise<void>;
}

export function createHostCalls(core: HostCore, telemetry: Telemetry | undefined): HostCalls {
  const { catalog, searchUsage, work, closing, pool } = core;
  const [tasks, audit] = [new HostCallTasks(core), openAuditLog(core)];
  let made = 0;
  let collecting: Promise<void> = Promise.resolve();
  let checker: Promise<ArgumentChecker> | undefined;
  let programs: Programs | undefined;
  let isExpected = false;
  let selecting: ReturnType<CallContext['select']> | undefined;
  const files = outputFiles(core);
  const context: CallContext = {
    clock: core.clock,
    catalog,
    deferral: core.deferral,
    search: core.search,
    searchUsage,
    gatewayNaming: core.gatewayNaming,
    resources: createResourceAccess(core),
    work,
    questions: core.questions,
    openQuestions: core.openQuestions,
    approvals: core.approvals,
    budgets: core.budgets,
    tasks,
    results: new ResultStore(files, core.clock),
    codeMode: (session) => core.codeModeFor(session),
    programs: async () => (await loadPrograms()).handle,
    select() {
      selecting ??= import('../lib/jmespath/jmespath-select.ts').then(({ parseSelect }) => parseSelect);
      return selecting;
    },
    output: {
      files,
      maxTokens: maxOutputTokens(core.env),
      model: core.options.model ?? {},
    },
    started: core,
    events: core.events,
    hidden: core.hidden,
    audit,
    recorders: core.recorders,
    running: new LinkedList<Call>(),
    telemetry,
    closing,
    settings: () => core.config.settings,
    sandboxState: () => core.sandboxState,
    log: (server, level, message, session) => core.log(server, level, message, session),
    argumentChecker() {
      checker ??= import('../call/argument-check.ts').then(({ createArgumentChecker }) =>
        createArgumentChecker(),
      );
      return checker;
    },
    connection: (server, session) => work.of(pool.get(server), session),
    absenceOf(name, session) {
      const unknown = pool
        .all()
        .filter(({ name: server }) => !core.isKnown(server) && mayUse(session, server, name));
      return absenceOf(name, catalog.naming, unknown);
    },
    relist: (name, session) => relist(core, name, session),
  };
  const adopt = async (task: TaskRecord): Promise<void> => {
    const connection = pool.get(task.server);
    const isSame = tasks.isKept(task.server) && tasks.entryOf(task.server) === task.entry;
    if (connection !== undefined && isSame) await collect(context, task, connection);
  };
  const pipeline = createPipeline(context);
  const nextId = (): string => {
    made += 1;
    return `${core.idPrefix}c${made}`;
  };
  const loadPrograms = async (): Promise<Programs> => {
    const { Programs: LoadedPrograms } = await import('../programs/program-runner.ts');
    programs ??= new LoadedPrograms({
      context,
      home: core.home,
      pipeline,
      nextId,
      on: (event, listener) => core.events.on(event, listener),
      approveOwn: (session, action) => core.approvals.approveOwn(session, action),
    });
    return programs;
  };
  const collectAll = async (): Promise<void> => {
    if (closing.aborted || !tasks.mayExist) return;
    const { table } = await tasks.running();
    await Promise.all((await table.orphans()).map(adopt));
  };
  return {
    ...context,
    pipeline,
    nextId,
    expectPrograms(settings) {
      if (isExpected) return;
      isExpected = true;
      core.clock.after(WARM_MS, () => {
        // A failure is reported to the program that needs it.
        if (!closing.aborted)
          loadPrograms().then(
            (loaded) => loaded.warm(settings),
            () => {},
          );
      });
    },
    collectTasks() {
      collecting = collectAll().catch((error: unknown) => {
        core.log(undefined, 'warning', `Tasks of an earlier host: ${String(error)}`);
      });
    },
    adoptTask(task) {
      const adopting = adopt(task).catch(() => {});
      collecting = Promise.all([collecting, adopting]).then(() => {});
    },
    get isBusy() {
      return tasks.isBusy;
    },
    settled: () => Promise.all([collecting, programs?.close()]).then(() => {}),
    async flush() {
      await Promise.all([audit?.flush(), searchUsage?.flush(), tasks.flush()]);
    },
  };
}

/**
 * Rereads the list of the server that an unknown tool's name begins with, if the tool may exist after all; connects
 * the server first if it is idle, or if its credentials changed since it refused them. Undefined if there is
 * nothing to reread.
 */
function relist(core: HostCore, name: string, session: Session): Promise<void> | undefined {
  const { naming } = core.catalog;
  const connections = core.pool.all();
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
        return core.isKnown(owner.name) ? [] : [connectIfChanged(core, owner)];
      default:
        return [];
    }
  });
  return relisting.length === 0 ? undefined : Promise.all(relisting).then(() => {});
}

/** Reconnects a server that refused us if its credentials changed: another process may have logged in. */
async function connectIfChanged({ inputs, auth }: HostCore, connection: Connection): Promise<void> {
  const { spec } = connection;
  const entry = await inputs.expand(spec, { ask: false });
  if (!isRemote(entry)) return;
  const hasOther = entry.headersFrom !== undefined || (await (await auth.of(spec, entry)).hasOtherLogin());
  if (hasOther) await connection.connect().catch(() => {});
}

/** The tasks of a host. Their code is loaded when the first call becomes one, or if the home has any. */
class HostCallTasks implements CallTasks {
  readonly #core: HostCore;
  #loading: Promise<RunningTasks> | undefined;
  #loaded: RunningTasks | undefined;

  constructor(core: HostCore) {
    this.#core = core;
  }

  /** False if the home has no tasks of any process. */
  get mayExist(): boolean {
    return this.#loading !== undefined || existsSync(join(this.#core.home.dir, 'tasks'));
  }

  get isBusy(): boolean {
    return this.#loaded?.isBusy === true;
  }

  running(): Promise<RunningTasks> {
    this.#loading ??= import('./host-tasks.ts').then(({ openTasks }) => {
      this.#loaded = openTasks(this.#core);
      return this.#loaded;
    });
    return this.#loading;
  }

  isKept(server: string): boolean {
    const { pool, transports } = this.#core;
    const spec = pool.get(server)?.spec;
    return spec !== undefined && !transports.keepsNothingOf(spec);
  }

  entryOf(server: string): string {
    const { raw, baseDir } = this.#core.pool.get(server)?.spec ?? {};
    return quickHash(canonicalJson([raw ?? {}, baseDir ?? '']));
  }

  async flush(): Promise<void> {
    await this.#loaded?.flush();
  }
}

function openAuditLog(core: HostCore): AuditLog | undefined {
  const { home, clock } = core;
  if (home.isNone) return undefined;
  return createAuditLog({
    file: home.audit,
    lockDir: join(home.run, 'locks'),
    clock,
    failed: (message) => core.log(undefined, 'error', message),
  });
}

function outputFiles({ options, home, clock }: HostCore): OutputFiles {
  const { outputs, cwd = process.cwd() } = options;
  if (outputs !== undefined) return createOutputFiles(resolve(cwd, outputs), clock);
  return home.isNone ? { save: () => Promise.resolve('') } : createOutputFiles(home.outputs, clock);
}
