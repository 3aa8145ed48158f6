/**
 * Pipeline stage: replaces references to stored results in arguments with their content, before the arguments are
 * validated and approved: rules and people see what is sent (CAL-8).
 */

import { RESULT_PREFIX } from '../catalog/result-tool-definition.ts';
import { resolvedSchema, type Schema } from '../catalog/schemas/object-members.ts';
import type { Tool } from '../catalog/tool.ts';
import { PlugboardError } from '../errors.ts';
import { getOrMake } from '../lib/get-or-make.ts';
import { isRecord, parseJson } from '../lib/json.ts';
import type { Call, CallContext, Handler, Stage } from './call.ts';
import { toolOf } from './resolved-call.ts';
import { dataOf, type StoredResult } from './result-store.ts';
import type { Session } from './session.ts';

type Args = Readonly<Record<string, unknown>>;

/** Deeper values, and those after this number, are not searched; the server would not accept them either. */
const MAX_DEPTH = 64;
const MAX_VALUES = 100_000;
const MAX_REFERENCES = 100;
/** Limit on the inserted text; a message has at most twice as much. */
const MAX_FILLED_CHARS: number = 32 * 1024 * 1024;
/** Limit on the stored results that one call reads, each once. */
const MAX_READ_BYTES: number = 128 * 1024 * 1024;

type FillContext = Pick<CallContext, 'results' | 'settings' | 'select'>;

interface ResultReference {
  readonly address: string;
  readonly select: string | undefined;
}

export const fillReferences: Stage = (context, next) => (call) =>
  hasReference(call.arguments) ? filled(context, call, next) : next(call);

async function filled(context: CallContext, call: Call, next: Handler): ReturnType<Handler> {
  call.arguments = await withResults(context, call.session, call.arguments, toolOf(call));
  // The person was asked about the references, not about their content.
  call.approved = undefined;
  return next(call);
}

/** True if arguments refer to a stored result. */
export function hasReference(args: Args): boolean {
  let left = MAX_VALUES;
  const search = (value: object, depth: number): boolean => {
    if (depth > MAX_DEPTH) return false;
    if ('$ref' in value && typeof value.$ref === 'string' && value.$ref.startsWith(RESULT_PREFIX))
      return true;
    for (const key in value) {
      const member = (value as Args)[key];
      left -= 1;
      if (left < 0) return false;
      if (typeof member === 'object' && member !== null && search(member, depth + 1)) return true;
    }
    return false;
  };
  // Most calls have texts and numbers only.
  for (const key in args) {
    const member = args[key];
    if (typeof member === 'object' && member !== null && search(member, 1)) return true;
  }
  return false;
}

/** Returns arguments with the content of stored results in place of references to them. */
export async function withResults(
  context: FillContext,
  session: Session,
  args: Args,
  { inputSchema }: Pick<Tool, 'inputSchema'>,
): Promise<Args> {
  let references = 0;
  let chars = 0;
  const read = new ReadResults(context, session);
  const walk = async (value: unknown, written: unknown, depth: number): Promise<unknown> => {
    if (typeof value !== 'object' || value === null || depth > MAX_DEPTH) return value;
    const schema = resolvedSchema(written, inputSchema);
    const reference = referenceIn(value);
    if (reference !== undefined) {
      references += 1;
      if (references > MAX_REFERENCES) throw tooMuch(`has more than ${MAX_REFERENCES} references`);
      const content = await contentOf(read, reference, acceptedTypes(schema, inputSchema));
      chars += content.chars;
      if (chars > MAX_FILLED_CHARS) throw tooLarge();
      return content.value;
    }
    if (Array.isArray(value)) {
      const items: unknown[] = [];
      for (const item of value) items.push(await walk(item, schema['items'], depth + 1));
      return items;
    }
    const properties = isRecord(schema['properties']) ? schema['properties'] : {};
    const entries: [string, unknown][] = [];
    for (const [name, member] of Object.entries(value)) {
      const own = Object.hasOwn(properties, name) ? properties[name] : schema['additionalProperties'];
      entries.push([name, await walk(member, own, depth + 1)]);
    }
    return Object.fromEntries(entries);
  };
  const result = await walk(args, inputSchema, 0);
  return isRecord(result) ? result : args;
}

