/** Formats an import for a person: per file, the action for each server and the settings that are lost. */

import type { Found, FoundFile } from '../config/import/find.ts';
import type { Agent } from '../config/import/foreign-agent.ts';
import { joinArgv } from '../lib/argv.ts';
import { oneLine, reveal } from '../policy/clean.ts';
import type { Difference } from '../policy/differences.ts';
import type { Action, Planned } from '../setup/import-plan.ts';
import type { Output, Paint } from './output.ts';
import { padEnd, width } from './text-layout.ts';

const MARKS: Readonly<Record<Action, { mark: string; paint: keyof Paint }>> = {
  add: { mark: '+', paint: 'good' },
  replace: { mark: '~', paint: 'warn' },
  same: { mark: '=', paint: 'faint' },
  keep: { mark: '!', paint: 'warn' },
  skip: { mark: '✖', paint: 'bad' },
};

export function importLines(
  found: Found,
  planned: readonly Planned[],
  agents: readonly Agent[],
  output: Output,
): string {
  const withServers = found.files.filter(({ servers }) => servers > 0);
  if (withServers.length === 0) {
    return `No servers were found in the files of ${agents.map(({ title }) => title).join(', ')}.`;
  }
  return withServers.flatMap((file) => fileLines(file, planned, output)).join('\n');
}

/** Summarizes what was done, or would be done in a dry run. */
export function summaryLine(planned: readonly Planned[], isDry: boolean): string {
  const count = (...actions: readonly Action[]): number =>
    planned.filter(({ action }) => actions.includes(action)).length;
  const parts = (
    [
      [isDry ? 'add' : 'added', count('add'), ''],
      [isDry ? 'replace' : 'replaced', count('replace'), ''],
      [isDry ? 'skip' : 'skipped', count('same'), ' (already there)'],
      [isDry ? 'skip' : 'skipped', count('keep'), ' (name already taken)'],
      [isDry ? 'leave out' : 'left out', count('skip'), ''],
    ] as const
  )
    .filter(([, number]) => number > 0)
    .map(([done, number, why]) => `${done} ${number}${why}`);
  if (parts.length === 0) return 'Nothing to import.';
  const text = parts.join(', ');
  return isDry ? `Would ${text}.` : `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}

function fileLines({ agent, file }: FoundFile, planned: readonly Planned[], output: Output): string[] {
  const { paint } = output;
  const here = planned.filter(({ found }) => found.agent === agent && found.file === file);
  const cells = Math.max(...here.map(({ found }) => width(reveal(found.name))));
  return [
    `${paint.strong(agent.title)} ${paint.faint(oneLine(file))}`,
    ...here.flatMap((server) => serverLines(server, cells, paint)),
  ];
}

function serverLines(server: Planned, cells: number, paint: Paint): string[] {
  const { mark, paint: colour } = MARKS[server.action];
  const name = padEnd(reveal(server.found.name), cells);
  const what = server.action === 'skip' ? '' : `${padEnd(server.scope, 'project'.length)}  ${target(server)}`;
  return [
    `  ${paint[colour](mark)} ${name}  ${what}`.trimEnd(),
    ...(server.reason === undefined ? [] : [`      ${oneLine(server.reason)}`]),
    ...server.notes.map((note) => paint.warn(`      ${reveal(note)}`)),
    ...server.changes.flatMap((change) => changeLines(change, paint)),
    ...server.lost.map(({ key, reason }) => paint.warn(`      without ${reveal(key)}: ${oneLine(reason)}`)),
  ];
}

function changeLines({ path, before, after }: Difference, paint: Paint): string[] {
  const shown = (value: unknown): string => reveal(`${path}: ${JSON.stringify(value)}`);
  return [
    ...(before === undefined ? [] : [paint.bad(`      - ${shown(before)}`)]),
    ...(after === undefined ? [] : [paint.good(`      + ${shown(after)}`)]),
  ];
}

/** Returns the command line or url on one line. */
function target({ shown }: Planned): string {
  const { command, args, url } = shown;
  if (typeof command !== 'string') return reveal(String(url));
  return joinArgv([command, ...(Array.isArray(args) ? args.map(String) : [])].map(reveal));
}
