/** `plugboard daemon`: the process in which the sessions of all agents share their servers. */

import type { Command } from 'commander';
import { PlugboardError } from '../../errors.ts';
import { clean } from '../../policy/clean.ts';
import { reportDaemons, startDaemon, stopDaemons } from '../../remote/control.ts';
import type { DaemonReport, HostUse } from '../../remote/report.ts';
import type { Context, Verb } from '../verb.ts';

const BYTES_PER_MB = 1024 * 1024;

export const daemon: Verb = {
  configure(command: Command): void {
    command
      .argument('<what>', 'start, stop or status')
      .addHelpText(
        'after',
        '\nExamples:\n  plugboard daemon start\n  plugboard daemon status --json\n  plugboard daemon stop',
      );
  },

  async run(context: Context, args: readonly string[]): Promise<number> {
    const [what] = args;
    if (what === 'start') return start(context);
    if (what === 'stop') return stop(context);
    if (what === 'status') return status(context);
    throw new PlugboardError('USAGE', `There is no daemon ${JSON.stringify(what)}.`, {
      hint: 'It is plugboard daemon start, stop or status.',
    });
  },
};

async function start({ home, env, output }: Context): Promise<number> {
  const report = await startDaemon(home, env);
  output.answer({ running: true, daemons: [report] }, () =>
    [`The daemon runs (pid ${report.pid}).`, 'Without anything to do it ends after ten minutes.'].join('\n'),
  );
  return 0;
}

async function stop({ home, output }: Context): Promise<number> {
  const stopped = await stopDaemons(home);
  output.answer({ stopped }, () => (stopped === 0 ? 'The daemon was not running.' : 'The daemon has ended.'));
  return 0;
}

async function status({ home, output }: Context): Promise<number> {
  const daemons = await reportDaemons(home);
  output.answer({ running: daemons.length > 0, daemons }, () =>
    daemons.length === 0
      ? 'The daemon is not running. Agents that use `plugboard serve` start it, and so does plugboard daemon start.'
      : daemons.map(describe).join('\n\n'),
  );
  return 0;
}

function describe({ pid, version, since, bytes, sessions, hosts, stays }: DaemonReport): string {
  const end = stays ? 'ends after ten minutes without work' : 'ends with its last session';
  return [
    `pid ${pid}, version ${version}, since ${since}${size(bytes)}; ${end}`,
    `${count(sessions.length, 'session')}, ${count(hosts.length, 'set')} of servers`,
    ...hosts.flatMap(describeHost),
  ].join('\n');
}

function describeHost({ cwd, sessions, servers }: HostUse): string[] {
  return [
    '',
    `${clean(cwd, { multiline: false })} (${count(sessions, 'session')})`,
    ...servers.map(({ name, status: state, pid, processes, bytes }) => {
      const running = pid === undefined ? '' : `, pid ${pid}, ${count(processes ?? 1, 'process', 'es')}`;
      return `  ${clean(name, { multiline: false })}  ${state}${running}${size(bytes)}`;
    }),
  ];
}

function count(number: number, word: string, ending = 's'): string {
  return `${number} ${word}${number === 1 ? '' : ending}`;
}

function size(bytes: number | undefined): string {
  return bytes === undefined ? '' : `, ${Math.round(bytes / BYTES_PER_MB)} MB`;
}