/** Returns the reference that a value is; undefined for any other value. */
function referenceIn(value: object): ResultReference | undefined {
  if (!isRecord(value)) return undefined;
  const { $ref: address, select, ...rest } = value;
  if (typeof address !== 'string' || !address.startsWith(RESULT_PREFIX)) return undefined;
  const [extra] = Object.keys(rest);
  if (extra !== undefined || (select !== undefined && typeof select !== 'string'))
    throw new PlugboardError(
      'INVALID_ARGUMENTS',
      extra === undefined
        ? '"select" in a reference must be text'
        : `A reference to a stored result cannot have ${JSON.stringify(extra)}`,
      { hint: `Write it as {"$ref": "${RESULT_PREFIX}…", "select": "items[].id"}; "select" may be omitted.` },
    );
  return { address, select };
}

/** The stored results that one call refers to: each is read and parsed once, and all selections share one limit. */
class ReadResults {
  readonly #context: FillContext;
  readonly #session: Session;
  readonly #texts = new Map<string, Promise<string>>();
  readonly #data = new Map<string, unknown>();
  readonly #budget = { spent: 0 };
  #bytes = 0;

  constructor(context: FillContext, session: Session) {
    this.#context = context;
    this.#session = session;
  }

  find(address: string): StoredResult {
    return this.#context.results.find(this.#context, this.#session, address);
  }

  textOf(stored: StoredResult): Promise<string> {
    return getOrMake(this.#texts, stored.id, () => {
      this.#bytes += stored.bytes;
      if (this.#bytes > MAX_READ_BYTES)
        throw tooMuch(`refers to more than ${MAX_READ_BYTES / 1024 / 1024} MiB of results`);
      return this.#context.results.textOf(stored);
    });
  }

  async select(stored: StoredResult, expression: string): Promise<unknown> {
    const text = await this.textOf(stored);
    const parse = await this.#context.select();
    const data = getOrMake(this.#data, stored.id, () => dataOf(text));
    return parse(expression)(data, this.#budget);
  }
}

/** An argument gets the JSON value if it accepts its type, and the exact text if it accepts text instead. */
async function contentOf(
  read: ReadResults,
  { address, select }: ResultReference,
  types: ReadonlySet<unknown>,
): Promise<{ readonly value: unknown; readonly chars: number }> {
  const stored = read.find(address);
  const isText = (value: unknown): boolean => types.has('string') && !types.has(jsonType(value));
  if (select === undefined) {
    // A character has at most three bytes.
    if (stored.bytes > 3 * MAX_FILLED_CHARS) throw tooLarge();
    const text = await read.textOf(stored);
    const value = stored.kind === 'json' ? (parseJson(text) ?? text) : text;
    return { value: isText(value) ? text : value, chars: text.length };
  }
  const value = await read.select(stored, select);
  const written = typeof value === 'string' ? value : JSON.stringify(value);
  return { value: isText(value) ? written : value, chars: written.length };
}

/** Returns the types that a schema names, also in its alternatives; empty if it names none. */
function acceptedTypes(schema: Schema, root: Schema): ReadonlySet<unknown> {
  const { anyOf, oneOf } = schema;
  const branches = [anyOf, oneOf].flatMap((list): unknown[] => (Array.isArray(list) ? list : []));
  const named = [schema, ...branches.map((branch) => resolvedSchema(branch, root))].map(
    (each) => each['type'],
  );
  const types = new Set(named.flat());
  return types.has('integer') ? types.add('number') : types;
}

function jsonType(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : typeof value;
}

function tooLarge(): PlugboardError {
  return tooMuch(`would have more than ${MAX_FILLED_CHARS / 1024 / 1024} MiB`);
}

function tooMuch(why: string): PlugboardError {
  return new PlugboardError('INVALID_ARGUMENTS', `The call ${why}`, {
    hint: 'Select smaller parts of the stored results.',
  });
}
