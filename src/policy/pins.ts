/** What a server's tools were when they were first seen, and what is done when they are not that any more. Pure. */

import { createHash } from 'node:crypto';
import { isStdio, type ServerSpec } from '../config/entry.ts';
import { canonicalJson } from '../lib/canonical-json.ts';
import { isRecord } from '../lib/json-rpc.ts';

/** Stands in the place of a tool's name for what a server says about all of them. */
export const INSTRUCTIONS = '(instructions)';

export type PinMode = 'hold' | 'warn' | 'off';

/** The parts of a tool that a model or a person decides on. */
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
}

/** What is kept of one server in `pins.json`: hashes; what they stand for is kept apart. */
export interface PinRecord {
  readonly server: string;
  /** One hash for all that is pinned: a list that was found in order under it still is. */
  readonly seal: string;
  readonly tools: Readonly<Record<string, string>>;
  readonly instructions?: string;
  /** Changed definitions that nobody accepted yet, by their hashes. */
  readonly held?: Readonly<Record<string, string>>;
  readonly heldInstructions?: string;
}

/** What a listing is to what was pinned. */
export interface PinVerdict {
  /** Tools whose definition is not the pinned one. */
  readonly changed: readonly string[];
  /** Tools that nobody has seen before. */
  readonly added: readonly string[];
  readonly instructionsChanged: boolean;
}

/** Remote servers change behind one's back, and projects are other people's: theirs hold. A package update is wanted. */
export function pinMode(spec: Pick<ServerSpec, 'scope' | 'entry'>): PinMode {
  // A project must not switch off what protects from it.
  if (spec.scope === 'project' || spec.scope === 'plugin') return 'hold';
  return spec.entry.pins ?? (isStdio(spec.entry) ? 'warn' : 'hold');
}

/**
 * Which pins a server has: by its name, where it was configured, and what decides who answers. A person who points
 * a name at another program or address has chosen a new server, not seen an old one change.
 */
export function pinKey({ name, scope, baseDir, entry }: ServerSpec): string {
  const place = scope === 'project' || scope === 'local' || scope === 'plugin' ? baseDir : '';
  const who = isStdio(entry) ? [entry.command, entry.args ?? []] : [entry.url];
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
      annotations,
    }),
  );
}

export function hashInstructions(text: string | undefined): string {
  return hash(JSON.stringify(text ?? ''));
}

/** A record with the seal that fits what it pins. */
export function sealed(record: Omit<PinRecord, 'seal'>): PinRecord {
  return { ...record, seal: hash(canonicalJson([record.tools, record.instructions ?? null])) };
}

export function judge(record: Pick<PinRecord, 'tools' | 'instructions'>, listing: PinnedListing): PinVerdict {
  const changed: string[] = [];
  const added: string[] = [];
  for (const tool of listing.tools) {
    const pinned = Object.hasOwn(record.tools, tool.name) ? record.tools[tool.name] : undefined;
    if (pinned === undefined) added.push(tool.name);
    else if (pinned !== hashTool(tool)) changed.push(tool.name);
  }
  const before = record.instructions;
  return {
    changed,
    added,
    instructionsChanged: before !== undefined && before !== hashInstructions(listing.instructions),
  };
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
