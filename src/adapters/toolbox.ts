/** Converts the tools of a host for one provider; each is converted once, and again only after a change. */

import { callToolDefinition, type WrappedCall, wrappedCall } from '../catalog/call-tool.ts';
import { CALL_TOOL, TOOL_SEARCH } from '../catalog/deferral.ts';
import type { MediaLimits } from '../catalog/media-bytes.ts';
import { type Conversion, convert } from '../catalog/schemas/convert.ts';
import { followPointer } from '../catalog/schemas/pointer.ts';
import type { Provider } from '../catalog/schemas/provider-profile.ts';
import type { JsonSchema } from '../catalog/schemas/write-schema.ts';
import type { Tool } from '../catalog/tool.ts';
import { asPlugboardError, PlugboardError } from '../errors.ts';
import { getOrMake } from '../lib/get-or-make.ts';
import { isRecord } from '../lib/json.ts';
import type {
  AdapterHost,
  AdapterOptions,
  ExecuteOptions,
  ModelCall,
  QuarantinedTool,
} from './adapter-host.ts';
import { asTool, type OwnTools, ownAnswer } from './adapter-own-tools.ts';
import { type Answer, type AnswerRequest, answer, bothSignals, failed, readArguments } from './answer.ts';
import { type MediaFamily, mediaLimits, mediaTypes, shownParts } from './media.ts';
import { isForAssistant, type Part, partsOf } from './parts.ts';

/** A tool with a schema that its provider accepts. */
export interface Usable {
  readonly tool: Tool;
  readonly description: string;
  readonly schema: JsonSchema;
  /** The schema satisfies OpenAI's strict rules. */
  readonly strict: boolean;
}

export interface Shelf<Definition> {
  readonly definitions: ReadonlyMap<string, Definition>;
  readonly quarantined: readonly QuarantinedTool[];
}

interface ToolboxOptions<Definition> extends Omit<AdapterOptions, 'media'> {
  readonly provider: Provider;
  readonly media: MediaFamily | readonly string[];
  /** Apply the strict rules where the schema allows it. */
  readonly strict?: boolean;
  /** The author's tools, which are offered and run here. */
  readonly own?: OwnTools | undefined;
  /** Names of tools that the author offers in another way. */
  readonly taken?: ReadonlySet<string> | undefined;
  readonly define: (usable: Usable) => Definition;
}

type ToolCall = ModelCall &
  ExecuteOptions &
  Pick<AnswerRequest, 'input' | 'onProgress' | 'approved'> & {
    /** In place of the adapter's. */
    readonly media?: ReadonlySet<string> | undefined;
  };

type Converted = Conversion & { readonly strict: boolean };

const TAKEN = 'a tool of your own has this name';
/** An example of names in the description of `call_tool`. */
const EXAMPLE_NAME = 'mcp__server__tool';

export class Toolbox<Definition> {
  readonly host: AdapterHost;
  readonly #options: ToolboxOptions<Definition>;
  readonly #media: ReadonlySet<string>;
  readonly #limits: MediaLimits;
  readonly #own: readonly Tool[];
  readonly #callTool: Tool;
  /** Keyed by schema, because each snapshot has new tools and the same schemas. */
  readonly #converted = new WeakMap<object, Converted>();
  readonly #defined = new WeakMap<Tool, Definition>();
  readonly #reported = new Set<string>();
  #tools: readonly Tool[] | undefined;
  #shelf: Shelf<Definition> = { definitions: new Map(), quarantined: [] };

  constructor(host: AdapterHost, options: ToolboxOptions<Definition>) {
    this.host = host;
    this.#options = options;
    this.#media = mediaTypes(options.media);
    this.#limits = mediaLimits(options.media);
    this.#own = Object.entries(options.own ?? {}).map(([name, tool]) => asTool(name, tool));
    this.#callTool = { ...callToolDefinition(EXAMPLE_NAME), server: '', tool: CALL_TOOL };
  }

  /** The current tools; the same object as before if nothing changed. */
  get shelf(): Shelf<Definition> {
    const tools = this.host.tools();
    if (this.#tools === undefined || !isSame(tools, this.#tools)) {
      this.#shelf = this.#fill(tools);
      this.#tools = tools;
    }
    return this.#shelf;
  }

