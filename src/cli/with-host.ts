/** Opens a host for one command and always closes it, with every child process reaped. */

import { basename } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Approve } from '../call/session.ts';
import type { ServerSpec } from '../config/entry.ts';
import type { LoadedConfig } from '../config/load.ts';
import type { Questioned, Root } from '../connection/questions.ts';
import { allowsDaemon } from '../daemon/protocol/daemon-use.ts';
import type { HeadStart } from '../host/head-start.ts';
import type { Host } from '../host/host.ts';
import type { ServerReport } from '../host/host-report.ts';
import { joinArgv } from '../lib/argv.ts';
import { sentences } from '../lib/sentences.ts';
import { aborted } from '../lib/waits.ts';
import { oneLine } from '../policy/clean.ts';
import { loadEffective } from '../policy/effective.ts';
import { isUnapproved, needsConsent } from '../policy/needs-consent.ts';
import type { PinNews } from '../policy/pins-news.ts';
import { SERVED_SESSIONS } from '../serve/served-host.ts';
import { findServer } from '../setup/known-server.ts';
import type { Context } from './cli-command.ts';
import { trustDecisions } from './config-report.ts';
import type { Output } from './output.ts';
import { noteConcerning, noteProblems } from './problems.ts';
import { whileConnecting } from './progress-line.ts';
import { labelled } from './text-layout.ts';

export interface Need {
  /** Servers that are required, or all available ones. */
  readonly servers: 'all' | readonly string[];
  /** Servers to start at once; default: all. `unknown`: those whose tools are not cached. */
  readonly connect?: 'all' | 'none' | 'unknown' | undefined;
  /** Asks the person to approve a call. */
  readonly approve?: Approve | undefined;
  /** Shows an elicitation to the person; default: it is cancelled. */
  readonly elicit?: Questioned['elicit'];
  /** Whether `elicit` reaches a person; default: true. */
  readonly canBeAsked?: () => boolean;
  /** Cleans and truncates results as for a model; default: complete results. */
  readonly forModel?: boolean | undefined;
  /** Runs programs, with or without `codeMode` in the configuration; only in a host for this command alone. */
  readonly programs?: boolean | undefined;
  /** Work for the time in which the servers start. */
  readonly prepare?: ((host: CommandHost) => void) | undefined;
  /** True if the command's own output contains the configuration's problems; default: they are printed on stderr. */
  readonly tellsProblems?: boolean | undefined;
  /** `whole`: every problem of the configuration is printed; default: those that concern these servers. */
  readonly problems?: 'whole' | undefined;
}

/** The methods of a host that commands use. */
export type CommandHost = Pick<
  Host,
  | 'call'
  | 'close'
  | 'connect'
  | 'cost'
  | 'credentialPlace'
  | 'details'
  | 'find'
  | 'firstLists'
  | 'inspect'
  | 'isHeld'
  | 'login'
  | 'logout'
  | 'on'
  | 'phases'
  | 'prepareCall'
  | 'profiles'
  | 'prompt'
  | 'prompts'
  | 'read'
  | 'ready'
  | 'reconnect'
  | 'refresh'
  | 'requiredReady'
  | 'resources'
  | 'scan'
  | 'search'
  | 'servers'
  | 'session'
  | 'task'
  | 'tools'
>;

export interface Hosted {
  readonly host: CommandHost;
  readonly config: LoadedConfig;
}

/**
 * Runs `work` with its servers connected. Rejects if a named server is unavailable; with `all`, failed servers are
 * reported and the others are used.
 */
export async function withHost(
  context: Context,
  need: Need,
  work: (hosted: Hosted) => Promise<number>,
): Promise<number> {
  return openHost(context, need, async (hosted) => {
    const { host } = hosted;
    const { servers } = need;
    await whileConnecting(context.output, host, async () => {
      // After the first messages to the servers were written.
      setImmediate(() => need.prepare?.(host));
      if (servers === 'all') await host.ready();
      else await Promise.all(servers.map((name) => host.connect(name)));
    });
    if (servers === 'all') noteMissing(context, host);
    else noteWaiting(context, host, servers);
    return work(hosted);
  });
}

