/** Saved programs of a home: one file for each, which only its owner can read. */

import { readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { MAX_CODE_CHARS } from '../catalog/run-tool-definition.ts';
import type { Home } from '../config/home.ts';
import { PlugboardError } from '../errors.ts';
import { defined } from '../lib/defined.ts';
import { errorCode } from '../lib/error-code.ts';
import { isRecord, type JsonObject, parseRecord } from '../lib/json.ts';
import { lockFileFor, replaceFile, withFileLock } from '../lib/locked-file.ts';
import { makeFolder } from '../lib/make-folder.ts';
import { nearest } from '../lib/nearest.ts';

const FOLDER = 'saved-programs';
const ENDING = '.json';
const FILE_MODE = 0o600;
const FOLDER_MODE = 0o700;
const MAX_PROGRAMS = 500;
const MAX_DESCRIPTION_CHARS = 1_000;
const MAX_SCHEMA_CHARS = 64_000;
/** Lower case only: some file systems do not distinguish cases. */
const NAME = /^[a-z][a-z0-9_-]{0,63}$/;

export interface SavedProgram {
  readonly name: string;
  readonly description?: string;
  /** JSON Schema of its input. */
  readonly input?: JsonObject;
  readonly code: string;
  /** ISO 8601. */
  readonly savedAt: string;
}

type ProgramsHome = Pick<Home, 'dir' | 'run'>;

export function isProgramName(text: string): boolean {
  return NAME.test(text);
}

/**
 * Returns the text of a program.
 *
 * @throws PlugboardError INVALID_ARGUMENTS if it is empty, LIMIT_EXCEEDED if it is too long.
 */
export function checkedCode(code: string, from: string): string {
  if (code.trim() === '')
    throw new PlugboardError('INVALID_ARGUMENTS', `${from} has no program`, {
      hint: 'Give the body of an async function in TypeScript or JavaScript.',
    });
  return bounded(code, `The program in ${from}`, MAX_CODE_CHARS);
}

/** Stores a program. Returns true if it replaced one with this name. */
export async function saveProgram(home: ProgramsHome, program: SavedProgram): Promise<boolean> {
  const { name, description = '', input } = program;
  if (!isProgramName(name))
    throw new PlugboardError('USAGE', `${JSON.stringify(name)} cannot be the name of a program`, {
      hint: 'Use up to 64 lower-case letters, digits, dashes and underscores, such as weekly-report.',
    });
  bounded(description, 'The description', MAX_DESCRIPTION_CHARS);
  bounded(JSON.stringify(input ?? {}), 'The schema of the input', MAX_SCHEMA_CHARS);
  await makeFolder(folderOf(home), FOLDER_MODE);
  return withFileLock(lockFileFor(join(home.run, 'locks'), folderOf(home)), async () => {
    const names = await savedNames(home);
    const isReplaced = names.includes(name);
    if (!isReplaced && names.length >= MAX_PROGRAMS)
      throw new PlugboardError('LIMIT_EXCEEDED', `There are ${MAX_PROGRAMS} saved programs already`, {
        hint: 'Run plugboard program list, and remove those that are not used.',
      });
    await replaceFile(savedFile(home, name), `${JSON.stringify(program, null, 2)}\n`, { mode: FILE_MODE });
    return isReplaced;
  });
}

/** Returns the saved programs by name, and the files that cannot be read. */
export async function listPrograms(
  home: ProgramsHome,
): Promise<{ readonly programs: readonly SavedProgram[]; readonly damaged: readonly string[] }> {
  const names = await savedNames(home);
  const read = await Promise.all(names.map((name) => readSaved(home, name)));
  return {
    programs: read.filter((program) => program !== undefined),
    damaged: names.filter((_, at) => read[at] === undefined).map((name) => savedFile(home, name)),
  };
}

/** @throws PlugboardError USAGE if there is none with this name, CONFIG_INVALID if its file is damaged. */
export async function findProgram(home: ProgramsHome, name: string): Promise<SavedProgram> {
  await requireSaved(home, name);
  const program = await readSaved(home, name);
  if (program !== undefined) return program;
  throw new PlugboardError('CONFIG_INVALID', `${savedFile(home, name)} is not a saved program`, {
    hint: `Save it again, or remove it with plugboard program remove ${name}.`,
  });
}

/** @throws PlugboardError USAGE if there is none with this name. */
export async function removeProgram(home: ProgramsHome, name: string): Promise<void> {
  await requireSaved(home, name);
  await rm(savedFile(home, name), { force: true });
}

export function savedFile(home: ProgramsHome, name: string): string {
  return join(folderOf(home), `${name}${ENDING}`);
}

function folderOf({ dir }: ProgramsHome): string {
  return join(dir, FOLDER);
}

async function requireSaved(home: ProgramsHome, name: string): Promise<void> {
  const names = await savedNames(home);
  if (names.includes(name)) return;
  const close = nearest(name, names);
  throw new PlugboardError('USAGE', `There is no saved program ${JSON.stringify(name)}`, {
    hint:
      close.length > 0
        ? `Did you mean ${close.join(' or ')}?`
        : 'Run plugboard program list to see all of them; write a file as a path, such as ./report.ts.',
  });
}

async function savedNames(home: ProgramsHome): Promise<readonly string[]> {
  const files = await readdir(folderOf(home)).catch((cause: unknown): string[] => {
    if (errorCode(cause) === 'ENOENT') return [];
    throw new PlugboardError(
      'CONFIG_INVALID',
      `${folderOf(home)} cannot be read (${errorCode(cause) ?? 'unknown reason'})`,
      { cause, hint: 'Check the permissions of the folder.' },
    );
  });
  return files
    .filter((file) => file.endsWith(ENDING))
    .map((file) => file.slice(0, -ENDING.length))
    .filter(isProgramName)
    .sort();
}

async function readSaved(home: ProgramsHome, name: string): Promise<SavedProgram | undefined> {
  const text = await readFile(savedFile(home, name), 'utf8').catch(() => '');
  const { code, description, input, savedAt } = parseRecord(text) ?? {};
  if (typeof code !== 'string' || typeof savedAt !== 'string') return undefined;
  return {
    name,
    ...defined({
      description: typeof description === 'string' ? description : undefined,
      input: isRecord(input) ? input : undefined,
    }),
    code,
    savedAt,
  };
}

function bounded(text: string, what: string, max: number): string {
  if (text.length <= max) return text;
  throw new PlugboardError('LIMIT_EXCEEDED', `${what} has ${text.length} characters; the limit is ${max}`, {
    hint: 'Make it shorter.',
  });
}
