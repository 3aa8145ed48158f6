/** Pins: hashes of a server's definitions when they were first seen, and the decision if they change. Pure. */

import { createHash } from 'node:crypto';
import { isInProcess, isRemote, isStdio, type ServerSpec } from '../config/entry.ts';
import { IN_PROCESS_KEY } from '../config/in-process.ts';
import { isForeign, isPerFolder } from '../config/scopes.ts';
import { canonicalJson } from '../lib/canonical-json.ts';
import { isRecord, own } from '../lib/json.ts';

/** Used instead of a tool name for a server's instructions. */
export const INSTRUCTIONS = '(instructions)';

export type PinMode = 'hold' | 'warn' | 'off';

/** Used instead of a tool name for a server's own name. */
export const IDENTITY = '(identity)';

/** The definition of a tool. Members that are not listed here are pinned too: `_meta`, `execution` and others. */
export interface PinnedTool {
  readonly name: string;
  readonly title?: string;
  readonly description: string;
  readonly inputSchema: Readonly<Record<string, unknown>>;
  readonly outputSchema?: Readonly<Record<string, unknown>>;
  readonly annotations?: object;
}

/** The definitions of one server. */
export interface PinnedListing {
  readonly tools: readonly PinnedTool[];
  readonly instructions?: string;
  /** Undefined if it is unknown, as in lists that an earlier version cached. */
  readonly identity?: { readonly name: string; readonly version: string } | undefined;
  /** The lists that the server declares besides tools; lists missing at the first listing are pinned as empty. */
  readonly offers?: readonly string[] | undefined;
}

/** The lists besides tools whose definitions are pinned. */
export type PinnedKind = 'prompts' | 'resources' | 'resourceTemplates';

/** The definition of one item of such a list. */
export interface PinnedPart {
  /** A name or an address, which identifies the item to the server. */
  readonly id: string;
  readonly definition: Readonly<Record<string, unknown>>;
}

/** The items of one list by id. */
export interface PinnedParts {
  readonly pinned: Readonly<Record<string, string>>;
  /** New or changed, and not accepted yet. */
  readonly held?: Readonly<Record<string, string>>;
}

/** The record of one server in `pins.json`: hashes; their definitions are stored separately. */
export interface PinRecord {
  readonly server: string;
  /** One hash of everything that is pinned: a list that was accepted under the same seal is still valid. */
  readonly seal: string;
  readonly tools: Readonly<Record<string, string>>;
  /** Hashes of tool members that the first version did not pin; a missing one is pinned at the next listing. */
  readonly rests?: Readonly<Record<string, string>>;
  readonly instructions?: string;
  /** The server's own name, as text. */
  readonly identity?: string;
  /** The server's version; a change is reported, not held. */
  readonly version?: string;
  /** Missing kinds are pinned at the next listing. */
  readonly parts?: Readonly<Partial<Record<PinnedKind, PinnedParts>>>;
  /** New and changed tools that are not accepted yet, by `heldHash`. */
  readonly held?: Readonly<Record<string, string>>;
  readonly heldInstructions?: string;
  readonly heldIdentity?: string;
}

/** The differences between a listing and the pins. */
export interface PinDecision {
  /** Tools whose definition differs from the pinned one. */
  readonly changed: readonly string[];
  /** Tools that are not pinned. */
  readonly added: readonly string[];
  readonly instructionsChanged: boolean;
  /** True if another server answers than the pinned one. */
  readonly identityChanged: boolean;
}

/**
 * Returns the pin mode. Remote servers and other people's projects can change unnoticed, so they are held; an update of
 * the user's own package is intended, so it only warns.
 */
export function pinMode(spec: Pick<ServerSpec, 'scope' | 'entry'>): PinMode {
  // A project must not disable its own protection.
  if (isForeign(spec)) return 'hold';
  // It changes with the program that it is part of.
  if (isInProcess(spec.entry)) return 'off';
  return spec.entry.pins ?? (isStdio(spec.entry) ? 'warn' : 'hold');
}

/**
 * Returns the pin key of a server: its name, where it was configured, and what it connects to. If a user points a name
 * at another program or address, it is a new server, not a changed one.
 */
