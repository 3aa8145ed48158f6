/** Tools for Gemini: function declarations, and the SDK's own interface of a tool that it calls automatically. */

import type { JsonSchema } from '../catalog/schemas/write-schema.ts';
import type { AdapterHost, AdapterOptions, ExecuteOptions, QuarantinedTool } from './adapter-host.ts';
import type { OwnToolsOptions } from './adapter-own-tools.ts';
import type { Answer } from './answer.ts';
import { checkAdapter } from './check-options.ts';
import { type MediaPart, type Part, textOf } from './parts.ts';
import { Toolbox } from './toolbox.ts';

/** A function declaration for Gemini. */
export interface GeminiDeclaration {
  name: string;
  description: string;
  /** Within the subset of Gemini's own `Schema`; absent for a tool without parameters. */
  parametersJsonSchema?: JsonSchema;
}

/** A function call of Gemini. */
export interface GeminiFunctionCall {
  readonly id?: string;
  readonly name?: string;
  readonly args?: Readonly<Record<string, unknown>>;
}

/** A part of the next message, with the result of one call. */
export interface GeminiAnswerPart {
  functionResponse: {
    id?: string;
    name: string;
    response: { output: unknown } | { error: unknown };
    parts?: { inlineData: { mimeType: string; data: string } }[];
  };
}

/** Media next to the results, for models before Gemini 3, which accept none inside them. */
export interface GeminiMediaPart {
  inlineData: { mimeType: string; data: string };
}

/** Options of `toGemini`. */
export interface GeminiOptions extends AdapterOptions, OwnToolsOptions {
  /**
   * As for every adapter (default: `gemini-3`). With `gemini-2`, for models before Gemini 3, images, audio and PDFs
   * are separate parts after the results.
   */
  readonly media?: AdapterOptions['media'];
}

/** Function declarations for Gemini, and the functions that run their calls. */
export interface GeminiAdapter<Part = GeminiAnswerPart> {
  /** For `config.tools` of the next request; empty if there is no tool. */
  readonly tools: { functionDeclarations: GeminiDeclaration[] }[];
  /** Tools of the host that are not offered, with the reason. */
  readonly quarantined: readonly QuarantinedTool[];
  /** Whether calls of this name are executed here. */
  has(name: string): boolean;
  /** Executes one function call; never rejects. */
  execute(call: GeminiFunctionCall, options?: ExecuteOptions): Promise<GeminiAnswerPart>;
  /**
   * Executes the function calls of a response in parallel, with results in order. Calls of your `tools` without
   * `execute` are left to you.
   */
  executeAll(calls: readonly GeminiFunctionCall[] | undefined, options?: ExecuteOptions): Promise<Part[]>;
  /** With `callTool`, the interface of `@google/genai` for tools that it calls automatically. */
  tool(): Promise<{ functionDeclarations: GeminiDeclaration[] }>;
  /** Runs function calls, as the automatic function calling of the Gemini SDK expects it. */
  callTool(calls: GeminiFunctionCall[]): Promise<Part[]>;
}

/**
 * Creates the adapter for Gemini. With `@google/genai`, `config: { tools: [toGemini(host)] }` is enough: the SDK makes
 * the calls.
 *
 * @param host - The host, or a session of it.
 * @param options - Your own tools, media.
 * @returns The declarations for a request, and functions that run the calls of a response.
 * @throws PlugboardError `CONFIG_INVALID` if the first argument is not a host, or for an invalid option.
 * @example
 * const gemini = toGemini(host);
 * gemini.tools[0].functionDeclarations.map(({ name }) => name); // → ['mcp__demo__add']
 * const parts = await gemini.executeAll([{ name: 'mcp__demo__add', args: { a: 1, b: 2 } }]);
 * parts; // → [{ functionResponse: { name: 'mcp__demo__add', response: { output: '3' } } }]
 */
