/** Tools for the AI SDK (`ai` 5, 6 and 7): a live `ToolSet` of dynamic tools. */

import { TOOL_SEARCH } from '../catalog/deferral.ts';
import type { JsonSchema } from '../catalog/schemas/write-schema.ts';
import type { Tool } from '../catalog/tool.ts';
import { asPlugboardError, PlugboardError } from '../errors.ts';
import {
  type ParsedArguments,
  SchemaChecks,
  type ToolSchema,
  type ToolSchemas,
  type TypedResult,
} from '../host/typed-tools.ts';
import { isStandard, type StandardSchema } from '../lib/author-schema.ts';
import { isRecord } from '../lib/json.ts';
import { nearest } from '../lib/nearest.ts';
import type { AdapterHost, AdapterOptions } from './adapter-host.ts';
import { type Answer, failed } from './answer.ts';
import { checkAdapter } from './check-options.ts';
import { keepLive } from './live-tools.ts';
import { errorText, isImage, type MediaPart, mapParts, textOf } from './parts.ts';
import { type Shelf, Toolbox, type Usable } from './toolbox.ts';

/**
 * The SDK's lazy form of a schema. The schema itself is marked with a symbol that only the SDK's own types can name,
 * so the function is typed to return `never`: that is assignable wherever the SDK expects a schema.
 */
type AiSdkSchema = (() => never) & { readonly jsonSchema: JsonSchema };

/** The content may include media, in the form that the running version of the SDK accepts without a warning. */
type AiSdkModelOutput =
  | { readonly type: 'text'; readonly value: string }
  | { readonly type: 'error-text'; readonly value: string }
  | { readonly type: 'content'; readonly value: AiSdkContent[] };

interface AiSdkContent {
  readonly type: 'text';
  readonly text: string;
}

/** The forms of media, by the version of the SDK. */
type AiSdkMedia =
  | { readonly type: 'media' | 'image-data' | 'file-data'; readonly data: string; readonly mediaType: string }
  | {
      readonly type: 'file';
      readonly data: { readonly type: 'data'; readonly data: string };
      readonly mediaType: string;
    };

type Version = 5 | 6 | 7;

/** A tool for the AI SDK. */
export interface AiSdkTool {
  readonly type: 'dynamic';
  readonly title?: string;
  readonly description: string;
  readonly inputSchema: AiSdkSchema;
  /** The origin of the tool, for programs that show the call. */
  readonly metadata: { readonly server: string; readonly tool: string };
  /** Present with the option `needsApproval`. */
  readonly needsApproval?: (input: unknown) => Promise<boolean>;
  /** Calls the tool; called by the SDK. */
  execute(input: unknown, options?: AiSdkCallOptions): Promise<Answer>;
  /** Accepts the options of `ai` 6 and 7, or the output itself, as `ai` 5 passes it. */
  toModelOutput(options: { readonly output: unknown } | Answer): AiSdkModelOutput;
}

/** The options that the SDK passes to a tool. */
interface AiSdkCallOptions {
  readonly toolCallId?: string;
  readonly abortSignal?: AbortSignal | undefined;
  readonly messages?: readonly object[];
}

/** A tool that the option `schemas` names. */
export interface AiSdkTypedTool<S extends ToolSchema>
  extends Omit<AiSdkTool, 'type' | 'inputSchema' | 'execute'> {
  readonly inputSchema: S extends { readonly inputSchema: infer Input extends StandardSchema }
    ? Input
    : AiSdkSchema;
  /** Calls the tool; called by the SDK. */
  execute(input: ParsedArguments<S>, options?: AiSdkCallOptions): Promise<TypedResult<S, Answer>>;
}

/** The tools that `schemas` names, and those of the author. */
export type AiSdkTypedTools<S extends ToolSchemas, Own extends object = object> = {
  [Name in keyof S]: AiSdkTypedTool<S[Name]>;
} & Own;

/** A live `ToolSet` of the AI SDK. */
export type AiSdkTools = Record<string, AiSdkTool>;

