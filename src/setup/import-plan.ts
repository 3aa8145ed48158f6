/** Plans an import: decides the action for each server of another agent before anything is written. */

import { join } from 'node:path';
import { takeClientSecret } from '../config/check-new-entry.ts';
import { describeEntry } from '../config/describe.ts';
import { readDocument } from '../config/document.ts';
import { type EditTarget, editTarget, serversPath } from '../config/edit-config.ts';
import type { ServerEntry } from '../config/entry.ts';
import type { Fault } from '../config/fault.ts';
import type { Found, FoundServer } from '../config/import/find.ts';
import type { Lost } from '../config/import/translation.ts';
import { inputIds } from '../config/inputs.ts';
import { type LoadedConfig, PROJECT_FILE } from '../config/load.ts';
import { parseEntry } from '../config/parse.ts';
import { dropPrivileges } from '../config/privileges.ts';
import { relativePathProblem, withAbsolutePaths } from '../config/relative-paths.ts';
import { EDITABLE_SCOPES, type EditableScope, isForeign } from '../config/scopes.ts';
import { withStoredValues } from '../config/variables.ts';
import { canonicalJson } from '../lib/canonical-json.ts';
import { isRecord, type JsonObject, valueAt } from '../lib/json.ts';
import { sentences } from '../lib/sentences.ts';
import { compare, type Difference } from '../policy/differences.ts';
import { blockingRule } from '../policy/managed-rules.ts';
import { secretValues } from '../policy/secret-values.ts';
import type { SetupContext } from './setup-context.ts';

/**
 * `add`: new. `replace`: a different server with this name is replaced. `same`: already present.
 * `keep`: a different server with this name is kept. `skip`: cannot be imported; `reason` has the cause.
 */
export type Action = 'add' | 'replace' | 'same' | 'keep' | 'skip';

export interface Planned {
  readonly found: FoundServer;
  readonly scope: EditableScope;
  readonly action: Action;
  readonly reason?: string;
  /** The entry to write, without a client's secret. */
  readonly raw: JsonObject;
  /** The same entry with its secrets hidden. */
  readonly shown: JsonObject;
  readonly clientSecret?: string;
  /** Differences from the present entry, with secrets hidden. */
  readonly changes: readonly Difference[];
  readonly lost: readonly Lost[];
  /** Notes for the person who approves the import. */
  readonly notes: readonly string[];
}

export interface PlanOptions {
  readonly scope: EditableScope | undefined;
  readonly overwrite: boolean;
}

