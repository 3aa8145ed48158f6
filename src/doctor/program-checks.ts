/** Checks of the program that a server's entry starts, without starting it: whether it exists and is pinned to a version. */

import { statSync } from 'node:fs';
import { delimiter, join, resolve } from 'node:path';
import { isStdio, type ServerSpec, type StdioEntry } from '../config/entry.ts';
import { usableLock } from '../config/lock-file.ts';
import { counted } from '../lib/counted.ts';
import { isExecutable } from '../lib/find-program.ts';
import { shellWord } from '../lib/shell-word.ts';
import { serverEnvironment } from '../transport/server-environment.ts';
import { chosenFolder, privateName } from '../transport/start-folder.ts';
import type { Check, CheckedServer } from './check.ts';

/** Install hints for the launchers used by most entries. */
const INSTALL: Readonly<Record<string, string>> = {
  npx: 'It comes with Node: install Node, or give the full path of npx.',
  node: 'Install Node, or give its full path.',
  uvx: 'It comes with uv: see https://docs.astral.sh/uv for how to install it.',
  uv: 'See https://docs.astral.sh/uv for how to install it.',
  docker: 'Install Docker and start it.',
  bunx: 'It comes with Bun: see https://bun.sh for how to install it.',
  deno: 'See https://deno.com for how to install it.',
  python: 'Install Python 3; many systems call it python3.',
  python3: 'Install Python 3.',
  pipx: 'Install pipx with your system’s package manager.',
};
const MAX_FOLDERS_SHOWN = 8;

/** Checks whether the program that a server's entry names exists, without starting it. */
export function checkCommand({ spec, entry, context }: CheckedServer): Check | undefined {
  if (entry === undefined || !isStdio(entry)) return undefined;
  const { command } = entry;
  const base = { id: 'command', server: spec.name } as const;
  const cwd = chosenFolder(spec, entry) ?? join(context.home.folders, privateName(spec));
  if (/[\\/]/.test(command)) {
    const file = resolve(cwd, command);
    if (isProgram(file)) return { ...base, ok: true, message: `Command found: ${file}` };
    if (isFile(file)) {
      const hint = 'Make it executable (chmod +x), or name its interpreter as "command".';
      return { ...base, ok: false, message: `${file} is not executable`, hint };
    }
    return {
      ...base,
      ok: false,
      message: `There is no program at ${file}`,
      hint: 'Correct the path in "command": write an absolute one, or ${PROJECT_DIR}/… for a program of the project.',
    };
  }
  const path = serverEnvironment(spec, entry, context.env)['PATH'] ?? '';
  const folders = [...new Set(path.split(delimiter))].filter((folder) => folder !== '');
  const found = folders.map((folder) => join(folder, command)).find(isProgram);
  if (found !== undefined) return { ...base, ok: true, message: `Command found: ${found}` };
  const shown = folders.slice(0, MAX_FOLDERS_SHOWN).join(', ') || 'no folder: its PATH is empty';
  return {
    ...base,
    ok: false,
    message: `"${command}" was not found; looked in ${shown}`,
    hint: INSTALL[command] ?? `Install ${command}, or give its full path as "command".`,
  };
}

function isProgram(file: string): boolean {
  // Windows adds file extensions to a program's name; checking the name alone would report every program as missing.
  if (process.platform === 'win32')
    return ['', '.exe', '.cmd', '.bat'].some((ending) => isFile(file + ending));
  return isExecutable(file);
}

function isFile(file: string): boolean {
  return statSync(file, { throwIfNoEntry: false })?.isFile() === true;
}

/** Launchers for npm packages, with the arguments that precede the package. */
const NPM: Readonly<Record<string, readonly string[]>> = {
  npx: [],
  bunx: [],
  pnpm: ['dlx'],
  yarn: ['dlx'],
  npm: ['exec'],
  bun: ['x'],
};
const PYTHON: Readonly<Record<string, readonly string[]>> = { uvx: [], pipx: ['run'], uv: ['tool', 'run'] };

/** Checks whether an entry that downloads its program pins a version: otherwise a later start may run other code. */
export function checkVersion({ spec, entry }: CheckedServer): Check | undefined {
  if (entry === undefined || !isStdio(entry)) return undefined;
  const wanted = packageOf(entry.command, entry.args ?? []);
  if (wanted === undefined) return undefined;
  const base = { id: 'version', server: spec.name } as const;
  if (spec.lock !== undefined) return { ...base, ...lockState(spec, entry) };
  if (wanted.isPinned) return { ...base, ok: true, message: `It runs ${wanted.name}` };
  return {
    ...base,
    ok: false,
    message: `${wanted.name} is not pinned to a version`,
    hint: wanted.isNpm
      ? `Lock the version you reviewed: plugboard lock ${shellWord(spec.name)}`
      : `Pin the version you reviewed: ${wanted.example}`,
  };
}

/** Reports the lock of a server; its files are compared when it starts. */
function lockState(spec: ServerSpec, entry: StdioEntry): Pick<Check, 'ok' | 'message' | 'hint'> {
  const { lock } = spec;
  const usable = usableLock(spec, entry);
  if (usable !== undefined) {
    const count = counted(Object.keys(usable.packages).length, 'package');
    return { ok: true, message: `It is locked to ${usable.package} ${usable.version} with ${count}` };
  }
  const why = lock?.kind === 'invalid' ? lock.reason : 'Its lock is for another package or version';
  const fileHint = lock?.kind === 'invalid' ? lock.fileHint : undefined;
  return {
    ok: false,
    message: why,
    hint: fileHint ?? `Lock it again: plugboard lock ${shellWord(spec.name)}`,
  };
}

interface Wanted {
  readonly name: string;
  readonly isPinned: boolean;
  readonly example: string;
  readonly isNpm: boolean;
}

/** Returns the package that a launcher would download; undefined for other programs and for local files. */
function packageOf(command: string, args: readonly string[]): Wanted | undefined {
  const launcher =
    command
      .split(/[\\/]/)
      .at(-1)
      ?.replace(/\.(?:cmd|exe)$/, '') ?? '';
  const lead = NPM[launcher] ?? PYTHON[launcher];
  if (lead === undefined || !lead.every((word, at) => args[at] === word)) return undefined;
  const name = firstPackage(args.slice(lead.length));
  if (name === undefined || /^[./~]|^(?:file|https?|git\+|git@)/.test(name)) return undefined;
  if (NPM[launcher] === undefined) {
    const isPinned = /(?:==|@)\d/.test(name);
    return { name, isPinned, example: `${name.replace(/@latest$/, '')}@<version>`, isNpm: false };
  }
  const isPinned = /.@v?\d+\.\d+\.\d+/.test(name);
  return { name, isPinned, example: `${name.replace(/(.)@.*$/, '$1')}@<version>`, isNpm: true };
}

/** Returns the value of `-p` or `--from`, else the first argument that is not a flag. */
function firstPackage(args: readonly string[]): string | undefined {
  for (let at = 0; at < args.length; at++) {
    const word = args[at] ?? '';
    if (word === '-p' || word === '--package' || word === '--from') return args[at + 1];
    const inline = /^--(?:package|from)=(.+)$/.exec(word)?.[1];
    if (inline !== undefined) return inline;
    if (!word.startsWith('-')) return word;
  }
  return undefined;
}