/** Options of `toAiSdk`. */
export interface AiSdkOptions<Own extends object = object> extends AdapterOptions {
  /**
   * Your own tools, in the SDK's form: they are first in the set, and the set stays live. A tool of the host with the
   * same name is omitted, and reported to `onQuarantine`.
   */
  readonly tools?: Own | undefined;
  /**
   * The tools of the set, by name, with your own schemas: the set has exactly these, also without a search, and exact
   * types. The SDK validates a model's arguments with `inputSchema` (default: the server's schema); `execute`
   * resolves to an answer whose `structuredContent` was validated with `outputSchema`, or that has an error. A tool
   * that does not exist when the set is created throws `UNKNOWN_TOOL`.
   */
  readonly schemas?: ToolSchemas | undefined;
  /**
   * Calls that need an approval use the SDK's own mechanism (`ai` 6 and 7), which can leave the process: the run ends
   * with a `tool-approval-request`, and continues with messages that contain the answer. Default: the host's
   * `approve` is called.
   */
  readonly needsApproval?: boolean | undefined;
  /**
   * The major version of `ai` (default: detected when a tool is called, 6 before that). It decides the form of images
   * and files in results.
   */
  readonly version?: 5 | 6 | 7 | undefined;
}

/** The tools of a host, and those of the author. */
export type AiSdkToolsWith<Own extends object> = Record<string, AiSdkTool | Own[keyof Own]> & Own;

/** The marker of a schema that was not created by a schema library. */
const SCHEMA = Symbol.for('vercel.ai.schema');
/** ai 5 requires this one too. */
const VALIDATOR = Symbol.for('vercel.ai.validator');

/**
 * Returns a `ToolSet` for `generateText`, `streamText` and agents. It follows changes of the host's servers and its own
 * searches. Copies (`{ ...toAiSdk(host), mine }`) work too: tools that `tool_search` finds are called through
 * `call_tool`.
 *
 * @param host - The host, or a session of it.
 * @param options - Your own tools, exact schemas, approvals by the SDK, media.
 * @returns A live `ToolSet`.
 * @throws PlugboardError `CONFIG_INVALID` if the first argument is not a host, or for an invalid option.
 * @example
 * const tools = toAiSdk(host);
 * Object.keys(tools); // → ['mcp__demo__add']
 * const output = await tools['mcp__demo__add'].execute({ a: 1, b: 2 });
 * output; // → { content: [{ type: 'text', text: '3' }], isError: false }
 *
 * const mine = { description: 'Says hello.', inputSchema: {}, execute: () => 'hello' };
 * Object.keys(toAiSdk(host, { tools: { mine } })); // → ['mine', 'mcp__demo__add']
 */
export function toAiSdk<const S extends ToolSchemas, Own extends object = Record<never, never>>(
  host: AdapterHost,
  options: AiSdkOptions<Own> & { readonly schemas: S },
): AiSdkTypedTools<S, Own>;
export function toAiSdk<Own extends object>(
  host: AdapterHost,
  options: AiSdkOptions<Own> & { readonly tools: Own },
): AiSdkToolsWith<Own>;
export function toAiSdk(host: AdapterHost, options?: AiSdkOptions): AiSdkTools;
export function toAiSdk(host: AdapterHost, options: AiSdkOptions = {}): Record<string, unknown> {
  checkAdapter('toAiSdk', host, options);
  const { tools: own = {}, version, needsApproval = false, schemas, ...common } = options;
  const checks = schemas && new SchemaChecks(schemas, 'model');
  const tools: Record<string, unknown> = { ...own };
  const state: { version: Version | undefined } = { version };
  const toolbox: Toolbox<AiSdkTool> = new Toolbox(checks === undefined ? host : typedHost(host, checks), {
    ...common,
    provider: 'ai-sdk',
    media: options.media ?? 'common',
    taken: new Set(Object.keys(own)),
    define: (usable) =>
      toolOf(usable, inputSchemaOf(usable, checks), {
        async execute(input, given = {}) {
          const { toolCallId = '', abortSignal, messages = [] } = given;
          const { name } = usable.tool;
          state.version = version ?? versionOf(given) ?? state.version;
          const parsed = await parsedInput(checks, name, input, messages);
          if (!('input' in parsed)) return parsed;
          const approved = needsApproval && isApproved(messages, toolCallId);
          const output = await toolbox.call({
            name,
            id: toolCallId,
            input: parsed.input,
            signal: abortSignal,
            approved,
          });
          // A search changes only the tools of its caller, so there is no event.
          if (name === TOOL_SEARCH) refresh();
          return output;
        },
        toModelOutput: (given) => modelOutput(toolbox, given, state.version),
        ...(needsApproval
          ? { needsApproval: (input: unknown) => toolbox.isAskedAbout(usable.tool.name, input) }
          : {}),
      }),
  });
  const given = new Map<string, AiSdkTool>();
  const refresh = keepLive(toolbox, tools, (target, shelf) => fill(target, given, shelf));
  return tools;
}