export async function planImport(
  context: SetupContext,
  found: Found,
  config: LoadedConfig,
  options: PlanOptions,
): Promise<Planned[]> {
  const here = await readHere(context, config.projectRoot);
  const planned: Planned[] = [];
  for (const server of found.servers) planned.push(planOne(server, planned));
  return planned;

  /** Notes on entries with this name in other scopes, and on paths that will resolve differently. */
  function placeNotes({
    name,
    raw,
    entry,
    scope,
  }: Pick<Planned, 'raw' | 'scope'> & { name: string; entry: ServerEntry | undefined }): string[] {
    const at = EDITABLE_SCOPES.indexOf(scope);
    const has = (other: EditableScope): boolean => here.get(other)?.(name) !== undefined;
    const stronger = EDITABLE_SCOPES.slice(0, at).find(has);
    const weaker = EDITABLE_SCOPES.slice(at + 1).filter(has);
    const spec = entry && { name, scope, entry, raw, baseDir: config.projectRoot };
    const path = spec && relativePathProblem(spec);
    return [
      ...(stronger === undefined
        ? []
        : [`${name} in ${stronger} scope has precedence and is still used here.`]),
      ...(stronger !== undefined || weaker.length === 0
        ? []
        : [`It is used here instead of ${name} in ${weaker.join(' and ')} scope.`]),
      ...(path === undefined ? [] : [sentences(path.message, path.hint)]),
    ];
  }

  function planOne(server: FoundServer, before: readonly Planned[]): Planned {
    const scope = options.scope ?? server.scope;
    const { raw: given, secret } = takeClientSecret({ ...server.entry });
    const { raw: own, dropped } = isForeign(server) ? unprivileged(given) : { raw: given, dropped: [] };
    // Relative paths in this project's entries are resolved here; those of user scope depended on the agent's folder.
    const isHere = server.scope !== 'user' && !isForeign({ scope });
    const { raw } = isHere ? withAbsolutePaths(own, config.projectRoot) : { raw: own };
    const parsed = parseEntry(server.name, raw, scope);
    const weak = [...dropped, ...parsed.faults.filter(({ fatal }) => !fatal)];
    const plan = (action: Action, reason?: string, changes: readonly Difference[] = []): Planned => ({
      found: server,
      scope,
      action,
      ...(reason === undefined ? {} : { reason }),
      raw,
      shown: shown(raw, server.file),
      ...(secret === undefined ? {} : { clientSecret: secret }),
      changes,
      notes: WRITTEN.has(action)
        ? [
            ...notesOn(raw, parsed.entry, server),
            ...placeNotes({ name: server.name, raw, entry: parsed.entry, scope }),
          ]
        : [],
      lost: [...server.lost, ...weak.map(({ path, message }) => ({ key: path.join('.'), reason: message }))],
    });
    if (isForeign({ scope }) && server.file === join(config.projectRoot, PROJECT_FILE)) {
      return { ...plan('same', 'Plugboard reads this file itself.'), lost: [] };
    }
    if (isPlugboard(raw)) return plan('skip', 'It is Plugboard itself.');
    if (server.refused !== undefined) return plan('skip', server.refused);
    if (parsed.entry === undefined) {
      return plan('skip', (parsed.faults.find(({ fatal }) => fatal) ?? parsed.faults[0])?.message);
    }
    if (isForeign({ scope }) && holdsSecret(parsed.entry, secret)) return plan('skip', SECRET);
    const spec = { name: server.name, scope, entry: parsed.entry, raw, baseDir: config.projectRoot };
    const rule = blockingRule(spec, config.managed, context.env);
    if (rule !== undefined) return plan('skip', `It is blocked: ${rule}.`);

    const rival = before.find(
      (other) => other.found.name === server.name && other.scope === scope && WRITTEN.has(other.action),
    );
    if (rival !== undefined) {
      if (isSame(rival.raw, raw)) return plan('same', `${rival.found.agent.title} has the same.`);
      return plan('keep', `The one from ${rival.found.agent.title} is used.`, differences(rival.raw, raw));
    }
    const present = here.get(scope)?.(server.name);
    if (present === undefined) return plan('add');
    if (isSame(present, raw) || isStoredForm(present, raw)) return plan('same');
    const changes = differences(present, raw);
    return options.overwrite ? plan('replace', undefined, changes) : plan('keep', KEPT, changes);
  }
}

/** Removes keys that a project's file may not set for itself, so that an import cannot set them either (A12). */
function unprivileged(given: JsonObject): { raw: Record<string, unknown>; dropped: Fault[] } {
  const raw = structuredClone(given) as Record<string, unknown>; // a private copy, which may be changed
  const dropped: Fault[] = [];
  dropPrivileges(raw, 'project', (fault) => dropped.push(fault));
  return { raw, dropped };
}

const WRITTEN: ReadonlySet<Action> = new Set(['add', 'replace']);
const KEPT = 'A different server has this name and is kept. Run plugboard import --overwrite to replace it.';
const SECRET =
  'It contains a secret in plain text, which must not go into a project file: import it with -s local or -s user.';

/** Returns one planned server for `--json`. */
export function plannedDocument(planned: Planned): JsonObject {
  const { found, scope, action, reason, shown, changes, lost, notes } = planned;
  return {
    source: found.agent.id,
    file: found.file,
    name: found.name,
    scope,
    action,
    ...(reason === undefined ? {} : { reason }),
    entry: shown,
    ...(changes.length === 0 ? {} : { changes }),
    lost,
    ...(notes.length === 0 ? {} : { notes }),
  };
}

