/**
 * What tools are called towards a model: `mcp__server__tool` or `server_tool`, and the exact way back.
 *
 * A name depends on its own server and tool alone, unless two of them would be called the same. Then all of
 * them get a hash of (server, tool) at their end: nobody keeps the plain name, so nobody shadows anybody, and
 * neither the order of the tools nor who came first decides anything.
 */

import { createHash } from 'node:crypto';

export type Naming = 'mcp__' | 'short';

export interface ToolKey {
  readonly server: string;
  /** What its server calls it. */
  readonly tool: string;
}

/** The two directions of one assignment. */
export interface NameTable {
  readonly size: number;
  nameOf(server: string, tool: string): string | undefined;
  keyOf(name: string): ToolKey | undefined;
  /** In the order the tools were given. */
  entries(): IterableIterator<[name: string, key: ToolKey]>;
}

export interface AssignOptions {
  /** Names that are taken already, such as the host's own tools. */
  readonly reserved?: Iterable<string>;
}

/** The smallest limit among the providers. */
export const MAX_TOOL_NAME_CHARS = 64;

/** Of a name that is cut, this much of the server stays if the tool needs the rest: rules name servers. */
const SERVER_SHARE_CHARS = 32;

/** Hexadecimal digits at the end of a name: none, then more each time a name is still not unique. */
const HASH_CHARS = [0, 8, 16, 40] as const;

interface Draft {
  readonly key: ToolKey;
  /** Index into `HASH_CHARS`. */
  grade: number;
  name: string;
}

const FOREIGN = /[^A-Za-z0-9_-]/gu;
const SPEAKING = /[A-Za-z0-9]/;

/**
 * Gives every tool its name. Give it all tools that are known, before filters and search hide some of them:
 * then hiding a tool renames nobody.
 *
 * @example
 * const names = assignNames([{ server: 'files', tool: 'read' }], 'mcp__');
 * names.nameOf('files', 'read'); // 'mcp__files__read'
 * names.keyOf('mcp__files__read'); // { server: 'files', tool: 'read' }
 */
export function assignNames(
  tools: Iterable<ToolKey>,
  naming: Naming,
  options: AssignOptions = {},
): NameTable {
  const reserved = new Set(options.reserved);
  const drafts = distinct(tools).map((key): Draft => {
    const plain = plainName(key.server, key.tool, naming);
    return needsHash(key, plain)
      ? { key, grade: 1, name: gradedName(key, naming, 1) }
      : { key, grade: 0, name: plain };
  });

  // Whoever wanted a name that another one wanted too moves on to a longer hash, and the name stays empty.
  // Claims are only ever added, so the outcome is the same in whatever order they are made.
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
      claimant.name = gradedName(claimant.key, naming, claimant.grade);
      waiting.push(claimant);
    }
  }
  return table(drafts);
}

/**
 * The name without regard to length and to other tools: what a person would write in a rule. Rules should look
 * at it as well as at the assigned name, or a collision would lift a `deny`.
 */
export function plainName(server: string, tool: string, naming: Naming): string {
  return join(sanitise(server), sanitise(tool), naming);
}

function sanitise(part: string): string {
  return part.replace(FOREIGN, '_');
}

function join(server: string, tool: string, naming: Naming): string {
  if (naming === 'mcp__') return `mcp__${server}__${tool}`;
  const name = `${server}_${tool}`;
  // Gemini wants a letter or an underscore in front.
  return /^[A-Za-z_]/.test(name) ? name : `_${name}`;
}

/** Too long, or one half has nothing left that could tell it from its neighbours (`读取` and `删除`). */
function needsHash({ server, tool }: ToolKey, plain: string): boolean {
  return (
    plain.length > MAX_TOOL_NAME_CHARS || !SPEAKING.test(sanitise(server)) || !SPEAKING.test(sanitise(tool))
  );
}

function gradedName({ server, tool }: ToolKey, naming: Naming, grade: number): string {
  // JSON keeps ("a", "b__c") apart from ("a__b", "c"), and lone surrogates apart from each other.
  const digest = createHash('sha256')
    .update(JSON.stringify([server, tool]))
    .digest('hex');
  const hash = digest.slice(0, HASH_CHARS[grade]);
  const frame = naming === 'mcp__' ? 'mcp____'.length : '__'.length;
  const room = MAX_TOOL_NAME_CHARS - frame - hash.length - 1;
  const safeServer = sanitise(server);
  const safeTool = sanitise(tool);
  const serverChars = Math.min(
    safeServer.length,
    Math.max(room - safeTool.length, Math.min(SERVER_SHARE_CHARS, room)),
  );
  const toolChars = room - serverChars;
  return `${join(safeServer.slice(0, serverChars), safeTool.slice(0, toolChars), naming)}_${hash}`;
}

function distinct(tools: Iterable<ToolKey>): ToolKey[] {
  const seen = new Map<string, Set<string>>();
  const keys: ToolKey[] = [];
  for (const { server, tool } of tools) {
    const ofServer = seen.get(server) ?? new Set();
    if (ofServer.has(tool)) continue;
    seen.set(server, ofServer.add(tool));
    keys.push({ server, tool });
  }
  return keys;
}

function table(drafts: readonly { key: ToolKey; name: string }[]): NameTable {
  const keys = new Map<string, ToolKey>();
  const names = new Map<string, Map<string, string>>();
  for (const { key, name } of drafts) {
    keys.set(name, key);
    const ofServer = names.get(key.server) ?? new Map();
    names.set(key.server, ofServer.set(key.tool, name));
  }
  return {
    size: keys.size,
    nameOf: (server, tool) => names.get(server)?.get(tool),
    keyOf: (name) => keys.get(name),
    entries: () => keys.entries(),
  };
}