/** Like `withHost`, without waiting for servers: `work` decides which to connect. */
export async function openHost(
  context: Context,
  need: Need,
  work: (hosted: Hosted) => Promise<number>,
): Promise<number> {
  const { output, signal } = context;
  const read = context.config ?? (await loadEffective(context));
  if (need.problems === 'whole') noteProblems(read.problems, output);
  else if (need.tellsProblems !== true) noteConcerning(read.problems, need.servers, output);
  const refused = new Set<string>();
  let config = need.servers === 'all' ? read : await settleTrust(context, read, need.servers, refused);
  if (output.canAsk && need.connect !== 'none') {
    const { settleInputs } = await import('./settle-inputs.ts');
    const { servers } = need;
    const needed = config.servers.filter(({ name }) => servers === 'all' || servers.includes(name));
    await settleInputs(context, config, needed);
    // An input's answer may name a file of the project, and an approval covers named files.
    if (servers !== 'all') config = await settleTrust(context, config, servers, refused);
  }
  // Starts the daemon for later commands, which then find their servers running.
  if (config.settings.daemon === true && context.openHost === undefined) await startForLater(context);
  // A shared host may have servers that are not configured here; commands only use the configured ones.
  const servers = need.servers === 'all' ? config.servers.map(({ name }) => name) : need.servers;
  const host = await (context.openHost?.({ ...need, servers }) ?? ownHost(context, config, need));
  const stopLog = context.verbose ? logTo(context, host) : undefined;
  try {
    const status = await Promise.race([work({ host, config }), aborted(signal)]);
    await reportPinNews(
      context,
      config.servers.filter(({ name }) => servers.includes(name)),
    );
    return status;
  } finally {
    await host.close();
    stopLog?.();
  }
}

async function startForLater({ home, env }: Context): Promise<void> {
  if (!allowsDaemon(env)) return;
  const { startDaemon } = await import('../daemon/client/control.ts');
  await startDaemon(home, env).catch(() => {});
}

async function ownHost(context: Context, config: LoadedConfig, need: Need): Promise<CommandHost> {
  const { cwd, home, extra, env, signal } = context;
  const only = need.servers === 'all' ? undefined : need.servers;
  const headStart = await startAhead(context, config, need);
  try {
    const { createHost } = await import('../host/host.ts');
    signal.throwIfAborted();
    return await createHost({
      cwd,
      home: home.dir,
      servers: extra,
      config,
      env,
      watch: false,
      connect: need.connect ?? 'all',
      approvals: 'client',
      forModel: need.forModel ?? false,
      // People see every tool, not the selection for a model.
      toolSearch: false,
      approve: need.approve,
      elicit: need.elicit,
      canBeAsked: need.canBeAsked,
      roots: projectRoots(config),
      // The same capabilities as a gateway's sessions, so that both share the cached lists.
      sessions: SERVED_SESSIONS,
      headStart,
      ...(need.programs === true ? { codeMode: config.settings.codeMode || true } : {}),
      ...(only === undefined ? {} : { only }),
    });
  } catch (error) {
    await headStart?.close();
    await headStart?.processes.close();
    throw error;
  }
}

/** Starts the servers while the host is loaded, if it would start all of them anyway. */
async function startAhead(
  { home, env }: Context,
  config: LoadedConfig,
  { servers, connect = 'all' }: Need,
): Promise<HeadStart | undefined> {
  if (connect !== 'all') return undefined;
  const { HeadStart: Ahead } = await import('../host/head-start.ts');
  return Ahead.begin({ config, home, env, only: servers === 'all' ? undefined : servers });
}

