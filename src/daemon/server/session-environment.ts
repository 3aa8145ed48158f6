/** Selects the part of a session's environment that its servers can see, and compares two sessions by it. */

import { isStdio, type ServerSpec } from '../../config/entry.ts';
import { expandEntry } from '../../config/expand.ts';
import type { Home } from '../../config/home.ts';
import { partsOf } from '../../config/reference.ts';
import { findPrograms } from '../../lib/find-program.ts';
import { isRecord } from '../../lib/json.ts';
import { replaceFile } from '../../lib/locked-file.ts';
import { environmentDifferences, isAmbient } from '../../transport/launch.ts';
import { childEnvironment } from '../../transport/server-environment.ts';
import { ambientFile, readAmbient } from '../client/launch-daemon.ts';

/** Read by the host itself, or by programs that it starts for a login. */
const HOST_VARIABLES =
  /^PLUGBOARD_|^(?:ENABLE_TOOL_SEARCH|MAX_MCP_OUTPUT_TOKENS|BROWSER|DBUS_SESSION_BUS_ADDRESS)$/;

/** Specific to one process, or the same for all clients of a daemon. */
const LEFT_OUT: ReadonlySet<string> = new Set([
  'PLUGBOARD_DAEMON',
  'PLUGBOARD_OWNER',
  'PLUGBOARD_HOME',
  'PLUGBOARD_TOKEN',
  'PLUGBOARD_CLIENT_SECRET',
]);

type Specs = readonly Pick<ServerSpec, 'name' | 'raw' | 'entry' | 'baseDir' | 'variables'>[];

/**
 * Returns the variables that some server of this configuration receives or refers to. With `inheritEnv` or a
 * `headersHelper`, all of them. `env`: completed with values of other sessions; `own`: the session's own, which
 * entries refer to.
 */
export function visibleEnvironment(
  servers: Specs,
  env: NodeJS.ProcessEnv,
  own: NodeJS.ProcessEnv,
): NodeJS.ProcessEnv {
  const named = namedVariables(servers);
  const all = seesAll(servers);
  const passed = childEnvironment({}, env);
  return Object.fromEntries(
    Object.entries(env).filter(([name]) => {
      if (LEFT_OUT.has(name)) return false;
      if (all || named.has(name)) return name in own;
      return name in passed || HOST_VARIABLES.test(name);
    }),
  );
}

/**
 * Returns the names of variables that prevent two sessions from sharing one set of servers; empty if they can share.
 * Both environments are visible ones of these servers.
 */
export function sessionDifferences(
  servers: Specs,
  a: NodeJS.ProcessEnv,
  b: NodeJS.ProcessEnv,
): readonly string[] {
  const named = namedVariables(servers);
  // A variable that an entry names must be equal; of the others only those that affect a program.
  const strict = [...(seesAll(servers) ? new Set([...Object.keys(a), ...Object.keys(b)]) : named)].filter(
    (name) => a[name] !== b[name],
  );
  const loose = environmentDifferences(withoutPath(a), withoutPath(b));
  const found = new Set([...strict, ...loose]);
  if (!found.has('PATH') && a['PATH'] !== b['PATH'] && !findsTheSame(servers, a, b)) found.add('PATH');
  return [...found].sort();
}

/** True if every command of these servers is the same file on both search paths. */
function findsTheSame(servers: Specs, a: NodeJS.ProcessEnv, b: NodeJS.ProcessEnv): boolean {
  return servers.every((spec) => {
    if (!isStdio(spec.entry)) return true;
    const [left, right] = [a, b].map((env) =>
      findPrograms(commandOf(spec, env), env['PATH'] ?? '').join('\n'),
    );
    return left === right;
  });
}

function commandOf(spec: Specs[number], env: NodeJS.ProcessEnv): string {
  if (!isStdio(spec.entry)) return '';
  const { command } = spec.entry;
  if (!command.includes('${')) return command;
  try {
    // Only these parts of a spec are read.
    const entry = expandEntry({ ...spec, entry: { command } } as ServerSpec, env);
    return isStdio(entry) ? entry.command : '';
  } catch {
    return command; // A variable is missing: the server fails under both names.
  }
}

function withoutPath({ PATH: _path, ...rest }: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return rest;
}

function seesAll(servers: Specs): boolean {
  return servers.some(
    ({ entry }) => 'headersHelper' in entry || ('inheritEnv' in entry && entry.inheritEnv === true),
  );
}

/** Collects `${NAME}` anywhere, and every string that could be a name: `envVars`, `bearerTokenEnvVar`, grants. */
function namedVariables(servers: Specs): ReadonlySet<string> {
  const names = new Set<string>();
  for (const { raw } of servers) collectNames(raw, names);
  return names;
}

function collectNames(value: unknown, names: Set<string>): void {
  if (typeof value === 'string') {
    names.add(value);
    for (const part of partsOf(value)) if (part.kind === 'variable') names.add(part.name);
  } else if (Array.isArray(value)) {
    for (const item of value) collectNames(item, names);
  } else if (isRecord(value)) {
    for (const item of Object.values(value)) collectNames(item, names);
  }
}

const OWNER_ONLY = 0o600;
const MAX_VALUE_CHARS = 4_096;
/** An address that contains a user and a password is kept in memory only. */
const CREDENTIALS = /\/\/[^/]*@/;

/**
 * Fills in variables of the person's machine that every program expects: screen, locale, caches, certificates. Some
 * agents (Codex) pass few of them on. A session that lacks one gets the value of the last session that had it, so
 * that its servers work as they do for other agents, and are the same processes. Variables that entries refer to are
 * never filled in.
 */
export class AmbientEnvironment {
  readonly #file: string;
  readonly #known: Map<string, string>;

  constructor(home: Home) {
    this.#file = ambientFile(home);
    this.#known = new Map(Object.entries(readAmbient(home)).filter(([name]) => isAmbient(name)));
  }

  /** Returns the environment with missing variables filled in; its own values are remembered. */
  async complete(env: NodeJS.ProcessEnv): Promise<NodeJS.ProcessEnv> {
    let isNew = false;
    for (const [name, value] of Object.entries(env)) {
      if (value === undefined || !isAmbient(name) || value.length > MAX_VALUE_CHARS) continue;
      isNew ||= this.#known.get(name) !== value && !CREDENTIALS.test(value);
      this.#known.set(name, value);
    }
    if (isNew) await this.#save();
    return { ...Object.fromEntries(this.#known), ...env };
  }

  /** If the home is not writable, only the values of earlier sessions are lost. */
  async #save(): Promise<void> {
    const values = [...this.#known].filter(([, value]) => !CREDENTIALS.test(value));
    const text = `${JSON.stringify(Object.fromEntries(values), null, 2)}\n`;
    await replaceFile(this.#file, text, { mode: OWNER_ONLY }).catch(() => {});
  }
}
