/** The author's own tools next to those of a host, for adapters of providers. */

import type { ContentBlock } from '../catalog/accept-result.ts';
import { summarizedName } from '../catalog/signature.ts';
import type { Tool } from '../catalog/tool.ts';
import { asPlugboardError } from '../errors.ts';
import { isRecord, parseRecord } from '../lib/json.ts';
import type { Answer } from './answer.ts';

/** One of your own tools. */
export interface OwnTool {
  /** For the model. */
  readonly description?: string | undefined;
  /** The JSON Schema of the arguments (default: no arguments). */
  readonly inputSchema?: Readonly<Record<string, unknown>> | undefined;
  /**
   * Runs the tool. Its result is a string, a JSON value, or an MCP result (`{ content: […] }`); the model gets the
   * message of an exception. Without it, `executeAll` leaves calls of this tool to you.
   */
  readonly execute?:
    | ((
        input: Readonly<Record<string, unknown>>,
        options: { readonly id: string; readonly signal?: AbortSignal | undefined },
      ) => unknown)
    | undefined;
}

/** Tools by name. A tool of a host with the same name is omitted, and reported to `onQuarantine`. */
export type OwnTools = Readonly<Record<string, OwnTool>>;

/** The option for tools of the author's own program. */
export interface OwnToolsOptions {
  /** Your own tools: offered with those of the host, first in the list, and run by `execute` and `executeAll`. */
  readonly tools?: OwnTools | undefined;
}

const NO_ARGUMENTS = { type: 'object', properties: {} };

export function asTool(name: string, { description = '', inputSchema = NO_ARGUMENTS }: OwnTool): Tool {
  return { name, server: '', tool: name, description, inputSchema };
}

/** Runs a tool and returns its answer; never rejects. */
export async function ownAnswer(run: () => unknown): Promise<Answer> {
  try {
    return answerOf(await run());
  } catch (thrown) {
    const { message } = asError(thrown);
    return { content: [{ type: 'text', text: message }], isError: true };
  }
}

function asError(thrown: unknown): { readonly message: string } {
  return thrown instanceof Error ? thrown : asPlugboardError(thrown);
}

function answerOf(value: unknown): Answer {
  if (isRecord(value) && Array.isArray(value['content'])) {
    const content = value['content'] as readonly ContentBlock[]; // The author's own value, checked by its types.
    const { structuredContent } = value;
    const isError = value['isError'] === true;
    return structuredContent === undefined ? { content, isError } : { content, structuredContent, isError };
  }
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
  return { content: [{ type: 'text', text }], isError: false };
}

/**
 * Returns the names in the order in which they were found: a search returns one signature or definition per line.
 * Instructions of servers are in blocks after the first, and can contain anything.
 */
export function foundNames({ content, isError }: Answer): string[] {
  if (isError) return [];
  const [first] = content;
  const lines = first?.type === 'text' ? first.text.split('\n') : [];
  return lines.flatMap((line) => {
    const name = line.startsWith('{') ? nameIn(line) : summarizedName(line);
    return name === undefined ? [] : [name];
  });
}

function nameIn(line: string): string | undefined {
  const name = parseRecord(line)?.['name'];
  return typeof name === 'string' ? name : undefined;
}
