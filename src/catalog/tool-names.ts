/**
 * Assigns tool names in every form (`mcp__server__tool`, `server_tool`, `server__tool`, `tool`) and maps them back
 * exactly.
 *
 * A name depends only on its own server and tool, unless two tools would get the same name. Then all of them get a hash
 * of (server, tool) as a suffix: none keeps the plain name, so none shadows another, and the order of the tools does
 * not matter.
 */

import { createHash } from 'node:crypto';
import { getOrMake } from '../lib/get-or-make.ts';
import { toolId } from './tool.ts';

/** The name form that a user can choose. */
export type Naming = 'mcp__' | 'short' | 'plain';

/** `gateway`: `server__tool`, the default for clients of the gateway. */
export type NameForm = Naming | 'gateway';

export interface ToolKey {
  readonly server: string;
  /** The server's own name of the tool. */
  readonly tool: string;
}

/** A bidirectional name assignment. */
export interface NameTable {
  readonly size: number;
  nameOf(server: string, tool: string): string | undefined;
  keyOf(name: string): ToolKey | undefined;
  /** In the order in which the tools were given. */
  entries(): IterableIterator<[name: string, key: ToolKey]>;
}

export interface AssignOptions {
  /** Names already in use, such as the host's own tools. */
  readonly reserved?: Iterable<string>;
}

/** The smallest limit of all providers. */
export const MAX_TOOL_NAME_CHARS = 64;

/** Leaves room within 64 characters for the prefix that agents add, such as `mcp__plugboard__`. */
export const MAX_GATEWAY_NAME_CHARS = 48;

interface FormRules {
  readonly prefix: string;
  readonly separator: string;
  readonly maxChars: number;
  /** Minimum share of a truncated name that is kept for the server, because rules name servers. */
  readonly serverShareChars: number;
}

const GATEWAY_RULES: FormRules = {
  prefix: '',
  separator: '__',
  maxChars: MAX_GATEWAY_NAME_CHARS,
  serverShareChars: 16,
};

const FORMS: Readonly<Record<NameForm, FormRules>> = {
  mcp__: { prefix: 'mcp__', separator: '__', maxChars: MAX_TOOL_NAME_CHARS, serverShareChars: 32 },
  short: { prefix: '', separator: '_', maxChars: MAX_TOOL_NAME_CHARS, serverShareChars: 32 },
  gateway: GATEWAY_RULES,
  // For tools that cannot keep their own names.
  plain: GATEWAY_RULES,
};

/** Length of the hash suffix in hexadecimal digits: none, then longer each time a name is still not unique. */
const HASH_CHARS = [0, 8, 16, 40] as const;

interface Draft {
  readonly key: ToolKey;
  /** Index into `HASH_CHARS`. */
  grade: number;
  name: string;
}

const FOREIGN = /[^A-Za-z0-9_-]/gu;
const SPEAKING = /[A-Za-z0-9]/;

/** Own names that every provider accepts. `__` is excluded: it could be the spelling of another server's tool. */
const OWN_NAME = /^(?!.*__)[A-Za-z_][A-Za-z0-9_-]{0,63}$/;

/**
 * Assigns a name to every tool. Pass all known tools, before filters and search hide some of them: then hiding a tool
 * does not rename others.
 *
 * @example
 * const names = assignNames([{ server: 'files', tool: 'read' }], 'mcp__');
 * names.nameOf('files', 'read'); // 'mcp__files__read'
 * names.keyOf('mcp__files__read'); // { server: 'files', tool: 'read' }
 */
export function assignNames(
  tools: Iterable<ToolKey>,
  form: NameForm,
  options: AssignOptions = {},
): NameTable {
  const reserved = new Set(options.reserved);
  if (form === 'plain') return ownNames(distinct(tools), reserved);
  const drafts = distinct(tools).map((key): Draft => {
    const plain = plainName(key.server, key.tool, form);
    return needsHash(key, plain, form)
      ? { key, grade: 1, name: gradedName(key, form, 1) }
      : { key, grade: 0, name: plain };
  });

  // If two tools claim the same name, both move on to a longer hash and the name stays unused. Claims are only ever
  // added, so the result does not depend on their order.
  const claims = new Map<string, Draft[]>();
  const waiting = [...drafts];
  for (let draft = waiting.pop(); draft !== undefined; draft = waiting.pop()) {
    const { name } = draft;
    const claimants = [...(claims.get(name) ?? []), draft];
    claims.set(name, claimants);
    if (claimants.length === 1 && !reserved.has(name)) continue;
    for (const claimant of claimants) {
      if (claimant.name !== name || claimant.grade === HASH_CHARS.length - 1) continue;
      claimant.grade += 1;
      claimant.name = gradedName(claimant.key, form, claimant.grade);
      waiting.push(claimant);
    }
  }
  return table(drafts);
}