/** The SDK has already parsed the arguments of a model's call: a schema with transforms must not be applied twice. */
async function parsedInput(
  checks: SchemaChecks | undefined,
  name: string,
  input: unknown,
  messages: readonly object[],
): Promise<{ readonly input: unknown } | Answer> {
  const isFromSdk = messages.length > 0;
  if (checks === undefined || isFromSdk) return { input };
  try {
    return { input: await checks.parsed(name, input) };
  } catch (thrown) {
    return failed(asPlugboardError(thrown));
  }
}

/** Whether the conversation contains the person's approval of this call: frameworks without approvals have none. */
function isApproved(messages: readonly object[], toolCallId: string): boolean {
  const parts = messages.flatMap((message) => {
    const content = isRecord(message) ? message['content'] : undefined;
    return Array.isArray(content) ? content.filter(isRecord) : [];
  });
  const request = parts.find(
    (part) => part['type'] === 'tool-approval-request' && part['toolCallId'] === toolCallId,
  );
  if (request === undefined) return false;
  const { approvalId } = request;
  const responses = parts.filter(
    (part) => part['type'] === 'tool-approval-response' && part['approvalId'] === approvalId,
  );
  return responses.length > 0 && responses.every(({ approved }) => approved === true);
}

/** Detects the version by the options passed to a tool; undefined if a program calls it. */
function versionOf(options: object): Version | undefined {
  if ('context' in options || 'experimental_sandbox' in options) return 7;
  return 'experimental_context' in options ? 6 : undefined;
}

/** Changes only tools that it has added: others are the author's. */
function fill(
  tools: Record<string, unknown>,
  given: Map<string, AiSdkTool>,
  { definitions }: Shelf<AiSdkTool>,
): void {
  for (const [name, tool] of given) {
    if (definitions.has(name)) continue;
    given.delete(name);
    if (tools[name] === tool) delete tools[name];
  }
  for (const [name, definition] of definitions) {
    if (Object.hasOwn(tools, name) && tools[name] !== given.get(name)) continue;
    given.set(name, definition);
    tools[name] = definition;
  }
}

/** The SDK supports schemas of libraries itself, and converts them to JSON Schema. */
function inputSchemaOf(
  { tool: { name }, schema }: Usable,
  checks: SchemaChecks | undefined,
): { readonly type?: 'dynamic'; readonly inputSchema: StandardSchema | AiSdkSchema } {
  if (checks === undefined) return { type: 'dynamic', inputSchema: schemaOf(schema) };
  const given = checks.schemas[name]?.inputSchema;
  if (given === undefined) return { inputSchema: schemaOf(schema) };
  return {
    inputSchema: isStandard(given) ? given : schemaOf(given, (value) => validated(checks, name, value)),
  };
}

type Validated =
  | { readonly success: true; readonly value: unknown }
  | { readonly success: false; readonly error: Error };

async function validated(checks: SchemaChecks, name: string, value: unknown): Promise<Validated> {
  try {
    return { success: true, value: await checks.parsed(name, value) };
  } catch (thrown) {
    return { success: false, error: asPlugboardError(thrown) };
  }
}

function toolOf(
  { tool, description }: Usable,
  kind: ReturnType<typeof inputSchemaOf>,
  run: Pick<AiSdkTool, 'execute' | 'toModelOutput' | 'needsApproval'>,
): AiSdkTool {
  const made = {
    ...kind,
    ...(tool.title === undefined ? {} : { title: tool.title }),
    description,
    metadata: { server: tool.server, tool: tool.tool },
    ...run,
  };
  // A typed tool has the type of the overload for `schemas`.
  return made as AiSdkTool;
}

