/** What a server's definitions were when they were first seen, and what is done when they are different. Pure. */

import { createHash } from 'node:crypto';
import { isInProcess, isRemote, isStdio, type ServerSpec } from '../config/entry.ts';
import { IN_PROCESS_KEY } from '../config/in-process.ts';
import { canonicalJson } from '../lib/canonical-json.ts';
import { isRecord } from '../lib/json-rpc.ts';

/** Stands in the place of a tool's name for what a server says about all of them. */
export const INSTRUCTIONS = '(instructions)';

export type PinMode = 'hold' | 'warn' | 'off';

/** Takes the place of a tool's name for the name that a server gives itself. */
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

/** What one server says of itself. */
export interface PinnedListing {
  readonly tools: readonly PinnedTool[];
  readonly instructions?: string;
  /** Absent where it is not known, as in lists that an earlier version cached. */
  readonly identity?: { readonly name: string; readonly version: string } | undefined;
  /** The lists that the server declares next to its tools; those it does not have at first sight are pinned as empty. */
  readonly offers?: readonly string[] | undefined;
}

/** The lists next to the tools whose definitions are pinned. */
export type PinnedKind = 'prompts' | 'resources' | 'resourceTemplates';

/** The definition of one member of such a list. */
export interface PinnedPart {
  /** A name or an address: the server goes by it. */
  readonly id: string;
  readonly definition: Readonly<Record<string, unknown>>;
}

/** The members of one list by their ids. */
export interface PinnedParts {
  readonly pinned: Readonly<Record<string, string>>;
  /** New or changed, and not accepted yet. */
  readonly held?: Readonly<Record<string, string>>;
}

/** What is kept of one server in `pins.json`: hashes; what they stand for is kept apart. */
export interface PinRecord {
  readonly server: string;
  /** One hash for all that is pinned: a list that was found in order under it still is. */
  readonly seal: string;
  readonly tools: Readonly<Record<string, string>>;
  /** Of the members of a tool that the first version did not pin; one that is missing is pinned at the next sight. */
  readonly rests?: Readonly<Record<string, string>>;
  readonly instructions?: string;
  /** The name that the server gives itself, as text. */
  readonly identity?: string;
  /** Its version, which is reported when it changes, and not held. */
  readonly version?: string;
  /** Absent kinds are pinned at the next sight. */
  readonly parts?: Readonly<Partial<Record<PinnedKind, PinnedParts>>>;
  /** New and changed tools that have not been accepted yet, by `heldHash`. */
  readonly held?: Readonly<Record<string, string>>;
  readonly heldInstructions?: string;
  readonly heldIdentity?: string;
}

/** What a listing is to what was pinned. */
export interface PinVerdict {
  /** Tools whose definition is not the pinned one. */
  readonly changed: readonly string[];
  /** Tools that nobody has seen before. */
  readonly added: readonly string[];
  readonly instructionsChanged: boolean;
  /** Another server answers than the one that was pinned. */
  readonly identityChanged: boolean;
}

/** Remote servers change behind one's back, and projects are other people's: theirs hold. A package update is wanted. */
export function pinMode(spec: Pick<ServerSpec, 'scope' | 'entry'>): PinMode {
  // A project must not switch off what protects from it.
  if (spec.scope === 'project' || spec.scope === 'plugin') return 'hold';
  // It changes with the program that it is a part of.
  if (isInProcess(spec.entry)) return 'off';
  return spec.entry.pins ?? (isStdio(spec.entry) ? 'warn' : 'hold');
}

/**
 * Which pins a server has: by its name, where it was configured, and what decides who answers. A person who points
 * a name at another program or address has chosen a new server, not seen an old one change.
 */
export function pinKey({ name, scope, baseDir, entry }: ServerSpec): string {
  const place = scope === 'project' || scope === 'local' || scope === 'plugin' ? baseDir : '';
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

/** Everything of a tool that `hashTool` leaves out. */
export function hashRest(tool: PinnedTool): string {
  const { name: _name, title: _title, description: _description, ...others } = tool;
  const { inputSchema: _input, outputSchema: _output, annotations = {}, ...rest } = others;
  const hints = membersOf(annotations, (key) => !FIRST_ANNOTATIONS.has(key));
  return hash(canonicalJson(Object.keys(hints).length === 0 ? rest : { ...rest, hints }));
}

/** The annotations that the first version read, and pinned. */
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

/** A held tool: both hashes. */
export function heldHash(tool: PinnedTool): string {
  return `${hashTool(tool)}.${hashRest(tool)}`;
}

/** Members that change without another meaning: how large a resource is, and when it was written. */
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

/** A record with the seal that fits what it pins. */
export function sealed(record: Omit<PinRecord, 'seal'>): PinRecord {
  const { tools, rests = null, instructions = null, identity = null } = record;
  return { ...record, seal: hash(canonicalJson([tools, rests, instructions, identity])) };
}

export function judge(
  record: Pick<PinRecord, 'tools' | 'rests' | 'instructions' | 'identity' | 'heldIdentity'>,
  listing: PinnedListing,
): PinVerdict {
  const changed: string[] = [];
  const added: string[] = [];
  for (const tool of listing.tools) {
    const pinned = ownHash(record.tools, tool.name);
    const rest = ownHash(record.rests, tool.name);
    if (pinned === undefined) added.push(tool.name);
    else if (pinned !== hashTool(tool) || (rest !== undefined && rest !== hashRest(tool)))
      changed.push(tool.name);
  }
  const { instructions: before, identity } = record;
  return {
    changed,
    added,
    instructionsChanged: before !== undefined && before !== hashInstructions(listing.instructions),
    // A list that does not have it leaves it as it was found last.
    identityChanged:
      listing.identity === undefined
        ? record.heldIdentity !== undefined
        : identity !== undefined && identity !== listing.identity.name,
  };
}

/** A hash under a name that a server chose. */
export function ownHash(
  hashes: Readonly<Record<string, string>> | undefined,
  name: string,
): string | undefined {
  return hashes !== undefined && Object.hasOwn(hashes, name) ? hashes[name] : undefined;
}

/** `required` is a set that some languages write in another order every time. */
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
