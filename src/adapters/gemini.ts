/** Tools for Gemini: function declarations, and the SDK's own shape of a tool that it calls by itself. */

import type { JsonSchema } from '../catalog/schemas/write.ts';
import type { AdapterHost, AdapterOptions, ExecuteOptions, QuarantinedTool } from './adapter-host.ts';
import type { Answer } from './answer.ts';
import { type MediaPart, type Part, partsOf, textOf } from './parts.ts';
import { Toolbox } from './toolbox.ts';

export interface GeminiDeclaration {
  name: string;
  description: string;
  /** Within the subset that Gemini's own `Schema` has; absent for a tool without parameters. */
  parametersJsonSchema?: JsonSchema;
}

export interface GeminiFunctionCall {
  readonly id?: string;
  readonly name?: string;
  readonly args?: Readonly<Record<string, unknown>>;
}

/** A part of the next message, with the answer to one call. */
export interface GeminiAnswerPart {
  functionResponse: {
    id?: string;
    name: string;
    response: { output: unknown } | { error: unknown };
    parts?: { inlineData: { mimeType: string; data: string } }[];
  };
}

export interface GeminiAdapter {
  /** For `config.tools` of the next request; empty when there is no tool. */
  readonly tools: { functionDeclarations: GeminiDeclaration[] }[];
  readonly quarantined: readonly QuarantinedTool[];
  /** Answers one function call; never rejects. */
  execute(call: GeminiFunctionCall, options?: ExecuteOptions): Promise<GeminiAnswerPart>;
  /** Answers all function calls of a response at the same time, in their order. */
  executeAll(
    calls: readonly GeminiFunctionCall[] | undefined,
    options?: ExecuteOptions,
  ): Promise<GeminiAnswerPart[]>;
  /** With `callTool`, what `@google/genai` asks of a tool that it calls by itself. */
  tool(): Promise<{ functionDeclarations: GeminiDeclaration[] }>;
  callTool(calls: GeminiFunctionCall[]): Promise<GeminiAnswerPart[]>;
}

/**
 * With `@google/genai`, `config: { tools: [toGemini(host)] }` is enough: the SDK makes the calls.
 *
 * @example
 * const gemini = toGemini(host);
 * gemini.tools[0].functionDeclarations.map(({ name }) => name); // → ['mcp__demo__add']
 * const parts = await gemini.executeAll([{ name: 'mcp__demo__add', args: { a: 1, b: 2 } }]);
 * parts; // → [{ functionResponse: { name: 'mcp__demo__add', response: { output: '3' } } }]
 */
export function toGemini(host: AdapterHost, options: AdapterOptions = {}): GeminiAdapter {
  const toolbox = new Toolbox<GeminiDeclaration>(host, {
    ...options,
    provider: 'gemini',
    define: ({ tool, description, schema }) => ({
      name: tool.name,
      description,
      ...(hasProperties(schema) ? { parametersJsonSchema: schema } : {}),
    }),
  });

  async function execute(
    call: GeminiFunctionCall,
    { signal }: ExecuteOptions = {},
  ): Promise<GeminiAnswerPart> {
    const { id, name = '', args } = call;
    const answer = await toolbox.call({ name, id: id ?? '', input: args, signal });
    return { functionResponse: { ...(id === undefined ? {} : { id }), name, ...responseOf(answer) } };
  }

  const executeAll: GeminiAdapter['executeAll'] = (calls, executeOptions) =>
    Promise.all((calls ?? []).map((call) => execute(call, executeOptions)));
  const declarations = (): GeminiDeclaration[] => [...toolbox.shelf.definitions.values()];

  return {
    get tools() {
      const functionDeclarations = declarations();
      return functionDeclarations.length === 0 ? [] : [{ functionDeclarations }];
    },
    get quarantined() {
      return toolbox.shelf.quarantined;
    },
    execute,
    executeAll,
    tool: async () => ({ functionDeclarations: declarations() }),
    callTool: (calls) => executeAll(calls),
  };
}

/** Gemini refuses an object without properties. */
function hasProperties({ properties }: JsonSchema): boolean {
  return typeof properties === 'object' && properties !== null && Object.keys(properties).length > 0;
}

function responseOf(answer: Answer): Pick<GeminiAnswerPart['functionResponse'], 'response' | 'parts'> {
  const { error, isError, structuredContent } = answer;
  if (error !== undefined) return { response: { error } };
  const all = partsOf(answer);
  if (isError) return { response: { error: textOf(all) } };
  const shown = all.filter(isShown);
  const said = all.filter((part) => !isShown(part));
  const output = structuredContent ?? (said.length === 0 ? 'see the attached parts' : textOf(said));
  if (shown.length === 0) return { response: { output } };
  return {
    response: { output },
    parts: shown.map(({ mimeType, data }) => ({ inlineData: { mimeType, data } })),
  };
}

/** Types that Gemini takes in the answer of a function. */
const SHOWN: ReadonlySet<string> = new Set([
  'image/png',
  'image/jpeg',
  'image/webp',
  'application/pdf',
  'text/plain',
]);

function isShown(part: Part): part is MediaPart {
  return part.type === 'media' && SHOWN.has(part.mimeType);
}