function schemaOf(jsonSchema: JsonSchema, validate?: (value: unknown) => Promise<Validated>): AiSdkSchema {
  const schema = { [SCHEMA]: true, [VALIDATOR]: true, _type: undefined, jsonSchema, validate };
  return Object.assign((() => schema) as () => never, { jsonSchema });
}

/** The output comes back from the stored messages, so it is validated again. */
function modelOutput(toolbox: Toolbox<AiSdkTool>, given: unknown, version: Version = 6): AiSdkModelOutput {
  // ai 5 passes the output itself.
  const isWrapped = isRecord(given) && 'output' in given && !isAnswer(given);
  const output = isWrapped ? given['output'] : given;
  if (!isAnswer(output)) return { type: 'text', value: JSON.stringify(output) ?? '' };
  const parts = toolbox.parts(output);
  // Not every provider has a flag for errors.
  if (output.isError) return { type: 'error-text', value: errorText(output, parts) };
  if (parts.every(({ type }) => type === 'text')) return { type: 'text', value: textOf(parts) };
  const value = mapParts<AiSdkContent | AiSdkMedia>(
    parts,
    (text) => ({ type: 'text', text }),
    (part) => mediaOf(part, isWrapped ? version : 5),
  );
  // No version's types include the media of all others.
  return { type: 'content', value: value as AiSdkContent[] };
}

function mediaOf(part: MediaPart, version: Version): AiSdkMedia {
  const { data, mimeType: mediaType } = part;
  if (version === 7) return { type: 'file', data: { type: 'data', data }, mediaType };
  if (version === 5) return { type: 'media', data, mediaType };
  return { type: isImage(part) ? 'image-data' : 'file-data', data, mediaType };
}

function isAnswer(output: unknown): output is Answer {
  return isRecord(output) && Array.isArray(output['content']);
}

/** Replaces a server's schema where the author has one, so that it is not converted. */
const REPLACED: Tool['inputSchema'] = { type: 'object' };

/**
 * Offers exactly the tools that `schemas` names, under these names, found or not. A tool that its server has removed
 * stays: a call of it returns the reason.
 *
 * @throws PlugboardError UNKNOWN_TOOL if a tool does not exist.
 */
function typedHost(host: AdapterHost, checks: SchemaChecks): AdapterHost {
  const { schemas } = checks;
  const names = Object.keys(schemas);
  const offered = new Map<string, { readonly from: Tool; readonly tool: Tool }>();
  const find = (name: string): Tool | undefined =>
    host.find === undefined ? host.tools().find((tool) => tool.name === name) : host.find(name);
  const update = (): readonly Tool[] => {
    for (const name of names) {
      const from = find(name);
      if (from === undefined || offered.get(name)?.from === from) continue;
      const { deferred: _deferred, ...rest } = from;
      const inputSchema = schemas[name]?.inputSchema === undefined ? from.inputSchema : REPLACED;
      offered.set(name, { from, tool: { ...rest, name, inputSchema } });
    }
    return names.flatMap((name) => offered.get(name)?.tool ?? []);
  };
  update();
  const missing = names.filter((name) => !offered.has(name));
  if (missing.length > 0) throw unknownTools(host, missing);
  return {
    tools: update,
    find: (name) => offered.get(name)?.tool,
    call: (name, args, options = {}) => checks.call((...given) => host.call(...given), name, args, options),
    ...(host.approvalOf === undefined ? {} : { approvalOf: (name, args) => host.approvalOf?.(name, args) }),
    ...(host.on === undefined ? {} : { on: (event, listener) => host.on?.(event, listener) ?? (() => {}) }),
  };
}

function unknownTools(host: AdapterHost, missing: readonly string[]): PlugboardError {
  const names = missing.map((name) => JSON.stringify(name)).join(', ');
  const there = host.tools().map(({ name }) => name);
  const near = [...new Set(missing.flatMap((name) => nearest(name, there, 1)))];
  const hint =
    near.length > 0
      ? `Did you mean ${near.map((name) => JSON.stringify(name)).join(', ')}?`
      : 'Wait for the servers with `await host.ready()`; its result has those that failed.';
  return new PlugboardError('UNKNOWN_TOOL', `"schemas" names tools that are not there: ${names}`, { hint });
}
