/** `plugboard audit`: prints, filters and follows the audit log, which has one line for each call. */

import picomatch from 'picomatch';
import { FollowedFile } from '../../lib/followed-file.ts';
import { parseRecord } from '../../lib/json.ts';
import { aborted } from '../../lib/waits.ts';
import { oneLine } from '../../policy/clean.ts';
import { type CliCommand, type Context, type Flags, textFlag } from '../cli-command.ts';
import { duration, misuse, wholeNumber } from '../flags.ts';
import type { Output } from '../output.ts';
import { padEnd } from '../text-layout.ts';

const DEFAULT_LINES = 50;
const MAX_LINES = 1_000_000;
/** Rotated files that the log keeps. */
const OLD_FILES = 5;
/** Interval for polling the followed file. */
const FOLLOW_MS = 200;
const CLIENT_CELLS = 16;
const OUTCOME_CELLS = 'tool-error'.length;

/** A line of the log; older lines have no client and no profile. */
type Line = Readonly<Record<string, unknown>>;

export const audit: CliCommand = {
  configure(command): void {
    command
      .option('--since <time>', 'only calls since then: 1h, 30m, 7d, or a date such as 2026-07-28T09:00Z')
      .option('--client <name>', 'only calls of this client; a glob')
      .option('--server <name>', 'only calls of this server; a glob')
      .option('-f, --follow', 'print new lines as they are written')
      .option('-n, --lines <count>', `number of lines to show (default: ${DEFAULT_LINES}; all with --since)`)
      .addHelpText('after', EXAMPLES);
  },

  async run(context: Context, args: readonly string[], flags: Flags): Promise<number> {
    if (args.length > 0) throw misuse('audit', `Unexpected argument ${JSON.stringify(args[0])}`);
    const { home, output } = context;
    const since = sinceOf(flags, Date.now());
    const passes = filterOf(flags, since);
    const count = countOf(flags, since);
    const file = new FollowedFile(home.audit);
    const now = parsed(file.next());
    const lines = [...olderLines(file, now, count, since), ...now].filter(passes);
    const shown = count === 0 ? [] : lines.slice(-count);
    const isFollowed = flags['follow'] === true;
    if (shown.length === 0 && count > 0 && !isFollowed) output.note('The audit log has no such calls.');
    if (output.json && !isFollowed) {
      output.answer({ lines: shown, file: home.audit }, () => '');
      return 0;
    }
    for (const line of shown) print(output, line);
    return isFollowed ? follow(context, file, (line) => passes(line) && print(output, line)) : 0;
  },
};

const EXAMPLES = `
Each line is a call: its time, client and profile, server and tool, how it was decided and how it ended. It has the
shape of the arguments, never their values. With --json and -f each line is a JSON document.

Examples:
  plugboard audit --since 1h
  plugboard audit --client claude-laptop --server 'git*' -f
  plugboard audit --since 7d --json`;

/** Milliseconds since the epoch. */
function sinceOf(flags: Flags, now: number): number | undefined {
  const given = textFlag(flags, 'since');
  if (given === undefined) return undefined;
  const date = /^\d{4}-\d{2}-\d{2}/.test(given) ? Date.parse(given) : Number.NaN;
  return Number.isNaN(date) ? now - duration('audit', '--since', given) : date;
}

function countOf(flags: Flags, since: number | undefined): number {
  const given = textFlag(flags, 'lines');
  if (given === undefined) return since === undefined ? DEFAULT_LINES : MAX_LINES;
  return wholeNumber('-n', given, { min: 0, max: MAX_LINES, example: '-n 20' });
}

function filterOf(flags: Flags, since: number | undefined): (line: Line) => boolean {
  const [client, server] = (['client', 'server'] as const).map((name) => {
    const glob = textFlag(flags, name);
    if (glob === undefined) return () => true;
    const matches = picomatch(glob, { dot: true });
    return (line: Line) => line[name] === glob || (typeof line[name] === 'string' && matches(line[name]));
  });
  return (line) =>
    (since === undefined || timeOf(line) >= since) && client?.(line) === true && server?.(line) === true;
}

/** Reads rotated files as far back as needed. */
function olderLines(
  file: FollowedFile,
  now: readonly Line[],
  count: number,
  since: number | undefined,
): readonly Line[] {
  const older: Line[][] = [];
  let known = now.length;
  for (let age = 1; age <= OLD_FILES; age += 1) {
    const [first = now[0]] = older[0] ?? [];
    const isEnough = since === undefined ? known >= count : first !== undefined && timeOf(first) < since;
    if (isEnough) break;
    const lines = parsed(file.rotated(age));
    known += lines.length;
    older.unshift(lines);
  }
  return older.flat();
}

function parsed(lines: readonly string[]): Line[] {
  return lines.flatMap((line) => {
    const read = parseRecord(line);
    return read === undefined ? [] : [read];
  });
}

function timeOf({ time }: Line): number {
  return typeof time === 'string' ? Date.parse(time) : 0;
}

function print(output: Output, line: Line): void {
  if (output.json) {
    output.write(`${JSON.stringify(line)}\n`);
    return;
  }
  const { paint } = output;
  const text = (name: string): string => oneLine(String(line[name] ?? ''));
  const { client = '-', profile, ms, code } = line;
  const who = `${oneLine(String(client))}${profile === undefined ? '' : ` (${oneLine(String(profile))})`}`;
  const outcome = padEnd(text('outcome'), OUTCOME_CELLS);
  output.line(
    [
      paint.faint(
        text('time')
          .replace('T', ' ')
          .replace(/\.\d+Z$/, ''),
      ),
      padEnd(who, CLIENT_CELLS),
      line['outcome'] === 'ok' ? outcome : paint.warn(outcome),
      `${text('server')} ${text('tool')}`,
      paint.faint(
        [`${String(ms)} ms`, ...(code === undefined ? [] : [String(code)]), text('decision')].join(', '),
      ),
    ].join('  '),
  );
}

/** Prints new lines until the command is interrupted or its output is no longer read. */
async function follow({ signal }: Context, file: FollowedFile, shown: (line: Line) => void): Promise<number> {
  const timer = setInterval(() => {
    for (const line of parsed(file.next())) shown(line);
  }, FOLLOW_MS);
  try {
    return await aborted(signal);
  } finally {
    clearInterval(timer);
  }
}
