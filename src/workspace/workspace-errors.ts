/** The errors of the workspace tools: one sentence, and a hint. */

import { PlugboardError } from '../errors.ts';
import { errorCode } from '../lib/error-code.ts';

export function badPath(message: string, hint?: string): PlugboardError {
  return new PlugboardError('INVALID_ARGUMENTS', message, { hint });
}

export function outside(given: string): PlugboardError {
  return new PlugboardError('DENIED', `${JSON.stringify(given)} leads out of the project`, {
    hint: 'Only files inside the project can be reached; links are followed as long as they stay inside.',
  });
}

/** A folder was replaced between its check and its use. */
export function swapped(): PlugboardError {
  return new PlugboardError('DENIED', 'A folder on the way was replaced while it was being opened', {
    hint: 'Try again when nothing else moves files there.',
  });
}

export function notWritable(shown: string): PlugboardError {
  return new PlugboardError('DENIED', `${shown} belongs to git itself and is not written by this tool`, {
    hint: 'Files under .git decide what git runs; git_commit and the shell are the ways to change a repository.',
  });
}

const SENTENCES: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file or folder',
  ENOTDIR: 'a part of the path is a file, not a folder',
  EISDIR: 'this is a folder, not a file',
  EACCES: 'permission denied',
  EPERM: 'the system does not permit it',
  EROFS: 'the file system is read-only',
  ENOSPC: 'the disk is full',
  ELOOP: 'there is a link where a file or folder was, or links go round in a circle',
  ENAMETOOLONG: 'the name is too long',
  EMFILE: 'too many files are open',
};

/** Converts a file system error; the system's own message would name paths outside the project. */
export function asFileError(thrown: unknown, shown: string): PlugboardError {
  if (thrown instanceof PlugboardError) return thrown;
  const code = errorCode(thrown) ?? 'unknown';
  const hint = code === 'ENOENT' ? 'list and glob show what is there.' : undefined;
  return new PlugboardError('INVALID_ARGUMENTS', `${shown}: ${SENTENCES[code] ?? `it failed (${code})`}`, {
    hint,
    cause: thrown,
  });
}
