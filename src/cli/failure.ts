/** What a person, or a program with `--json`, sees when a command fails, and the exit status it ends with. */

import { asPlugboardError, EXIT_STATUS, forPerson, PlugboardError } from '../errors.ts';
import { errorCode } from '../lib/error-code.ts';
import { clean } from '../policy/clean.ts';
import { labelled } from './labelled.ts';
import type { Output } from './output.ts';
import { indent } from './table.ts';

/** Tells the failure on the right stream in the right shape; answers with the exit status. */
export function reportFailure(thrown: unknown, output: Output, verbose: boolean): number {
  const error = explained(unwritable(thrown) ?? forPerson(asPlugboardError(thrown)));
  output.failure({ error: error.toJSON() }, () => describeFailure(error, output));
  if (verbose) output.note(indent(stackOf(thrown), '  '));
  return EXIT_STATUS[error.code];
}

/** One sentence, one hint, and what the server said last on stderr. */
export function describeFailure(error: PlugboardError, output: Output): string {
  const paint = output.notePaint;
  const lines = [labelled({ text: 'error:', paint: paint.bad, cells: LABEL_CELLS }, error.message, output)];
  if (error.hint !== undefined)
    lines.push(labelled({ text: 'hint:', paint: paint.faint, cells: LABEL_CELLS }, error.hint, output));
  const tail = error.detail.stderr;
  if (tail) lines.push(paint.faint('its stderr ended with:'), indent(clean(tail).trimEnd(), '  '));
  return lines.join('\n');
}

const LABEL_CELLS = 'error: '.length;

/** A full or read-only disk is not an internal error. */
function unwritable(thrown: unknown): PlugboardError | undefined {
  const code = errorCode(thrown) ?? '';
  if (thrown instanceof PlugboardError || !(thrown instanceof Error)) return undefined;
  // A folder that cannot be made says so with ENOENT where the file system takes none, such as /proc.
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
  // Where the path leads through a file, or to no end.
  'ENOTDIR',
  'ELOOP',
  'ENAMETOOLONG',
]);

/** A fault of ours says so, and how to tell us more. */
function explained(error: PlugboardError): PlugboardError {
  if (error.code !== 'INTERNAL' || error.hint !== undefined) return error;
  return Object.assign(Object.create(Object.getPrototypeOf(error)), error, {
    message: `Plugboard ran into a fault of its own: ${error.message}`,
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