/**
 * Returns the name without regard to length and to other tools, as a user would write it in a rule. Rules match it as
 * well as the assigned name; otherwise a collision would lift a `deny`.
 */
export function plainName(server: string, tool: string, form: NameForm): string {
  if (form === 'plain' && canKeepName(tool)) return tool;
  return join(sanitise(server), sanitise(tool), form);
}

/** True if the plain form can list a tool under its server's own name. */
export function canKeepName(tool: string): boolean {
  return OWN_NAME.test(tool) && SPEAKING.test(tool);
}

/** Returns the spellings of a server in rules for the whole server: `mcp__server` or `server`. */
export function serverNames(server: string): readonly string[] {
  const safe = sanitise(server);
  return [`${FORMS.mcp__.prefix}${safe}`, safe, server];
}

/** Returns the servers whose tools may have this name, as `mcp__server__tool` or as `server__tool`. */
export function possibleOwners(name: string, servers: readonly string[]): readonly string[] {
  const forms = ['mcp__', 'gateway'] as const;
  return servers.filter((server) =>
    forms.some((form) => {
      const { serverShareChars, separator } = FORMS[form];
      const safe = sanitise(server);
      // A truncated name keeps at least the beginning of the server's name.
      const beginning =
        safe.length > serverShareChars
          ? join(safe.slice(0, serverShareChars), '', form).slice(0, -separator.length)
          : join(safe, '', form);
      return name.startsWith(beginning);
    }),
  );
}

function sanitise(part: string): string {
  return part.replace(FOREIGN, '_');
}

function join(server: string, tool: string, form: NameForm): string {
  const { prefix, separator } = FORMS[form];
  const name = `${prefix}${server}${separator}${tool}`;
  if (form === 'mcp__') return name;
  // Gemini requires a letter or an underscore as the first character.
  if (!/^[A-Za-z_]/.test(name)) return `_${name}`;
  // A gateway name never starts like the long form, so each spelling identifies one tool only.
  return form === 'gateway' && name.startsWith(FORMS.mcp__.prefix) ? `_${name}` : name;
}

/** True if the name is too long, or one half has no letter or digit left to distinguish it (`读取` and `删除`). */
function needsHash({ server, tool }: ToolKey, plain: string, form: NameForm): boolean {
  return (
    plain.length > FORMS[form].maxChars || !SPEAKING.test(sanitise(server)) || !SPEAKING.test(sanitise(tool))
  );
}

function gradedName(key: ToolKey, form: NameForm, grade: number): string {
  const digest = createHash('sha256').update(toolId(key)).digest('hex');
  const hash = digest.slice(0, HASH_CHARS[grade]);
  const { prefix, separator, maxChars, serverShareChars } = FORMS[form];
  // Forms without a prefix may get a leading underscore.
  const frame = Math.max(prefix.length, 1) + separator.length;
  const room = maxChars - frame - hash.length - 1;
  const safeServer = sanitise(key.server);
  const safeTool = sanitise(key.tool);
  const serverChars = Math.min(
    safeServer.length,
    Math.max(room - safeTool.length, Math.min(serverShareChars, room)),
  );
  const toolChars = room - serverChars;
  return `${join(safeServer.slice(0, serverChars), safeTool.slice(0, toolChars), form)}_${hash}`;
}

/** Tools with a unique own name keep it; all others get their gateway name, so a name never moves to another tool. */
function ownNames(keys: readonly ToolKey[], reserved: ReadonlySet<string>): NameTable {
  const claims = new Map<string, number>();
  for (const { tool } of keys) claims.set(tool, (claims.get(tool) ?? 0) + 1);
  const prefixed = assignNames(keys, 'gateway', { reserved });
  return table(
    keys.map((key) => {
      const { server, tool } = key;
      const keeps = claims.get(tool) === 1 && canKeepName(tool) && !reserved.has(tool);
      return { key, name: keeps ? tool : (prefixed.nameOf(server, tool) ?? tool) };
    }),
  );
}

function distinct(tools: Iterable<ToolKey>): ToolKey[] {
  const seen = new Map<string, Set<string>>();
  const keys: ToolKey[] = [];
  for (const { server, tool } of tools) {
    const ofServer = getOrMake(seen, server, () => new Set<string>());
    if (ofServer.has(tool)) continue;
    ofServer.add(tool);
    keys.push({ server, tool });
  }
  return keys;
}

function table(drafts: readonly { key: ToolKey; name: string }[]): NameTable {
  const keys = new Map<string, ToolKey>();
  const names = new Map<string, Map<string, string>>();
  for (const { key, name } of drafts) {
    keys.set(name, key);
    getOrMake(names, key.server, () => new Map<string, string>()).set(key.tool, name);
  }
  return {
    size: keys.size,
    nameOf: (server, tool) => names.get(server)?.get(tool),
    keyOf: (name) => keys.get(name),
    entries: () => keys.entries(),
  };
}