export function pinKey({ name, scope, baseDir, entry }: ServerSpec): string {
  const place = isPerFolder({ scope }) ? baseDir : '';
  const who = isStdio(entry)
    ? [entry.command, entry.args ?? []]
    : [isRemote(entry) ? entry.url : IN_PROCESS_KEY];
  return hash(canonicalJson([name, scope, place, who])).slice(0, 32);
}

export function hashTool({
  name,
  title,
  description,
  inputSchema,
  outputSchema,
  annotations,
}: PinnedTool): string {
  return hash(
    canonicalJson({
      name,
      title,
      description,
      inputSchema: ordered(inputSchema),
      outputSchema: ordered(outputSchema),
      annotations: annotations && membersOf(annotations, (key) => FIRST_ANNOTATIONS.has(key)),
    }),
  );
}

/** Hashes all members of a tool that `hashTool` omits. */
export function hashRest(tool: PinnedTool): string {
  const { name: _name, title: _title, description: _description, ...others } = tool;
  const { inputSchema: _input, outputSchema: _output, annotations = {}, ...rest } = others;
  const hints = membersOf(annotations, (key) => !FIRST_ANNOTATIONS.has(key));
  return hash(canonicalJson(Object.keys(hints).length === 0 ? rest : { ...rest, hints }));
}

/** The annotations that the first version pinned. */
const FIRST_ANNOTATIONS: ReadonlySet<string> = new Set([
  'title',
  'readOnlyHint',
  'destructiveHint',
  'idempotentHint',
  'openWorldHint',
]);

function membersOf(value: object, isOne: (key: string) => boolean): Record<string, unknown> {
  return Object.fromEntries(Object.entries(value).filter(([key]) => isOne(key)));
}

/** Returns both hashes of a held tool. */
export function heldHash(tool: PinnedTool): string {
  return `${hashTool(tool)}.${hashRest(tool)}`;
}

/** Returns a definition without members that change without a change of meaning: size and modification time. */
export function stableDefinition({ definition }: PinnedPart): Readonly<Record<string, unknown>> {
  const { size: _size, annotations, ...rest } = definition;
  if (!isRecord(annotations)) return rest;
  const { lastModified: _lastModified, ...stable } = annotations;
  return { ...rest, ...(Object.keys(stable).length === 0 ? {} : { annotations: stable }) };
}

export function hashPart(part: PinnedPart): string {
  return hash(canonicalJson(stableDefinition(part)));
}

export function hashInstructions(text: string | undefined): string {
  return hash(JSON.stringify(text ?? ''));
}

/** Returns a record with its seal. */
export function sealed(record: Omit<PinRecord, 'seal'>): PinRecord {
  const { tools, rests = null, instructions = null, identity = null } = record;
  return { ...record, seal: hash(canonicalJson([tools, rests, instructions, identity])) };
}

export function judge(
  record: Pick<PinRecord, 'tools' | 'rests' | 'instructions' | 'identity' | 'heldIdentity'>,
  listing: PinnedListing,
): PinDecision {
  const changed: string[] = [];
  const added: string[] = [];
  for (const tool of listing.tools) {
    const pinned = own(record.tools, tool.name);
    const rest = own(record.rests, tool.name);
    if (pinned === undefined) added.push(tool.name);
    else if (pinned !== hashTool(tool) || (rest !== undefined && rest !== hashRest(tool)))
      changed.push(tool.name);
  }
  const { instructions: before, identity } = record;
  return {
    changed,
    added,
    instructionsChanged: before !== undefined && before !== hashInstructions(listing.instructions),
    // A list without an identity keeps the last result.
    identityChanged:
      listing.identity === undefined
        ? record.heldIdentity !== undefined
        : identity !== undefined && identity !== listing.identity.name,
  };
}

/** Sorts `required`, because some languages write this set in a random order. */
function ordered(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(ordered);
  if (!isRecord(schema)) return schema;
  const members = Object.entries(schema).map(([key, member]): [string, unknown] => {
    const isSet =
      key === 'required' && Array.isArray(member) && member.every((one) => typeof one === 'string');
    return [key, isSet ? member.toSorted() : ordered(member)];
  });
  // No prototype: a property may be called `__proto__`.
  return Object.assign(Object.create(null), Object.fromEntries(members));
}

function hash(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
