/** Decides which servers need the user's approval before they run (POL-2, A10, A24). */

import { basename, isAbsolute } from 'node:path';
import { loadsCode } from '../config/code-variables.ts';
import { isInProcess, isRemote, type ServerSpec } from '../config/entry.ts';
import { isForEveryProject, isForeign } from '../config/scopes.ts';

export function needsConsent(spec: ServerSpec): boolean {
  return isForeign(spec) || runsInProject(spec) || isUnapproved(spec);
}

/** True for the user's own entry that was written over the management API (A31). */
export function isUnapproved(spec: Pick<ServerSpec, 'scope' | 'entry'>): boolean {
  return !isForeign(spec) && spec.entry.unapproved === true;
}

/** True for a user or managed entry that runs, or may run, in or from the current project. It is approved per folder. */
export function runsInProject(spec: Pick<ServerSpec, 'scope' | 'entry'>): boolean {
  return isForEveryProject(spec) && (takesCodeFromProject(spec) || folderInVariable(spec) !== undefined);
}

/**
 * Returns the `cwd` of an entry for which `runsInProject` is true only because the folder is in a variable, which may
 * name the project; undefined for all others.
 */
export function folderInVariable(spec: Pick<ServerSpec, 'entry'>): string | undefined {
  const { entry } = spec;
  if (isRemote(entry) || isInProcess(entry) || takesCodeFromProject(spec)) return undefined;
  const { cwd } = entry;
  return cwd !== undefined && isInProject(cwd) ? cwd : undefined;
}

function takesCodeFromProject({ entry }: Pick<ServerSpec, 'entry'>): boolean {
  if (isRemote(entry)) return refersToProject(entry.headersHelper ?? '');
  if (isInProcess(entry)) return false;
  const { command, args = [], env = {}, cwd } = entry;
  if (cwd !== undefined && isInProject(cwd) && !beginsWithOtherVariable(cwd)) return true;
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

/** True if the folder itself is passed as data; paths below it may be code. */
function isProjectItself(text: string): boolean {
  return /^(?:--?[\w-]+=)?\$\{PROJECT_DIR\}[\\/]?(?::[^$]*)?$/.test(text);
}

function beginsWithOtherVariable(cwd: string): boolean {
  return cwd.startsWith('${') && !refersToProject(cwd);
}

/** True unless the path is the same folder in every project. */
function isInProject(cwd: string): boolean {
  return !isAbsolute(cwd) && !/^(?:\$\{(?:HOME|USERPROFILE|XDG_\w+)(?::-[^}]*)?\}|~)(?:[\\/]|$)/.test(cwd);
}

function refersToProject(text: string): boolean {
  return /\$\{(?:PROJECT_DIR|PWD|OLDPWD|INIT_CWD)\b|PLUGBOARD_PROJECT_DIR/.test(text);
}

/** Programs whose first arguments decide which code runs, and how many of those are not options. */
const RUNNERS: readonly (readonly [RegExp, number])[] = [
  [
    /^(?:node|nodejs|tsx|ts-node|python[\d.]*|ruby|perl|php|java|(?:ba|z|da|k|fi)?sh|pwsh|make|gmake|just|task|npx|bunx|uvx)$/,
    1,
  ],
  [/^(?:npm|pnpm|pnpx|yarn|bun|deno|uv|pipx|poetry|go|cargo|dotnet|gradle|mvn|docker|podman)$/, 2],
];
/** Programs that run another program: none of their arguments is certainly data. */
const WRAPPERS =
  /^(?:env|nice|ionice|nohup|timeout|time|stdbuf|setsid|sudo|doas|su|xargs|exec|command|busybox|strace|script|unbuffer|tini|dumb-init|catchsegv|chroot|unshare|bwrap|firejail|systemd-run|flatpak|snap|nix|nix-shell|direnv|mise|asdf|volta|fnm|nvm|conda|mamba|pyenv|rbenv|op|doppler|infisical|dotenv|cross-env|concurrently|nodemon|watchexec|entr|tmux|screen|ssh|wsl|cmd|powershell)$/;

/** Returns the arguments that are data for the program; those before them decide which code runs. */
function dataWords(command: string, args: readonly string[]): readonly string[] {
  const program = basename(command).replace(/\.(?:cmd|exe|bat)$/i, '');
  if (WRAPPERS.test(program)) return [];
  let left = RUNNERS.find(([names]) => names.test(program))?.[1] ?? 0;
  const isShell = /sh$/.test(program);
  let at = 0;
  for (; at < args.length && left > 0; at += 1) if (!args[at]?.startsWith('-')) left -= 1;
  // Arguments after a shell's command are controlled by that command.
  return isShell && args.some((arg) => /^-\w*c\w*$/.test(arg)) ? [] : args.slice(at);
}
