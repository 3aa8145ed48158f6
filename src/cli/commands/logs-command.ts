/** `plugboard logs`: prints servers' stderr and log messages from their log files, without starting them. */

import type { ServerSpec } from '../../config/entry.ts';
import { joinArgv } from '../../lib/argv.ts';
import { aborted } from '../../lib/waits.ts';
import { oneLine } from '../../policy/clean.ts';
import { loadEffective } from '../../policy/effective.ts';
import { findServer } from '../../setup/known-server.ts';
import { serverLogFile } from '../../transport/server-log.ts';
import { LogReader, type ServerLine } from '../../transport/server-log-reader.ts';
import { type CliCommand, type Context, type Flags, textFlag } from '../cli-command.ts';
import { wholeNumber } from '../flags.ts';
import type { Output } from '../output.ts';
import { padEnd, width } from '../text-layout.ts';

const DEFAULT_LINES = 50;
const MAX_LINES = 100_000;
/** Interval for polling followed files. */
const FOLLOW_MS = 200;
const KIND_CELLS = 'plugboard'.length;

export const logs: CliCommand = {
  configure(command): void {
    command
      .argument('[server]', 'only the log of this server')
      .option('-f, --follow', 'print new lines as they are written')
      .option('-n, --lines <count>', `number of lines to show (default: ${DEFAULT_LINES})`)
      .addHelpText('after', EXAMPLES);
  },

  async run(context: Context, args: readonly string[], flags: Flags): Promise<number> {
    const { home, output } = context;
    const [name] = args;
    const given = textFlag(flags, 'lines');
    const count =
      given === undefined
        ? DEFAULT_LINES
        : wholeNumber('-n', given, { min: 0, max: MAX_LINES, example: '-n 20' });
    const config = context.config ?? (await loadEffective(context));
    const specs = name === undefined ? config.servers : [findServer(config, name)];
    const readers = specs.map((spec) => new LogReader(spec.name, serverLogFile(home, spec)));
    const lines = readers.flatMap((reader) => reader.last(count)).sort(byTime);
    const shown = count === 0 ? [] : lines.slice(-count);
    const isFollowed = flags['follow'] === true;
    const print = printer(output, specs, isFollowed);
    if (lines.length === 0 && count > 0) noteNothing(output, readers, name);
    if (isFollowed) {
      for (const line of shown) print(line);
      return follow(context, readers, print);
    }
    if (output.json) {
      const files = readers.filter(({ exists }) => exists).map(({ server, file }) => ({ server, file }));
      output.answer({ lines: shown, files }, () => '');
    } else for (const line of shown) print(line);
    return 0;
  },
};

const EXAMPLES = `
A log contains the server's stderr, its log messages, and when it was started and stopped, whether by a command, by
"serve" or by the daemon. Known secrets are removed. The files are in "logs" in Plugboard's folder.
With --json and -f each line is a JSON document.

Examples:
  plugboard logs
  plugboard logs files -f
  plugboard logs files -n 200 --json`;

function byTime(a: ServerLine, b: ServerLine): number {
  return a.time < b.time ? -1 : a.time > b.time ? 1 : 0;
}

function noteNothing(output: Output, readers: readonly LogReader[], name: string | undefined): void {
  const [reader] = readers;
  if (name === undefined || reader === undefined) {
    output.note('There are no logs yet, because no server has run. Run plugboard list to start them.');
    return;
  }
  const start = joinArgv(['plugboard', 'test', name]);
  output.note(oneLine(`${name} has no log yet, because it has not run. Run ${start} to start it.`));
}

function printer(
  output: Output,
  specs: readonly ServerSpec[],
  isFollowed: boolean,
): (line: ServerLine) => void {
  if (output.json) return (line) => isFollowed && output.write(`${JSON.stringify(line)}\n`);
  const { paint } = output;
  const cells = Math.max(0, ...specs.map(({ name }) => width(oneLine(name))));
  return ({ time, server, kind, message }) => {
    const when = paint.faint(time.replace('T', ' ').replace(/\.\d+Z$/, ''));
    const whose = specs.length === 1 ? [] : [padEnd(oneLine(server), cells)];
    const what = padEnd(oneLine(kind), KIND_CELLS);
    output.line([when, ...whose, kind === 'stderr' ? what : paint.faint(what), oneLine(message)].join('  '));
  };
}

/** Prints new lines until the command is interrupted or its output is no longer read. */
async function follow(
  { signal }: Context,
  readers: readonly LogReader[],
  print: (line: ServerLine) => void,
): Promise<number> {
  const timer = setInterval(() => {
    for (const line of readers.flatMap((reader) => reader.next()).sort(byTime)) print(line);
  }, FOLLOW_MS);
  try {
    return await aborted(signal);
  } finally {
    clearInterval(timer);
  }
}
