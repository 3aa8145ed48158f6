/** Which servers a person has to approve before anything of them runs (POL-2, A10, A24). */

import { basename, isAbsolute } from 'node:path';
import { loadsCode } from '../config/code-variables.ts';
import { isForeign, isInProcess, isRemote, type ServerSpec } from '../config/entry.ts';

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
  if (scope !== 'user' && scope !== 'managed') return false;
  if (isRemote(entry)) return refersToProject(entry.headersHelper ?? '');
  if (isInProcess(entry)) return false;
  const { command, args = [], env = {}, cwd } = entry;
  if (cwd !== undefined && isInProject(cwd)) return true;
  if (![command, ...args, ...Object.values(env)].some(refersToProject)) return false;
  const data = dataWords(command, args);
  return (
    refersToProject(command) ||
    args.slice(0, args.length - data.length).some(refersToProject) ||
    data.some((word) => refersToProject(word) && !isProjectItself(word)) ||
    Object.entries(env).some(
      ([name, value]) => refersToProject(value) && (loadsCode(name) || !isProjectItself(value)),
    )
  );
}

/** The folder as data: what is below it may be code. */
function isProjectItself(text: string): boolean {
  return /^(?:--?[\w-]+=)?\$\{PROJECT_DIR\}[\\/]?(?::[^$]*)?$/.test(text);
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
    /^(?:node|nodejs|tsx|ts-node|python[\d.]*|ruby|perl|php|java|(?:ba|z|da|k|fi)?sh|pwsh|make|gmake|just|task|npx|bunx|uvx)$/,
    1,
  ],
  [/^(?:npm|pnpm|pnpx|yarn|bun|deno|uv|pipx|poetry|go|cargo|dotnet|gradle|mvn|docker|podman)$/, 2],
];
/** Programs that run another one: nothing after them is data for sure. */
const WRAPPERS =
  /^(?:env|nice|ionice|nohup|timeout|time|stdbuf|setsid|sudo|doas|su|xargs|exec|command|busybox|strace|script|unbuffer|tini|dumb-init|catchsegv|chroot|unshare|bwrap|firejail|systemd-run|flatpak|snap|nix|nix-shell|direnv|mise|asdf|volta|fnm|nvm|conda|mamba|pyenv|rbenv|op|doppler|infisical|dotenv|cross-env|concurrently|nodemon|watchexec|entr|tmux|screen|ssh|wsl|cmd|powershell)$/;

/** The words of a command that are data for a program of its own; those before them decide which code runs. */
function dataWords(command: string, args: readonly string[]): readonly string[] {
  const program = basename(command).replace(/\.(?:cmd|exe|bat)$/i, '');
  if (WRAPPERS.test(program)) return [];
  let left = RUNNERS.find(([names]) => names.test(program))?.[1] ?? 0;
  const isShell = /sh$/.test(program);
  let at = 0;
  for (; at < args.length && left > 0; at += 1) if (!args[at]?.startsWith('-')) left -= 1;
  // What follows the command of a shell is in its hands.
  return isShell && args.some((arg) => /^-\w*c\w*$/.test(arg)) ? [] : args.slice(at);
}
