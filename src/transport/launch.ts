/** Describes the process that an entry would start, and compares two sessions to decide whether they can share it. */

import type { ServerSpec, StdioEntry } from '../config/entry.ts';
import { lockDigest } from '../config/lock-digest.ts';
import { canonicalJson } from '../lib/canonical-json.ts';
import { findPrograms } from '../lib/find-program.ts';
import { isCertificateVariable, serverEnvironment } from './server-environment.ts';
import { chosenFolder, privateName } from './start-folder.ts';

/**
 * Variables that agents do not always pass on, and that only affect where a program finds its files, its language or
 * its screen. A session without one can use a process that has it; two different values cannot share.
 */
const OPTIONAL =
  /^(?:BROWSER|DBUS_SESSION_BUS_ADDRESS|XDG_.*|DISPLAY|WAYLAND_DISPLAY|XAUTHORITY|SHELL|USER|LOGNAME|LANG|LANGUAGE|LC_.*|TZ|TMPDIR|TEMP|TMP|npm_config_(?:cache|prefix|userconfig)|NVM_.*|FNM_.*|VOLTA_HOME|ASDF_.*|MISE_.*|PNPM_HOME|BUN_INSTALL|DENO_DIR|PYENV_ROOT|UV_.*|CARGO_HOME|PLAYWRIGHT_BROWSERS_PATH|__CF_USER_TEXT_ENCODING)$/i;
/** Whether a variable belongs to the machine and not to one session: optional variables and certificates. */
export function isAmbient(name: string): boolean {
  return OPTIONAL.test(name) || isCertificateVariable(name);
}

/** Terminal settings: a server has no terminal. */
const IGNORED: ReadonlySet<string> = new Set(['TERM', 'COLORTERM']);

type Environment = Readonly<Record<string, string | undefined>>;

export interface Launch {
  /** The program, and its interpreter if it has one; undefined if the search path does not contain it. */
  readonly programs: readonly (string | undefined)[];
  readonly args: readonly string[];
  /** The working folder; for a private folder, its name. */
  readonly cwd: string;
  readonly sandbox: unknown;
  /** The hash of the lock; undefined without one. */
  readonly lock: string | undefined;
  readonly env: Environment;
}

/** `entry`: with its variables expanded. */
export function launchOf(spec: ServerSpec, entry: StdioEntry, env: Environment): Launch {
  const child = serverEnvironment(spec, entry, env);
  // The programs found through the search path are compared, not the path itself.
  const { PATH = '', ...rest } = child;
  const fixed = entry.env?.['PATH'] === undefined && entry.inheritEnv !== true ? rest : child;
  return {
    programs: findPrograms(entry.command, PATH),
    args: entry.args ?? [],
    cwd: chosenFolder(spec, entry) ?? privateName(spec),
    sandbox: entry.sandbox,
    lock: spec.lock?.kind === 'locked' ? lockDigest(spec.lock.server) : undefined,
    env: fixed,
  };
}

/**
 * Returns the reasons why two sessions cannot share a process: `program`, `arguments`, `folder`, `sandbox`, `lock`, or
 * names of variables.
 */
export function differences(a: Launch, b: Launch): readonly string[] {
  const parts: readonly (readonly [string, unknown, unknown])[] = [
    ['program', a.programs, b.programs],
    ['arguments', a.args, b.args],
    ['folder', a.cwd, b.cwd],
    ['sandbox', a.sandbox ?? null, b.sandbox ?? null],
    ['lock', a.lock ?? null, b.lock ?? null],
  ];
  return [
    ...parts.flatMap(([name, left, right]) => (canonicalJson(left) === canonicalJson(right) ? [] : [name])),
    ...environmentDifferences(a.env, b.env),
  ];
}

/** Returns the sorted names of variables that differ for a server. */
export function environmentDifferences(a: Environment, b: Environment): readonly string[] {
  const names = new Set([...Object.keys(a), ...Object.keys(b)]);
  return [...names]
    .filter((name) => {
      if (a[name] === b[name] || IGNORED.has(name)) return false;
      return !OPTIONAL.test(name) || (a[name] !== undefined && b[name] !== undefined);
    })
    .sort();
}

/** Adds the missing optional variables to `env`: a process that starts later has those of all its sessions. */
export function addOptional(env: Record<string, string | undefined>, more: Environment): void {
  for (const [name, value] of Object.entries(more)) if (OPTIONAL.test(name)) env[name] ??= value;
}
