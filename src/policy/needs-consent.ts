/** Which servers a person has to approve before anything of them runs (POL-2, A10, A24). */

import { basename, isAbsolute } from 'node:path';
import { loadsCode } from '../config/code-variables.ts';
import { isForeign, isStdio, type ServerSpec } from '../config/entry.ts';

export function needsConsent(spec: ServerSpec): boolean {
  return isForeign(spec) || runsInProject(spec) || isUnapproved(spec);
}

/** True for an entry of the person's own that was written over the management API (A31). */
export function isUnapproved(spec: Pick<ServerSpec, 'scope' | 'entry'>): boolean {
  return !isForeign(spec) && spec.entry.unapproved === true;
}

/**
 * True for a server of all projects whose entry says that it runs in, or out of, the project that the person is in.
 * It is approved once for each folder.
 */
export function runsInProject({ scope, entry }: Pick<ServerSpec, 'scope' | 'entry'>): boolean {
  if ((scope !== 'user' && scope !== 'managed') || !isStdio(entry)) return false;
  const { command, args = [], env = {}, cwd } = entry;
  return (
    (cwd !== undefined && isInProject(cwd)) ||
    refersToProject(command) ||
    codeWords(command, args).some(refersToProject) ||
    Object.entries(env).some(([name, value]) => loadsCode(name) && refersToProject(value))
  );
}

/** Only a path that names one folder on every day, whatever the person is in, is outside. */
function isInProject(cwd: string): boolean {
  return !isAbsolute(cwd) && !/^(?:\$\{(?:HOME|USERPROFILE|XDG_\w+)(?::-[^}]*)?\}|~)(?:[\\/]|$)/.test(cwd);
}

function refersToProject(text: string): boolean {
  return /\$\{(?:PROJECT_DIR|PWD|OLDPWD|INIT_CWD)\b|PLUGBOARD_PROJECT_DIR/.test(text);
}

/** Programs whose first arguments say which code runs, and how many of these are not options. */
const RUNNERS: readonly (readonly [RegExp, number])[] = [
  [
    /^(?:node|nodejs|tsx|ts-node|python[\d.]*|ruby|perl|php|java|(?:ba|z|da|k|fi)?sh|pwsh|make|gmake|just|task|npx|bunx|uvx|env)$/,
    1,
  ],
  [/^(?:npm|pnpm|pnpx|yarn|bun|deno|uv|pipx|poetry|go|cargo|dotnet|gradle|mvn)$/, 2],
];

/** The words of a command that decide which code runs; those after them are data. */
function codeWords(command: string, args: readonly string[]): readonly string[] {
  const program = basename(command).replace(/\.(?:cmd|exe|bat)$/i, '');
  let left = RUNNERS.find(([names]) => names.test(program))?.[1] ?? 0;
  const words: string[] = [];
  for (const word of args) {
    if (left === 0) break;
    words.push(word);
    if (!word.startsWith('-')) left -= 1;
  }
  return words;
}