/** Reads the entries by name in each scope, unexpanded. */
async function readHere(
  context: SetupContext,
  projectRoot: string,
): Promise<ReadonlyMap<EditableScope, (name: string) => unknown>> {
  const where = { home: context.home, projectRoot };
  const targets: EditTarget[] = EDITABLE_SCOPES.map((scope) => editTarget(scope, where));
  const read = targets.map(async (target) => {
    const { value } = await readDocument(target.file);
    const servers = valueAt(value, serversPath(target, value));
    const lookUp = (name: string): unknown => (isRecord(servers) ? valueAt(servers, [name]) : undefined);
    return [target.scope, lookUp] as const;
  });
  return new Map(await Promise.all(read));
}

/** True if two entries start or reach the same server in the same way. */
function isSame(one: unknown, other: unknown): boolean {
  return canonicalJson(essence(one)) === canonicalJson(essence(other));
}

/** True if the present entry equals the other one with variables replaced by stored values. */
function isStoredForm(present: unknown, raw: JsonObject): boolean {
  if (!isRecord(present)) return false;
  const ids = inputIds({ entry: present as unknown as ServerEntry });
  return ids.length > 0 && isSame(present, withStoredValues(raw, new Set(ids)));
}

/** Removes members without effect from an entry: explicit defaults, and empty lists and objects. */
function essence(value: unknown): unknown {
  if (!isRecord(value)) return value;
  // `disabled: true` and `enabled: false` mean the same.
  const { disabled, ...rest } = value;
  const written = disabled === true ? { ...rest, enabled: false } : rest;
  const members = Object.entries(written).filter(([key, member]) => {
    if (key === 'type') return member !== 'stdio' && member !== 'http';
    if (key === 'enabled') return member !== true;
    return !(typeof member === 'object' && member !== null && Object.keys(member).length === 0);
  });
  return Object.fromEntries(members);
}

function differences(before: unknown, after: JsonObject): readonly Difference[] {
  const visible = compare('', isRecord(before) ? shown(before, '') : before, shown(after, ''));
  return visible.length > 0 ? visible : [{ path: 'a value that is hidden', before: '…', after: '…' }];
}

/** Returns the entry as `get` shows it, with secrets replaced by their source. */
function shown(raw: JsonObject, file: string): JsonObject {
  return describeEntry({ raw, entry: raw as unknown as ServerEntry, file });
}

function notesOn(
  raw: JsonObject,
  entry: ServerEntry | undefined,
  { agent: { title: agent }, off }: FoundServer,
): string[] {
  const { approval, tools } = raw;
  const free = Object.entries(isRecord(tools) ? tools : {}).flatMap(([tool, settings]) =>
    isRecord(settings) && settings['approval'] === 'approve' ? [tool] : [],
  );
  return [
    ...(raw['enabled'] === false || raw['disabled'] === true
      ? [`Disabled, as in ${agent}${off === undefined ? '' : ` (${off})`}.`]
      : []),
    ...(approval === 'approve' ? [`All of its calls are auto-approved, as in ${agent}.`] : []),
    ...(free.length === 0 ? [] : [`Calls of ${free.join(', ')} are auto-approved, as in ${agent}.`]),
    ...(entry !== undefined && holdsSecret(entry, undefined) ? [LITERAL_SECRET] : []),
  ];
}

const LITERAL_SECRET =
  'Its secret is copied to config.json in plain text (only you can read it). Use ${input:id} to keep it in the keyring.';

/** True if the entry contains a literal secret. */
function holdsSecret(entry: ServerEntry, clientSecret: string | undefined): boolean {
  return clientSecret !== undefined || secretValues(entry, {}).some((value) => !value.includes('${'));
}

/** True for an entry that `export` wrote, whichever launcher it uses. */
export function isPlugboard({ command, args }: JsonObject): boolean {
  const words = [command, ...(Array.isArray(args) ? args : [])].map(String);
  const at = words.findIndex((word) => /(^|[\\/])plugboard(\.cjs|\.cmd)?$/.test(word));
  return at !== -1 && words[at + 1] === 'serve';
}
