/** Runs a shell's command inside the daemon, over the daemon's shared host. */

import type { Home } from '../config/home.ts';
import type { LoadedConfig } from '../config/load.ts';
import { asPlugboardError, PlugboardError } from '../errors.ts';
import type { Host } from '../host/host.ts';
import type { HostSession } from '../host/host-session.ts';
import type { TextSink } from '../lib/sink.ts';
import { readVersion } from '../lib/version.ts';
import type { Context } from './cli-command.ts';
import { hasSwitch, rows } from './command-table.ts';
import { Output } from './output.ts';
import { runProgram } from './program.ts';
import { reportFailure } from './report-failure.ts';
import type { CommandHost, Need } from './with-host.ts';
import { projectRoots } from './with-host.ts';

export interface ClientCommand {
  readonly argv: readonly string[];
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  readonly home: Home;
  readonly host: Host;
  /** The host's configuration, loaded for this command. */
  readonly config: LoadedConfig;
  /** Aborted when the shell disconnects. */
  readonly signal: AbortSignal;
  /** True if the command could ask a person when run in the shell's own process. */
  readonly canAskLocally: boolean;
  /** Why it could not. */
  readonly notAsked?: string | undefined;
  /** Shows an elicitation to the person at the shell; undefined if there is no person. */
  readonly elicit?: Context['elicit'];
  readonly stdout: TextSink;
  readonly stderr: TextSink;
}

/** Returns the exit status, or `local` if a person must be asked and nothing was done yet. */
export async function runForClient(elsewhere: ClientCommand): Promise<number | 'local'> {
  const { argv, cwd, env, home, host, config, stdout, stderr } = elsewhere;
  const cancel = new AbortController();
  const stop = (): void => cancel.abort(new PlugboardError('CANCELLED', 'Interrupted'));
  if (elsewhere.signal.aborted) stop();
  else elsewhere.signal.addEventListener('abort', stop, { once: true });
  const output = new Output({
    json: hasSwitch(argv, '--json'),
    env,
    signal: cancel.signal,
    onReaderGone: () => {},
    elsewhere: { stdout, stderr, notAsked: elsewhere.notAsked },
  });
  try {
    return await runProgram({
      argv,
      env,
      rows,
      version: readVersion,
      output,
      signal: cancel.signal,
      there: {
        cwd,
        home,
        config,
        elicit: elsewhere.elicit,
        openHost: (need) => Promise.resolve(viewOf(host, config, need)),
      },
    });
  } catch (thrown) {
    const { code } = asPlugboardError(thrown);
    const asks = code === 'APPROVAL_REQUIRED' || code === 'UNTRUSTED';
    return asks && elsewhere.canAskLocally ? 'local' : reportFailure(thrown, output, false);
  }
}

/** Returns the shared host as one command sees it: the servers it named, all tools, complete results. */
function viewOf(host: Host, config: LoadedConfig, need: Need): CommandHost {
  const { servers: wanted, approve, elicit, canBeAsked, forModel = false } = need;
  const roots = projectRoots(config);
  const session: HostSession = host.session({
    approve,
    elicit,
    canBeAsked,
    roots,
    approvals: 'client',
    forModel,
    // All commands share one process, so that a server's state lasts from one command to the next.
    stateOf: { principal: 'commands' },
  });
  const takesPart = (server: string): boolean => wanted === 'all' || wanted.includes(server);
  return {
    tools: () => session.allTools().filter(({ server }) => takesPart(server)),
    find: (name) => session.find(name),
    call: session.call.bind(session),
    servers: () => host.servers().filter(({ name }) => takesPart(name)),
    search: async (query, options) =>
      (await host.search(query, options)).filter(({ server }) => takesPart(server)),
    resources: (server) => host.resources(server),
    read: (server, uri, options) => session.read(server, uri, { forModel, ...options }),
    prompts: (server) => host.prompts(server),
    prompt: (server, name, args, options) => session.prompt(server, name, args, { forModel, ...options }),
    connect: (name) => host.connect(name),
    cost: (options) => host.cost(options),
    reconnect: (name) => host.reconnect(name),
    firstLists: host.firstLists,
    requiredReady: (which) => host.requiredReady(which),
    refresh: (name) => host.refresh(name),
    details: (name) => host.details(name),
    inspect: (name) => host.inspect(name),
    isHeld: (server, tool) => host.isHeld(server, tool),
    prepareCall: (server, tool) => host.prepareCall(server, tool),
    phases: (name) => host.phases(name),
    profiles: host.profiles,
    session: (options) => host.session(options),
    task: (id) => host.task(id),
    scan: (name) => host.scan(name),
    login: host.login.bind(host),
    logout: (name) => host.logout(name),
    credentialPlace: (name) => host.credentialPlace(name),
    on: (event, listener) => host.on(event, listener),
    async ready() {
      // Retries failed servers: a person expects their current state, not that of the first attempt.
      const failed = host.servers().filter(({ status }) => status === 'failed');
      await Promise.all(failed.map(({ name }) => host.connect(name).catch(() => {})));
      return host.ready();
    },
    // The host stays open for other sessions.
    close: async () => session.end(),
  };
}
