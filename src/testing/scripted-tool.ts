/** Tools of a scripted server: a function is enough, everything else has a default. */

import { RpcFailure } from '../endpoint/rpc-failure.ts';
import { isRecord } from '../lib/json.ts';
import { RPC_INVALID_PARAMS } from '../lib/json-rpc.ts';
import { type Exchange, NO_ANSWER } from './exchange.ts';

/**
 * Thrown by a handler to answer its request with a JSON-RPC error.
 *
 * @example
 * const server = scriptedServer();
 * server.on('tools/list', () => {
 *   throw new RpcError(-32603, 'The database is away.');
 * });
 */
export class RpcError extends RpcFailure {}

/** A string becomes text content; an object is used as the result; a thrown Error becomes `isError`. */
export type ToolHandler = (args: Readonly<Record<string, unknown>>, exchange: Exchange) => unknown;

/** A tool definition, listed unchecked on purpose, and its handler (default: returns its arguments as JSON text). */
export interface ScriptedTool {
  readonly run?: ToolHandler;
  readonly [field: string]: unknown;
}

/** Tools of a scripted server, by name. */
export type ScriptedTools = Readonly<Record<string, ToolHandler | ScriptedTool>>;

export function listTools(tools: ScriptedTools): { tools: Record<string, unknown>[] } {
  return {
    tools: Object.entries(tools).map(([name, tool]) => {
      const { run: _, ...fields } = typeof tool === 'function' ? {} : tool;
      return { name, description: `The tool ${name}.`, inputSchema: { type: 'object' }, ...fields };
    }),
  };
}

export async function callTool(tools: ScriptedTools, exchange: Exchange): Promise<unknown> {
  const { name, arguments: given } = exchange.params;
  const tool = typeof name === 'string' && Object.hasOwn(tools, name) ? tools[name] : undefined;
  if (!tool) throw new RpcError(RPC_INVALID_PARAMS, `Unknown tool: ${String(name)}`);
  const args = isRecord(given) ? given : {};
  const run = typeof tool === 'function' ? tool : tool.run;
  try {
    const result = run ? await run(args, exchange) : JSON.stringify(args);
    return result === NO_ANSWER || isRecord(result) ? result : text(String(result));
  } catch (error) {
    if (error instanceof RpcError) throw error;
    return { ...text(error instanceof Error ? error.message : String(error)), isError: true };
  }
}

function text(value: string): { content: { type: 'text'; text: string }[] } {
  return { content: [{ type: 'text', text: value }] };
}
