/** Tools of the agent's author next to those of a host, for adapters of providers. */

import type { ContentBlock } from '../catalog/accept-result.ts';
import type { Tool } from '../catalog/tool.ts';
import { asPlugboardError } from '../errors.ts';
import { isRecord } from '../lib/json-rpc.ts';
import type { Answer } from './answer.ts';

/** A tool of your own. */
export interface OwnTool {
  /** For the model. */
  readonly description?: string | undefined;
  /** The JSON Schema of the arguments (default: no arguments). */
  readonly inputSchema?: Readonly<Record<string, unknown>> | undefined;
  /**
   * Runs the tool. Its result is a text, a JSON value, or a result of MCP (`{ content: […] }`); an error that it throws is
   * answered to the model. Without it, `executeAll` leaves calls of this tool to you.
   */
  readonly execute?:
    | ((
        input: Readonly<Record<string, unknown>>,
        options: { readonly id: string; readonly signal?: AbortSignal | undefined },
      ) => unknown)
    | undefined;
}

/** By name. A tool of a host that has the same name is left out, and reported to `onQuarantine`. */
export type OwnTools = Readonly<Record<string, OwnTool>>;

export interface OwnToolsOptions {
  /**
   * Tools of your own: offered with those of the host, first in the list, and run by `execute` and `executeAll`.
   */
  readonly tools?: OwnTools | undefined;
}

const NO_ARGUMENTS = { type: 'object', properties: {} };

export function asTool(name: string, { description = '', inputSchema = NO_ARGUMENTS }: OwnTool): Tool {
  return { name, server: '', tool: name, description, inputSchema };
}

/** What became of a call; never rejects. */
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
    const content = value['content'] as readonly ContentBlock[]; // the author's own; types hold them to it
    const { structuredContent } = value;
    const isError = value['isError'] === true;
    return structuredContent === undefined ? { content, isError } : { content, structuredContent, isError };
  }
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
  return { content: [{ type: 'text', text }], isError: false };
}
