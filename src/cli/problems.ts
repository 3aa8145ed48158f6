/** Formats problems in configuration files for a person: position, message and hint. */

import { placeText } from '../config/document.ts';
import type { Problem } from '../config/entry.ts';
import { counted } from '../lib/counted.ts';
import type { Output } from './output.ts';
import { labelled } from './text-layout.ts';

const LABEL_CELLS = 'problem: '.length;
/** Limit for printed problems, because a project's file can cause any number of them. */
const MAX_NOTED = 20;

/** Prints problems on stderr; with `--json` they are part of the document instead. */
export function noteProblems(problems: readonly Problem[], output: Output): void {
  if (output.json) return;
  for (const problem of problems.slice(0, MAX_NOTED)) output.note(describeProblem(problem, output));
  const more = problems.length - MAX_NOTED;
  if (more > 0) output.note(`${counted(more, 'more problem')}: run plugboard doctor to see all of them.`);
}

/**
 * Prints the problems relevant to a command: those of its servers and of whole files. For a command on all servers, the
 * problems of individual servers are summarized in one line.
 */
export function noteConcerning(
  problems: readonly Problem[],
  servers: 'all' | readonly string[],
  output: Output,
): void {
  const concerns = ({ server }: Problem): boolean =>
    server === undefined || (servers !== 'all' && servers.includes(server));
  noteProblems(problems.filter(concerns), output);
  const others = problems.filter((problem) => !concerns(problem)).length;
  if (servers !== 'all' || others === 0 || output.json) return;
  const what = others === 1 ? 'a problem' : `${others} problems`;
  output.remark(
    `the configuration of servers has ${what}: run plugboard doctor to see ${others === 1 ? 'it' : 'them'}.`,
  );
}

function describeProblem(problem: Problem, output: Output): string {
  const paint = output.notePaint;
  const server = problem.server === undefined ? '' : ` server "${problem.server}":`;
  const first = labelled(
    { text: 'problem:', paint: paint.warn, cells: LABEL_CELLS },
    `${placeText(problem)}:${server} ${problem.message}`,
    output,
  );
  if (problem.hint === undefined) return first;
  return `${first}\n${labelled({ text: 'hint:', paint: paint.faint, cells: LABEL_CELLS }, problem.hint, output)}`;
}
