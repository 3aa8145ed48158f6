/** A command that runs in the daemon for a shell elsewhere: the same verbs, over the host that is there already. */

import type { Home } from '../config/home.ts';
import { asPlugboardError, PlugboardError } from '../errors.ts';
import type { Host } from '../host.ts';
import type { HostSession } from '../host-session.ts';
import type { TextSink } from '../lib/sink.ts';
import { readVersion } from '../lib/version.ts';
import { hasSwitch, rows } from './commands.ts';
import { reportFailure } from './failure.ts';
import { Output } from './output.ts';
import { runProgram } from './program.ts';
import type { CommandHost, Need } from './with-host.ts';

export interface Elsewhere {
  readonly argv: readonly string[];
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  readonly home: Home;
  readonly host: Host;
  /** Aborted when nobody waits for it any more. */
  readonly signal: AbortSignal;
  /** A person sits at the shell and could be asked there. */
  readonly canAskAtHome: boolean;
  readonly stdout: TextSink;
  readonly stderr: TextSink;
}

/** The exit status; or `home`, when a person has to be asked, and nothing was done yet. */
export async function runElsewhere(elsewhere: Elsewhere): Promise<number | 'home'> {
  const { argv, cwd, env, home, host, stdout, stderr } = elsewhere;
  const cancel = new AbortController();
  const stop = (): void => cancel.abort(new PlugboardError('CANCELLED', 'Interrupted.'));
  if (elsewhere.signal.aborted) stop();
  else elsewhere.signal.addEventListener('abort', stop, { once: true });
  const output = new Output({
    json: hasSwitch(argv, '--json'),
    env,
    signal: cancel.signal,
    onReaderGone: () => {},
    elsewhere: { stdout, stderr },
  });
  try {
    return await runProgram({
      argv,
      env,
      rows,
      version: readVersion,
      output,
      signal: cancel.signal,
      there: { cwd, home, openHost: (need) => Promise.resolve(viewOf(host, need)) },
    });
  } catch (thrown) {
    const { code } = asPlugboardError(thrown);
    const asks = code === 'APPROVAL_REQUIRED' || code === 'UNTRUSTED';
    return asks && elsewhere.canAskAtHome ? 'home' : reportFailure(thrown, output, false);
  }
}

/** The shared host as one command sees it: the servers it named, every tool, results that are whole. */
function viewOf(host: Host, need: Need): CommandHost {
  const { servers: wanted, approve, forModel = false } = need;
  const session: HostSession = host.session({ approve, approvals: 'client', forModel });
  const takesPart = (server: string): boolean => wanted === 'all' || wanted.includes(server);
  return {
    tools: () => session.allTools().filter(({ server }) => takesPart(server)),
    call: (name, args, options) => session.call(name, args, options),
    servers: () => host.servers().filter(({ name }) => takesPart(name)),
    search: async (query, options) =>
      (await host.search(query, options)).filter(({ server }) => takesPart(server)),
    resources: (server) => host.resources(server),
    read: (server, uri, options) => host.read(server, uri, { forModel, ...options }),
    prompts: (server) => host.prompts(server),
    prompt: (server, name, args, options) => host.prompt(server, name, args, { forModel, ...options }),
    connect: (name) => host.connect(name),
    isHeld: (server, tool) => host.isHeld(server, tool),
    phases: (name) => host.phases(name),
    scan: (name) => host.scan(name),
    login: (name, options) => host.login(name, options),
    logout: (name) => host.logout(name),
    credentialPlace: (name) => host.credentialPlace(name),
    on: (event, listener) => host.on(event, listener),
    async ready() {
      // Whoever asks wants to know how it is now, not how it was when the daemon first tried.
      const failed = host.servers().filter(({ status }) => status === 'failed');
      await Promise.all(failed.map(({ name }) => host.connect(name).catch(() => {})));
      await host.ready();
    },
    // It is not ours: the others go on with it.
    close: () => Promise.resolve(),
  };
}
