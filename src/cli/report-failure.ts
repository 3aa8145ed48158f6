/** Formats a command's failure for a person, or for a program with `--json`, and maps it to the exit status. */

import { asPlugboardError, EXIT_STATUS, forPerson, PlugboardError } from '../errors.ts';
import { errorCode } from '../lib/error-code.ts';
import { clean } from '../policy/clean.ts';
import type { Output } from './output.ts';
import { indent, labelled } from './text-layout.ts';

/** Prints the failure in the right format on the right stream; returns the exit status. */
export function reportFailure(thrown: unknown, output: Output, verbose: boolean): number {
  const error = explained(unwritable(thrown) ?? forPerson(asPlugboardError(thrown)));
  output.failure({ error: error.toJSON() }, () => describeFailure(error, output));
  if (verbose) output.note(indent(stackOf(thrown), '  '));
  return EXIT_STATUS[error.code];
}

/** Returns the message, the hint, and the last lines of the server's stderr. */
export function describeFailure(error: PlugboardError, output: Output): string {
  const paint = output.notePaint;
  const lines = [labelled({ text: 'error:', paint: paint.bad, cells: LABEL_CELLS }, error.message, output)];
  if (error.hint !== undefined)
    lines.push(labelled({ text: 'hint:', paint: paint.faint, cells: LABEL_CELLS }, error.hint, output));
  const tail = error.detail.stderr;
  if (tail) lines.push(paint.faint('last lines of its stderr:'), indent(clean(tail).trimEnd(), '  '));
  return lines.join('\n');
}

const LABEL_CELLS = 'error: '.length;

/** A full or read-only disk is not an internal error. */
function unwritable(thrown: unknown): PlugboardError | undefined {
  const code = errorCode(thrown) ?? '';
  if (thrown instanceof PlugboardError || !(thrown instanceof Error)) return undefined;
  // On file systems that do not allow new folders, such as /proc, mkdir fails with ENOENT.
  const isFolder = code === 'ENOENT' && 'syscall' in thrown && thrown.syscall === 'mkdir';
  if (!UNWRITABLE.has(code) && !isFolder) return undefined;
  const path = 'path' in thrown ? String(thrown.path) : 'A file';
  return new PlugboardError('CONFIG_UNWRITABLE', `${path} cannot be written (${code})`, {
    hint: 'Make the folder writable, free some space, or set PLUGBOARD_HOME to another folder.',
    cause: thrown,
  });
}

const UNWRITABLE: ReadonlySet<string> = new Set([
  'EROFS',
  'EACCES',
  'EPERM',
  'ENOSPC',
  'EDQUOT',
  // The path leads through a file, or in a loop.
  'ENOTDIR',
  'ELOOP',
  'ENAMETOOLONG',
]);

/** Marks an internal error as such, and adds how to report it. */
function explained(error: PlugboardError): PlugboardError {
  if (error.code !== 'INTERNAL' || error.hint !== undefined) return error;
  return Object.assign(Object.create(Object.getPrototypeOf(error)), error, {
    message: `Internal error in Plugboard: ${error.message}`,
    hint: 'Run the same command with --verbose and report what it prints.',
  });
}

function stackOf(thrown: unknown): string {
  const parts: string[] = [];
  for (let at: unknown = thrown; at instanceof Error && parts.length < MAX_CAUSES; at = at.cause) {
    parts.push(clean(at.stack ?? at.message));
  }
  return parts.join('\ncaused by: ') || clean(String(thrown));
}

const MAX_CAUSES = 5;