export function toGemini(
  host: AdapterHost,
  options: GeminiOptions & { readonly media: 'gemini-2' },
): GeminiAdapter<GeminiAnswerPart | GeminiMediaPart>;
export function toGemini(host: AdapterHost, options?: GeminiOptions): GeminiAdapter;
export function toGemini(
  host: AdapterHost,
  options: GeminiOptions = {},
): GeminiAdapter<GeminiAnswerPart | GeminiMediaPart> {
  checkAdapter('toGemini', host, options);
  const { tools: own, ...common } = options;
  const isBehind = options.media === 'gemini-2';
  const toolbox = new Toolbox<GeminiDeclaration>(host, {
    ...common,
    provider: 'gemini',
    media: options.media ?? 'gemini-3',
    own,
    define: ({ tool, description, schema }) => ({
      name: tool.name,
      description,
      ...(hasProperties(schema) ? { parametersJsonSchema: schema } : {}),
    }),
  });

  async function answered(
    { id, name = '', args }: GeminiFunctionCall,
    { signal }: ExecuteOptions = {},
    media?: ReadonlySet<string>,
  ): Promise<{ part: GeminiAnswerPart; shown: readonly MediaPart[] }> {
    const answer = await toolbox.call({ name, id: id ?? '', input: args, signal, media });
    const { response, shown } = responseOf(answer, toolbox.parts(answer, media));
    const parts = isBehind || shown.length === 0 ? {} : { parts: shown.map(inlinePart) };
    const head = id === undefined ? { name } : { id, name };
    return { part: { functionResponse: { ...head, response, ...parts } }, shown };
  }

  const executeAll = async (
    calls: readonly GeminiFunctionCall[] | undefined,
    executeOptions?: ExecuteOptions,
  ): Promise<(GeminiAnswerPart | GeminiMediaPart)[]> => {
    const ours = (calls ?? []).filter(({ name = '' }) => toolbox.answers(name));
    const answers = await Promise.all(ours.map((call) => answered(call, executeOptions)));
    const behind = isBehind ? answers.flatMap(({ shown }) => shown.map(inlinePart)) : [];
    return [...answers.map(({ part }) => part), ...behind];
  };
  const declarations = (): GeminiDeclaration[] => [...toolbox.shelf.definitions.values()];

  return {
    get tools() {
      const functionDeclarations = declarations();
      return functionDeclarations.length === 0 ? [] : [{ functionDeclarations }];
    },
    get quarantined() {
      return toolbox.shelf.quarantined;
    },
    has: (name) => toolbox.has(name),
    execute: async (call, executeOptions) =>
      (await answered(call, executeOptions, isBehind ? NO_MEDIA : undefined)).part,
    executeAll,
    tool: async () => ({ functionDeclarations: declarations() }),
    // The SDK passes every call to every tool that it was given.
    callTool: (calls) =>
      executeAll(calls.filter(({ name = '' }) => toolbox.has(name) || HOST_NAME.test(name))),
  };
}

/** The name of a removed or invented tool: no other tool has such a name. */
const HOST_NAME = /^mcp__/;

/** A single result is one part. */
const NO_MEDIA: ReadonlySet<string> = new Set();

/** Gemini rejects an object without properties. */
function hasProperties({ properties }: JsonSchema): boolean {
  return typeof properties === 'object' && properties !== null && Object.keys(properties).length > 0;
}

interface Response {
  readonly response: GeminiAnswerPart['functionResponse']['response'];
  readonly shown: readonly MediaPart[];
}

/** Structured content is passed unchanged if there is no text: then it is the only part. */
function responseOf({ error, isError, structuredContent }: Answer, all: readonly Part[]): Response {
  if (error !== undefined) return { response: { error }, shown: [] };
  if (isError) return { response: { error: textOf(all) }, shown: [] };
  const shown = all.filter((part) => part.type === 'media');
  const texts = all.filter((part) => part.type === 'text');
  if (texts.length === 0) return { response: { output: 'see the attached parts' }, shown };
  const [only, ...more] = texts;
  const isStructure =
    structuredContent !== undefined && more.length === 0 && only?.text === JSON.stringify(structuredContent);
  return { response: { output: isStructure ? structuredContent : textOf(texts) }, shown };
}

function inlinePart({ mimeType, data }: MediaPart): GeminiMediaPart {
  return { inlineData: { mimeType, data } };
}
