/** Git settings that prevent a repository from running programs. */

/** A key and its value. */
export type ConfigEntry = readonly [key: string, value: string];

export interface ScopedEntry {
  /** `local` and `worktree` are the repository's own scopes. */
  readonly scope: string;
  readonly key: string;
  readonly value: string;
}

/** Always applied; flags of single commands add to it. */
export const SAFE_CONFIG: readonly ConfigEntry[] = [
  ['core.fsmonitor', 'false'],
  ['core.hooksPath', '/dev/null'],
  ['core.pager', 'cat'],
  ['core.alternateRefsCommand', ''],
  ['core.quotePath', 'false'],
  ['color.ui', 'false'],
  ['diff.external', ''],
  // Never inspect a nested repository: git would run programs that its settings name.
  ['diff.ignoreSubmodules', 'dirty'],
  ['gc.auto', '0'],
  ['maintenance.auto', 'false'],
  ['log.showSignature', 'false'],
  ['protocol.allow', 'never'],
  ['safe.bareRepository', 'explicit'],
  ['status.submoduleSummary', 'false'],
  ['submodule.recurse', 'false'],
];

/** Keys that name a program which status, diff, add or commit would run, and their defaults. */
const PROGRAM_KEYS: readonly (readonly [pattern: RegExp, fallback: string])[] = [
  [/^filter\..*\.(clean|smudge|process)$/s, ''],
  [/^filter\..*\.required$/s, 'false'],
  [/^diff\..*\.(textconv|command)$/s, ''],
  [/^gpg\.program$/, 'gpg'],
  [/^gpg\.openpgp\.program$/, 'gpg'],
  [/^gpg\.x509\.program$/, 'gpgsm'],
  [/^gpg\.ssh\.program$/, 'ssh-keygen'],
  [/^gpg\.ssh\.defaultkeycommand$/, ''],
  [/^hook\..*\.(command|event)$/s, ''],
  [/^hook\..*\.enabled$/s, 'false'],
  [/^trailer\..*\.(command|cmd)$/s, ''],
  [/^gc\.recentobjectshook$/, ''],
];

const OF_REPOSITORY: ReadonlySet<string> = new Set(['local', 'worktree']);

/** True for settings that disable hooks. */
export function isHookSetting(key: string): boolean {
  return key === 'core.hooksPath' || key.startsWith('hook.');
}

/** Parses the output of `git config --null --show-scope --list`: scope, NUL, key, LF, value, NUL. */
export function parseConfigList(text: string): readonly ScopedEntry[] {
  const words = text.split('\0');
  const entries: ScopedEntry[] = [];
  for (let at = 0; at + 1 < words.length; at += 2) {
    const [key = '', ...value] = (words[at + 1] ?? '').split('\n');
    entries.push({ scope: words[at] ?? '', key, value: value.join('\n') });
  }
  return entries;
}

/** Returns the user's or system's value for each program that the repository sets. */
export function ownPrograms(entries: readonly ScopedEntry[]): readonly ConfigEntry[] {
  const named = new Set(entries.filter(({ scope }) => OF_REPOSITORY.has(scope)).map(({ key }) => key));
  return [...named].flatMap((key): readonly ConfigEntry[] => {
    const rule = PROGRAM_KEYS.find(([pattern]) => pattern.test(key));
    if (rule === undefined) return [];
    const own = entries.findLast((entry) => entry.key === key && !OF_REPOSITORY.has(entry.scope));
    return [[key, own?.value ?? rule[1]]];
  });
}
