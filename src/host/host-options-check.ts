/** Validates the options of `createHost` and `host.session` that plain JavaScript can get wrong. */

import { validBudgets } from '../config/config-keys.ts';
import { isLogLevel, LOG_LEVELS } from '../connection/log-levels.ts';
import type { Questioned, Root } from '../connection/questions.ts';
import { asPlugboardError, PlugboardError } from '../errors.ts';
import { isRecord } from '../lib/json.ts';
import { RPC_METHOD_NOT_FOUND } from '../lib/json-rpc.ts';
import { type Check, callable, checkOptions, fields, flag, oneOf, positive } from '../lib/option-check.ts';
import { sandboxOf } from '../transport/sandbox.ts';
import type { HostOptions } from './host-options.ts';

const ROOTS_HINT = 'pathToFileURL(folder).href of node:url makes one of a path.';

const anything: Check = () => undefined;
const text: Check = (value) => (typeof value === 'string' && value !== '' ? undefined : 'a text');
const object: Check = (value) => (isRecord(value) ? undefined : 'an object');

const bytes: Check = (value) => (value instanceof Uint8Array ? undefined : 'a Uint8Array');

/** Also accepts an instance of a class, such as a database store. */
function withFunctions(expected: string, ...names: readonly string[]): Check {
  const fits = (value: unknown): boolean =>
    typeof value === 'object' &&
    value !== null &&
    names.every((name) => typeof Reflect.get(value, name) === 'function');
  return (value) => (fits(value) ? undefined : `an object with the functions ${expected}`);
}

const clock = withFunctions('now and after', 'now', 'after');
const credentials = withFunctions('get, set and delete', 'get', 'set', 'delete');

const stateOf: Check = (value) => {
  const principal = isRecord(value) ? value['principal'] : undefined;
  return value === 'session' || (typeof principal === 'string' && principal !== '')
    ? undefined
    : '"session" or { principal }';
};

/** `auto` may be followed by a positive percentage of the context window. */
const toolSearch: Check = (value) => {
  const fits = typeof value === 'boolean' || (typeof value === 'string' && isAuto(value));
  return fits ? undefined : 'true, false, "auto" or "auto:N" with N as a percentage';
};

function isAuto(value: string): boolean {
  const share = /^auto(?::(\d+(?:\.\d+)?))?$/.exec(value);
  return share !== null && Number(share[1] ?? 0) <= 100;
}

const limits = fields({
  cpuMs: positive,
  wallMs: positive,
  memoryMb: positive,
  calls: positive,
  parallel: positive,
  outputTokens: positive,
  storedKb: positive,
  descriptionTokens: positive,
  keepHours: positive,
  durable: flag,
});

const codeMode: Check = (value) => (typeof value === 'boolean' ? undefined : limits(value));

const model = fields({ contextTokens: positive, images: flag, audio: flag });
const sampling = fields({ tools: flag, context: flag });

/** A function is called each time; its results are validated then. */
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
  sampling,
  roots,
  sessions: fields({ elicit: callable, sample: callable, sampling, roots }),
  manyAgents: flag,
  daemon: flag,
  openUrl: callable,
  fetch: callable,
  credentials,
  naming: oneOf('mcp__', 'short', 'plain'),
  toolSearch,
  definitions: oneOf('full', 'compact'),
  codeMode,
  resourceTools: flag,
  searchModel: bytes,
  model,
  telemetry: flag,
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
  clock,
  config: anything,
  idPrefix: anything,
  borrow: anything,
  headStart: anything,
  closed: anything,
  budgetBook: anything,
  sharedCounters: anything,
} satisfies Record<keyof HostOptions, Check>;

/** A misspelt budget would not limit anything. */
const budgets: Check = (value) => {
  const fits =
    isRecord(value) &&
    text(value['principal']) === undefined &&
    Array.isArray(value['budgets']) &&
    validBudgets(value['budgets']).length === value['budgets'].length;
  return fits ? undefined : '{ principal, budgets: [{ calls or resultTokens, per, server?, tool? }] }';
};

const SUBSET_KEYS = ['servers', 'include', 'exclude'];

/** Rejects unknown keys: a misspelled key would drop a restriction. */
const toolSubset: Check = (value) => {
  const fits =
    isRecord(value) &&
    Object.entries(value).every(
      ([key, list]) => SUBSET_KEYS.includes(key) && (list === undefined || names(list) === undefined),
    );
  return fits
    ? undefined
    : 'an object with lists of names: "servers", "include", "exclude", and no other keys';
};

const SESSION_CHECKS: Readonly<Record<string, Check>> = {
  ...CHECKS,
  tools: toolSubset,
  stateOf,
  gateway: flag,
  client: text,
  profile: text,
  deduplicate: flag,
  memory: anything,
  budgets,
};

/** Hints for the most common wrong values. */
const HINTS: Readonly<Record<string, string>> = {
  roots: ROOTS_HINT,
  tools: 'Check the spelling of its keys, and that each has a list.',
};

/**
 * Throws CONFIG_INVALID for an invalid value, and for a name that is probably misspelled. Returns the unknown names,
 * which have no effect.
 */
export function checkHostOptions(options: unknown, where = 'createHost'): readonly string[] {
  return checkOptions(options, where === 'createHost' ? CHECKS : SESSION_CHECKS, where, HINTS);
}

type Roots = Questioned['roots'];

/** Returns undefined if a value is a list of roots, else a description of the expected value. */
function faultOfRoots(value: unknown): string | undefined {
  if (!Array.isArray(value)) return 'a list of { uri, name? }';
  const wrong = value.find((root) => !isRecord(root) || !isFileUri(root['uri']));
  if (wrong === undefined) return undefined;
  const uri =
    isRecord(wrong) && typeof wrong['uri'] === 'string'
      ? ` (${JSON.stringify(wrong['uri'])} is not one)`
      : '';
  return `a list of { uri, name? } with file: addresses${uri}`;
}

/**
 * Returns the same roots; a function's results are validated, and an invalid result is reported and not sent.
 *
 * @param report called with the server that asked and the reason.
 */
export function checkedRoots(roots: Roots, report: (server: string, message: string) => void): Roots {
  if (typeof roots !== 'function') return roots;
  return async (request): Promise<readonly Root[]> => {
    const { server } = request;
    try {
      const given: unknown = await roots(request);
      const expected = faultOfRoots(given);
      // `faultOfRoots` has validated it.
      if (expected === undefined) return given as readonly Root[];
      const message = `roots() must return ${expected}`;
      throw new PlugboardError('CONFIG_INVALID', message, { server, hint: ROOTS_HINT });
    } catch (thrown) {
      const { message, code, detail } = asPlugboardError(thrown);
      // This error code is the way to respond that roots are not supported.
      if (detail.rpcCode !== RPC_METHOD_NOT_FOUND)
        report(server, code === 'CONFIG_INVALID' ? message : `roots() failed: ${message}`);
      throw thrown;
    }
  };
}

function isFileUri(uri: unknown): boolean {
  return typeof uri === 'string' && URL.canParse(uri) && new URL(uri).protocol === 'file:';
}