/** Asks for approval of the project's servers if a person can be asked; skips those in `refused`. */
async function settleTrust(
  context: Context,
  config: LoadedConfig,
  names: readonly string[],
  refused: Set<string>,
): Promise<LoadedConfig> {
  const specs = names
    .map((name) => findServer(config, name))
    .filter((spec) => needsConsent(spec) && !refused.has(spec.name));
  if (!context.output.canAsk || specs.length === 0) return config;
  const verdicts = await trustDecisions(specs, context);
  const { askForTrust } = await import('./consent.ts');
  for (const spec of specs) {
    const verdict = verdicts.get(spec.name);
    if (verdict?.state === 'trusted') continue;
    if (!(await askForTrust(context, spec, verdict))) refused.add(spec.name);
  }
  // Approving the person's own entry changes its file.
  return specs.some(isUnapproved) ? loadEffective(context) : config;
}

/** Prints on stderr why servers are missing; `applies` selects the servers. */
export function noteMissing(
  { output }: Context,
  host: CommandHost,
  applies: (report: ServerReport) => boolean = () => true,
): void {
  for (const report of host.servers().filter(applies)) {
    const { name, status, error } = report;
    if (status === 'connected' || status === 'disabled' || error === undefined) continue;
    warn(output, `skipped ${name}: ${sentences(error.message, error.hint)}`);
  }
}

/** Prints a warning on stderr, with its following lines aligned. */
export function warn(output: Output, text: string): void {
  const label = { text: 'warning:', paint: output.notePaint.warn, cells: 'warning: '.length };
  output.note(labelled(label, oneLine(text), output));
}

/** Prints on stderr that a project defines a server with the same name, which is not used without approval. */
function noteWaiting({ output }: Context, host: CommandHost, names: readonly string[]): void {
  for (const { name, waiting } of host.servers()) {
    if (waiting === undefined || !names.includes(name)) continue;
    const text = oneLine(sentences(waiting.error.message, waiting.error.hint));
    output.remark(text);
  }
}

function logTo({ output }: Context, host: CommandHost): () => void {
  return host.on('log', ({ server, level, message }) => {
    const text = oneLine(`${level}${server === undefined ? '' : ` ${server}`}: ${message}`);
    output.note(output.notePaint.faint(text));
  });
}

const MAX_NAMED = 5;

/** Reports changed definitions of the person's own servers once, whichever host detected them. */
async function reportPinNews({ home, output }: Context, specs: readonly ServerSpec[]): Promise<void> {
  const [{ pinKey }, { takeNews }] = await Promise.all([
    import('../policy/pins.ts'),
    import('../policy/pins-news.ts'),
  ]);
  const news = takeNews(home, new Set(specs.map(pinKey)));
  // Several hosts may have detected the same change.
  for (const text of new Set(news.map(newsText))) output.note(`${output.notePaint.warn('warning:')} ${text}`);
}

function newsText({ server, changed, added }: PinNews): string {
  const what = [
    ...(changed.length === 0 ? [] : [`changed: ${named(changed)}`]),
    ...(added.length === 0 ? [] : [`new: ${named(added)}`]),
  ];
  const [shown] = [...changed, ...added];
  const look =
    shown === undefined || shown === 'its instructions' ? ['info', server] : ['tool', server, shown];
  return oneLine(
    `${server} changed since you last used it (${what.join('; ')}). The new definitions are in use. Run ${joinArgv(['plugboard', ...look])} to see one; set "pins": "hold" in its entry to approve changes first.`,
  );
}

function named(names: readonly string[]): string {
  const more = names.length - MAX_NAMED;
  return `${names.slice(0, MAX_NAMED).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

/** Returns the roots for servers that request them during a command: the project it runs in. */
export function projectRoots({ projectRoot }: Pick<LoadedConfig, 'projectRoot'>): readonly Root[] {
  const name = basename(projectRoot);
  return [{ uri: pathToFileURL(projectRoot).href, ...(name === '' ? {} : { name }) }];
}
