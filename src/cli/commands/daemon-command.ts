/** `plugboard daemon`: controls the process that all agents of this user share. */

import { Argument } from 'commander';
import { reportDaemons, restartDaemon, startDaemon, stopDaemons } from '../../daemon/client/control.ts';
import type { DaemonReport, HostUse, ServerUse } from '../../daemon/protocol/daemon-messages.ts';
import { placeOf } from '../../daemon/protocol/daemon-place.ts';
import { PlugboardError } from '../../errors.ts';
import { counted } from '../../lib/counted.ts';
import { sentences } from '../../lib/sentences.ts';
import { oneLine } from '../../policy/clean.ts';
import type { CliCommand, Context } from '../cli-command.ts';

const BYTES_PER_MB = 1024 * 1024;
const MS_PER_MINUTE = 60_000;
const MS_PER_SECOND = 1_000;

const ACTIONS: Readonly<Record<string, (context: Context) => Promise<number>>> = {
  start,
  stop,
  restart,
  status,
  run,
};

export const daemon: CliCommand = {
  configure(command): void {
    command
      .addArgument(
        new Argument('<action>', 'action; run stays in the foreground, for a service').choices(
          Object.keys(ACTIONS),
        ),
      )
      .addHelpText(
        'after',
        '\nExamples:\n  plugboard daemon start\n  plugboard daemon status --json\n  plugboard daemon restart\n  plugboard daemon stop',
      );
  },

  async run(context: Context, args: readonly string[]): Promise<number> {
    const [what = ''] = args;
    const action = ACTIONS[what];
    // Unreachable: the argument's choices are the keys of the table.
    if (action === undefined) throw new Error(`Unknown action ${what}`);
    return action(context);
  },
};

async function start({ home, env, output }: Context): Promise<number> {
  return started(output, await startDaemon(home, env));
}

/** Sessions, pages and HTTP addresses move to the new daemon. */
async function restart({ home, env, output }: Context): Promise<number> {
  return started(output, await restartDaemon(home, env));
}

function started(output: Context['output'], report: DaemonReport): number {
  output.answer({ running: true, daemons: [report] }, () =>
    [`The daemon is running (pid ${report.pid}).`, `It ${lifetime(report)}.`].join('\n'),
  );
  return 0;
}

async function stop({ home, output }: Context): Promise<number> {
  const stopped = await stopDaemons(home);
  output.answer({ stopped }, () =>
    stopped === 0 ? 'The daemon was not running.' : 'The daemon has stopped.',
  );
  return 0;
}

async function status({ home, output }: Context): Promise<number> {
  const daemons = await reportDaemons(home);
  output.answer({ running: daemons.length > 0, daemons }, () =>
    daemons.length === 0
      ? 'The daemon is not running. Run plugboard daemon start to start it; serve and dashboard do so too.'
      : daemons.map(describe).join('\n\n'),
  );
  return 0;
}

/** For systemd and launchd: runs the daemon in the foreground until a signal or `daemon stop`. */
async function run({ home, signal }: Context): Promise<number> {
  const place = placeOf(home);
  if (place === undefined) throw new PlugboardError('START_FAILED', 'This build has no daemon');
  const { spawn } = await import('node:child_process');
  await stopDaemons(home);
  const child = spawn(process.execPath, [place.entry, '--forever'], {
    stdio: 'inherit',
    env: { ...process.env, PLUGBOARD_HOME: home.dir },
  });
  const forward = (): void => void child.kill('SIGTERM');
  signal.addEventListener('abort', forward, { once: true });
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code) => resolve(code ?? 0));
  });
}

function describe(report: DaemonReport): string {
  const { pid, version, since, bytes, sessions, hosts, pages = [] } = report;
  return [
    `pid ${pid}, version ${version}, since ${since}${size(bytes)}; ${lifetime(report)}`,
    `${counted(sessions.length, 'session')}, ${counted(hosts.length, 'set')} of servers`,
    ...pages.map(({ url, page }) => `serving ${url}${page === undefined ? '' : `, page ${page}`}`),
    ...hosts.flatMap(describeHost),
  ].join('\n');
}

function describeHost({ cwd, sessions, differs = [], servers }: HostUse): string[] {
  const apart = differs.length === 0 ? '' : `; separate from the first set because of ${differs.join(', ')}`;
  return [
    '',
    oneLine(`${cwd} (${counted(sessions, 'session')})${apart}`),
    ...servers.flatMap(describeServer),
  ];
}

function describeServer({ name, status: state, pid, processes, bytes, copies = [] }: ServerUse): string[] {
  const running = pid === undefined ? '' : `, pid ${pid}, ${counted(processes ?? 1, 'process')}`;
  return [
    `  ${oneLine(name)}  ${state}${running}${size(bytes)}`,
    ...copies.map((copy) => `    second copy, pid ${copy.pid}: ${sentences(copy.reason, copy.hint)}`),
  ];
}

function lifetime({ idleMs, isService }: DaemonReport): string {
  if (isService === true) return 'runs as a service';
  if (idleMs === undefined) return 'stops when it is idle';
  const time =
    idleMs < MS_PER_MINUTE
      ? counted(Math.round(idleMs / MS_PER_SECOND), 'second')
      : counted(Math.round(idleMs / MS_PER_MINUTE), 'minute');
  return `stops after ${time} without sessions`;
}

function size(bytes: number | undefined): string {
  return bytes === undefined ? '' : `, ${Math.round(bytes / BYTES_PER_MB)} MB`;
}
