/** Checks the options of `createHost` and `host.session` that plain JavaScript can get wrong. */

import { isLogLevel, LOG_LEVELS } from './connection/log-levels.ts';
import { PlugboardError } from './errors.ts';
import type { HostOptions } from './host-options.ts';
import { faultOfRoots, ROOTS_HINT } from './host-roots.ts';
import { isRecord } from './lib/json-rpc.ts';
import { nearest } from './lib/nearest.ts';
import { sandboxOf } from './transport/sandbox.ts';

/** Undefined if a value fits, else what is expected in its place. */
type Check = (value: unknown) => string | undefined;

const anything: Check = () => undefined;
const callable: Check = (value) => (typeof value === 'function' ? undefined : 'a function');
const flag: Check = (value) => (typeof value === 'boolean' ? undefined : 'true or false');
const text: Check = (value) => (typeof value === 'string' && value !== '' ? undefined : 'a text');
const object: Check = (value) => (isRecord(value) ? undefined : 'an object');

function oneOf(...values: readonly string[]): Check {
  const expected = new Intl.ListFormat('en', { type: 'disjunction' }).format(
    values.map((value) => JSON.stringify(value)),
  );
  return (value) => (values.some((each) => each === value) ? undefined : expected);
}

const credentials: Check = (value) => {
  const has = (name: string): boolean => isObject(value) && typeof Reflect.get(value, name) === 'function';
  return ['get', 'set', 'delete'].every(has) ? undefined : 'an object with the functions get, set and delete';
};

/** Also an object of a class, such as a store of a database. */
function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

/** A positive share of the window in percent may follow `auto`. */
const toolSearch: Check = (value) => {
  const fits = typeof value === 'boolean' || (typeof value === 'string' && /^auto(?::\d+)?$/.test(value));
  return fits ? undefined : 'true, false, "auto" or "auto:N" with N as a percentage';
};

const model: Check = (value) => {
  if (!isRecord(value)) return 'an object';
  const { contextTokens } = value;
  const fits = contextTokens === undefined || (typeof contextTokens === 'number' && contextTokens > 0);
  return fits ? undefined : 'an object whose "contextTokens" is a positive number';
};

/** A function is asked each time; its answers are checked then. */
const roots: Check = (value) => {
  if (typeof value === 'function') return undefined;
  return Array.isArray(value)
    ? faultOfRoots(value)
    : 'a list of { uri, name? }, or a function that returns one';
};

const sandbox: Check = (value) => {
  try {
    sandboxOf(value);
    return undefined;
  } catch {
    return '"strict", or an object with "filesystem" and "network" as in an entry';
  }
};

const names: Check = (value) =>
  Array.isArray(value) && value.every((name) => typeof name === 'string') ? undefined : 'a list of names';

const CHECKS = {
  cwd: text,
  home: (value) => (value === false || text(value) === undefined ? undefined : 'a path, or false'),
  outputs: text,
  configuration: flag,
  servers: object,
  builtIn: callable,
  builtInList: callable,
  approve: callable,
  input: callable,
  approvals: oneOf('enforce', 'client'),
  forModel: flag,
  canBeAsked: callable,
  elicit: callable,
  elicitation: oneOf('ask', 'never'),
  sample: callable,
  sampling: anything,
  roots,
  sessions: object,
  manyAgents: flag,
  daemon: flag,
  openUrl: callable,
  fetch: callable,
  credentials,
  naming: oneOf('mcp__', 'short', 'plain'),
  toolSearch,
  resourceTools: flag,
  searchModel: anything,
  model,
  telemetry: anything,
  sandbox,
  sandboxState: anything,
  watch: flag,
  only: names,
  connect: oneOf('lifecycle', 'all', 'none', 'unknown'),
  log: callable,
  logLevel: (value) => (isLogLevel(value) ? undefined : oneOf(...LOG_LEVELS)(value)),
  openTransport: callable,
  replaceTransport: callable,
  env: object,
  clock: object,
  config: anything,
  idPrefix: anything,
  borrow: anything,
  closed: anything,
} satisfies Record<keyof HostOptions, Check>;

const toolSubset: Check = (value) => {
  const lists = isRecord(value) ? [value['servers'], value['include'], value['exclude']] : [null];
  const fits = lists.every((list) => list === undefined || names(list) === undefined);
  return fits ? undefined : 'an object with lists of names: "servers", "include", "exclude"';
};

const SESSION_CHECKS: Readonly<Record<string, Check>> = { ...CHECKS, tools: toolSubset };

/** Hints for values that people give most often. */
const HINTS: Readonly<Record<string, string>> = {
  roots: ROOTS_HINT,
};

/** Throws CONFIG_INVALID for a value that has no meaning, and for a name that is a slip of another. */
export function checkHostOptions(options: Readonly<Record<string, unknown>>, where = 'createHost'): void {
  const known: Readonly<Record<string, Check>> = where === 'createHost' ? CHECKS : SESSION_CHECKS;
  for (const [name, value] of Object.entries(options)) {
    if (value === undefined) continue;
    const check = Object.hasOwn(known, name) ? known[name] : undefined;
    const expected = check?.(value);
    if (expected !== undefined) {
      throw new PlugboardError('CONFIG_INVALID', `${where}: "${name}" must be ${expected}`, {
        hint: HINTS[name] ?? `It is ${shown(value)}.`,
      });
    }
    const [meant] =
      check === undefined && !OF_SESSIONS.has(name) ? nearest(name, Object.keys(CHECKS), 1) : [];
    if (meant !== undefined) {
      throw new PlugboardError('CONFIG_INVALID', `${where}: "${name}" is not an option`, {
        hint: `Did you mean "${meant}"?`,
      });
    }
  }
}

/** Options of `host.session()` that a host has not. */
const OF_SESSIONS: ReadonlySet<string> = new Set(['stateOf', 'gateway', 'memory']);

/** The type alone for what may be large or secret. */
function shown(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value.slice(0, 40));
  return typeof value === 'number' || typeof value === 'boolean' || value === null
    ? String(value)
    : `of type ${Array.isArray(value) ? 'array' : typeof value}`;
}