  /** Whether calls of this name are executed here: a tool of the host, or one of the author's that can be run. */
  has(name: string): boolean {
    const own = this.#ownTool(name);
    if (own !== undefined) return own.execute !== undefined;
    if (this.#options.taken?.has(name)) return false;
    return this.shelf.definitions.has(name) || this.host.find?.(name) !== undefined;
  }

  /** Like `has`, and true for every unknown name: a provider rejects a conversation with a call without a result. */
  answers(name: string): boolean {
    return this.has(name) || !this.#isTaken(name);
  }

  /**
   * Whether the host would ask for an approval of a call, also of one through `call_tool`. It never asks about a call
   * that cannot run.
   */
  async isAskedAbout(name: string, input: unknown): Promise<boolean> {
    const meant = this.#meant(name, input);
    if (meant === undefined || this.host.approvalOf?.(meant.name, meant.args)?.decision !== 'ask')
      return false;
    const problems = await this.host.checkArguments?.(meant.name, meant.args);
    return problems === undefined || problems.length === 0;
  }

  /**
   * Returns the call that a model's call resolves to, with arguments of the server's own schema; undefined if it is
   * malformed.
   */
  #meant(name: string, input: unknown): WrappedCall | undefined {
    try {
      const given = readArguments(input);
      if (name !== CALL_TOOL || !this.#dispatches(this.host.tools())) {
        const tool = this.host.tools().find((one) => one.name === name);
        return { name, args: (tool && this.#restoring(tool)?.(given)) ?? given };
      }
      const wrapped = wrappedCall(given, EXAMPLE_NAME);
      if (wrapped instanceof PlugboardError) return undefined;
      const tool = this.host.find?.(wrapped.name);
      return tool === undefined
        ? wrapped
        : { ...wrapped, args: withoutNulls({ ...wrapped.args }, tool.inputSchema) };
    } catch {
      return undefined;
    }
  }

  /** Calls a tool with the model's arguments; never rejects. */
  call(request: ToolCall): Promise<Answer> {
    const { name } = request;
    const own = this.#ownTool(name);
    if (own?.execute !== undefined) return this.#callOwn(request, own.execute);
    if (name === CALL_TOOL && this.#dispatches(this.host.tools())) return this.#dispatch(request);
    const tool = this.host.tools().find((one) => one.name === name);
    return this.#answer({ ...request, restore: tool && this.#restoring(tool) });
  }

  /** Returns the parts of an answer that this provider's model accepts, at least one. */
  parts(result: Answer, media: ReadonlySet<string> = this.#media): readonly Part[] {
    const content = result.content.filter(isForAssistant);
    // The structured content of a truncated result may be longer than the limit.
    const structured = result.truncated === undefined ? this.#options.structuredContent : 'without-text';
    const isForUser = content.length === 0 && result.content.length > 0;
    const parts = partsOf({ ...result, content }, structured, isForUser);
    return parts.some(({ type }) => type === 'media') ? shownParts(parts, media, this.#limits) : parts;
  }

  #ownTool(name: string): OwnTools[string] | undefined {
    const { own } = this.#options;
    return own !== undefined && Object.hasOwn(own, name) ? own[name] : undefined;
  }

  async #callOwn(
    { id, input, signal, name }: ToolCall,
    execute: NonNullable<OwnTools[string]['execute']>,
  ): Promise<Answer> {
    return ownAnswer(() => {
      const tool = this.#own.find((one) => one.name === name);
      const args = readArguments(input);
      const restored = (tool && this.#restoring(tool)?.(args)) ?? args;
      return execute(restored, { id, signal: bothSignals(this.#options.signal, signal) });
    });
  }

  /** Executes a call through `call_tool`: the same as by name, with arguments of the server's own schema. */
  async #dispatch(request: ToolCall): Promise<Answer> {
    try {
      const wrapped = wrappedCall(readArguments(request.input), EXAMPLE_NAME);
      if (wrapped instanceof PlugboardError) return failed(wrapped);
      const { name, args, select } = wrapped;
      if (this.#ownTool(name) !== undefined || name === TOOL_SEARCH)
        return await this.call({ ...request, name, input: args });
      const tool = this.host.find?.(name);
      return await this.#answer({
        ...request,
        name,
        input: args,
        select,
        restore: tool && ((given) => withoutNulls(given, tool.inputSchema)),
      });
    } catch (thrown) {
      return failed(asPlugboardError(thrown));
    }
  }

  #answer(request: AnswerRequest & Pick<ToolCall, 'media'>): Promise<Answer> {
    const { onProgress, signal, timeoutMs } = this.#options;
    const { media = this.#media } = request;
    const viaCallTool = request.name === TOOL_SEARCH && this.#dispatches(this.host.tools());
    const deduplicate = this.#options.deduplicate ?? this.host.id !== undefined;
    const how = { onProgress, signal, timeoutMs, media, mediaLimits: this.#limits, viaCallTool, deduplicate };
    return answer(this.host, how, request);
  }

  /** Whether found tools are called through `call_tool`: there is a search, and its name is free. */
  #dispatches(tools: readonly Tool[]): boolean {
    return (
      this.#options.found !== 'name' &&
      !this.#isTaken(CALL_TOOL) &&
      tools.some(({ name, server }) => name === TOOL_SEARCH && server === '')
    );
  }

  #isTaken(name: string): boolean {
    return this.#ownTool(name) !== undefined || this.#options.taken?.has(name) === true;
  }

  #fill(tools: readonly Tool[]): Shelf<Definition> {
    const definitions = new Map<string, Definition>();
    const quarantined: QuarantinedTool[] = [];
    const dispatches = this.#dispatches(tools);
    const isListed = ({ deferred }: Tool): boolean =>
      deferred !== true || !dispatches || this.#options.found !== 'call_tool';
    const add = (tool: Tool): void => {
      const conversion = this.#convert(tool);
      if (conversion.ok) definitions.set(tool.name, this.#define(tool, conversion.schema, conversion.strict));
      else quarantined.push(this.#report(tool, conversion.reason));
    };
    for (const tool of this.#own) add(tool);
    for (const tool of tools) {
      if (this.#isTaken(tool.name)) {
        quarantined.push(this.#report(tool, TAKEN));
      } else if (isListed(tool)) {
        add(tool);
      }
      if (tool.name !== TOOL_SEARCH || tool.server !== '') continue;
      if (dispatches) add(this.#callTool);
      else if (this.#options.found !== 'name' && this.#isTaken(CALL_TOOL) && !this.#isTaken(TOOL_SEARCH))
        quarantined.push(this.#report(this.#callTool, TAKEN));
    }
    return { definitions, quarantined };
  }

  #report({ name, server }: Tool, reason: string): QuarantinedTool {
    const quarantined = { name, server, reason };
    if (!this.#reported.has(name)) {
      this.#reported.add(name);
      this.#options.onQuarantine?.(quarantined);
    }
    return quarantined;
  }

  #define(tool: Tool, schema: JsonSchema, strict: boolean): Definition {
    const known = this.#defined.get(tool);
    if (known !== undefined) return known;
    const { maxDescriptionChars = Number.POSITIVE_INFINITY, define } = this.#options;
    const { description: whole } = tool;
    const kept = maxDescriptionChars < 1 ? '' : `${whole.slice(0, maxDescriptionChars - 1)}…`;
    const description = whole.length <= maxDescriptionChars ? whole : kept;
    const definition = define({ tool, description, schema, strict });
    this.#defined.set(tool, definition);
    return definition;
  }

  #restoring(tool: Tool): AnswerRequest['restore'] {
    const conversion = this.#convert(tool);
    const restore = conversion.ok ? conversion.restore : undefined;
    return (args) => withoutNulls(restore === undefined ? args : restore(args), tool.inputSchema);
  }

  #convert(tool: Tool): Converted {
    return getOrMake(this.#converted, tool.inputSchema, () => this.#convertNow(tool.inputSchema));
  }

  #convertNow(schema: unknown): Converted {
    if (this.#options.strict && allowsStrict(schema)) {
      const strictly = convert(schema, 'openai-strict');
      if (strictly.ok) return { ...strictly, strict: true };
    }
    return { ...convert(schema, this.#options.provider), strict: false };
  }
}

function isSame(a: readonly Tool[], b: readonly Tool[]): boolean {
  return a === b || (a.length === b.length && a.every((tool, i) => tool === b[i]));
}

type JsonObject = Readonly<Record<string, unknown>>;

const MAX_DEPTH = 32;

/** Returns the arguments without nulls for declared, optional, non-nullable arguments; unchanged if there are none. */
function withoutNulls(args: Record<string, unknown>, schema: JsonObject): Record<string, unknown> {
  return hasNull(args, 0) ? (cleaned(args, schema, schema, 0) as Record<string, unknown>) : args;
}

function hasNull(value: unknown, depth: number): boolean {
  if (value === null) return true;
  if (typeof value !== 'object' || depth > MAX_DEPTH) return false;
  return Object.values(value).some((member) => hasNull(member, depth + 1));
}

function cleaned(value: unknown, written: unknown, root: JsonObject, depth: number): unknown {
  const schema = resolved(written, root);
  if (schema === undefined || typeof value !== 'object' || value === null || depth > MAX_DEPTH) return value;
  if (Array.isArray(value)) return value.map((item) => cleaned(item, schema['items'], root, depth + 1));
  const { properties, required } = schema;
  if (!isRecord(properties)) return value;
  const entries = Object.entries(value).flatMap(([name, member]): [string, unknown][] => {
    const property = Object.hasOwn(properties, name) ? properties[name] : undefined;
    const isOptional = !(Array.isArray(required) && required.includes(name));
    if (member === null && isOptional && property !== undefined && !takesNull(property, root, 0)) return [];
    return [[name, cleaned(member, property, root, depth + 1)]];
  });
  return Object.fromEntries(entries);
}

/** Also true if it cannot be determined: then the server decides. */
function takesNull(written: unknown, root: JsonObject, depth: number): boolean {
  const schema = resolved(written, root);
  if (schema === undefined || depth > MAX_DEPTH) return true;
  if (schema['nullable'] === true) return true;
  if (Object.hasOwn(schema, 'const')) return schema['const'] === null;
  const { type, enum: values } = schema;
  if (Array.isArray(values) && !values.includes(null)) return false;
  if (type !== undefined) return Array.isArray(type) ? type.includes('null') : type === 'null';
  for (const key of ['anyOf', 'oneOf'] as const) {
    const branches = schema[key];
    if (Array.isArray(branches)) return branches.some((branch) => takesNull(branch, root, depth + 1));
  }
  const { allOf } = schema;
  return !Array.isArray(allOf) || allOf.every((part) => takesNull(part, root, depth + 1));
}

/** Resolves a schema's reference; undefined if the target is unknown. */
function resolved(written: unknown, root: JsonObject): JsonObject | undefined {
  if (!isRecord(written)) return undefined;
  const { $ref } = written;
  if (typeof $ref !== 'string') return written;
  const target = followPointer(root, $ref)?.target;
  return isRecord(target) && typeof target['$ref'] !== 'string' ? target : undefined;
}

/** OpenAI's strict rules cut off deeper schemas: ten levels, each of them `properties` and a name. */
const MAX_NESTING = 18;

/**
 * Returns false if an object is open on purpose: strict mode would turn it into JSON text or reject its keys. A
 * property that happens to be named like a keyword only disables strict mode for the tool.
 */
function allowsStrict(schema: unknown): boolean {
  return !isOpen(schema, 0);
}

function isOpen(value: unknown, depth: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (depth > MAX_NESTING) return true;
  if (Array.isArray(value)) return value.some((item) => isOpen(item, depth + 1));
  if (!isRecord(value)) return false;
  const { additionalProperties, patternProperties } = value;
  if (additionalProperties === true || isRecord(additionalProperties)) return true;
  if (patternProperties !== undefined || (depth > 0 && isAnyObject(value))) return true;
  return Object.values(value).some((inner) => isOpen(inner, depth + 1));
}

/** True for an object schema without constraints on its members. */
function isAnyObject(schema: Record<string, unknown>): boolean {
  const { type } = schema;
  const types = Array.isArray(type) ? type : [type];
  const hasStructure = ['properties', 'anyOf', 'oneOf', 'allOf', '$ref'].some((key) =>
    Object.hasOwn(schema, key),
  );
  return types.includes('object') && !hasStructure;
}
