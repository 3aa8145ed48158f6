/** Problems of configuration files as a person reads them: where, what, and what to do. */

import type { Problem } from '../config/entry.ts';
import { clean } from '../policy/clean.ts';
import type { Output } from './output.ts';

/** Tells them on stderr; with `--json` they are part of the document instead. */
export function noteProblems(problems: readonly Problem[], output: Output): void {
  if (output.json) return;
  for (const problem of problems) output.note(describeProblem(problem, output));
}

function describeProblem(problem: Problem, output: Output): string {
  const paint = output.notePaint;
  const place = [problem.file, problem.line, problem.column].filter((part) => part !== undefined).join(':');
  const server = problem.server === undefined ? '' : ` server "${problem.server}":`;
  const first = `${paint.warn('problem:')} ${clean(`${place}:${server} ${problem.message}`)}`;
  return problem.hint === undefined ? first : `${first}\n${paint.faint('hint:')}    ${clean(problem.hint)}`;
}
