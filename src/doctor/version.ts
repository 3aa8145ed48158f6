/** Checks whether an entry that downloads its program pins a version: otherwise a later start may run other code. */

import { isStdio } from '../config/entry.ts';
import type { Check, CheckedServer } from './check.ts';

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

export function checkVersion({ spec, entry }: CheckedServer): Check | undefined {
  if (entry === undefined || !isStdio(entry)) return undefined;
  const wanted = packageOf(entry.command, entry.args ?? []);
  if (wanted === undefined) return undefined;
  const base = { id: 'version', server: spec.name } as const;
  if (wanted.isPinned) return { ...base, ok: true, message: `It runs ${wanted.name}` };
  return {
    ...base,
    ok: false,
    message: `${wanted.name} is not pinned to a version`,
    hint: `Pin the version you reviewed: ${wanted.example}`,
  };
}

interface Wanted {
  readonly name: string;
  readonly isPinned: boolean;
  readonly example: string;
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
    return { name, isPinned, example: `${name.replace(/@latest$/, '')}@<version>` };
  }
  const isPinned = /.@v?\d+\.\d+\.\d+/.test(name);
  return { name, isPinned, example: `${name.replace(/(.)@.*$/, '$1')}@<version>` };
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
