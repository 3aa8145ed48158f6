/** Runs one call of a tool: finds it, validates the arguments, runs it, and converts its outcome (KIT-2). */

import { checkParams } from '../catalog/param-headers.ts';
import type { Era } from '../connection/eras.ts';
import type { Params } from '../endpoint/client-era.ts';
import { invalidParams, RpcFailure } from '../endpoint/rpc-failure.ts';
import { PlugboardError } from '../errors.ts';
import { isRecord } from '../lib/json.ts';
import { RPC_INTERNAL_ERROR } from '../lib/json-rpc.ts';
import { nearest } from '../lib/nearest.ts';
import { sentences } from '../lib/sentences.ts';
import type { Context } from './handler-context.ts';
import { isToolResult, toErrorResult, toStructuredResult, toToolResult } from './handler-results.ts';
import type { KitParts } from './kit-backend.ts';
import type { OfferedTool } from './offer.ts';

/** The error code of a failed handler in the legacy era; the modern one reserves the codes around it. */
const RPC_HANDLER_FAILED = -32000;

export function handlerFailedCode(era: Era): number {
  return era === 'modern' ? RPC_INTERNAL_ERROR : RPC_HANDLER_FAILED;
}

export async function callTool(parts: KitParts, params: Params, context: Context): Promise<Params> {
  const { name, arguments: given = {} } = params;
  if (typeof name !== 'string') throw invalidParams('tools/call needs the name of a tool');
  if (!isRecord(given)) throw invalidParams('The arguments of a tool must be an object');
  const found = parts.offer.findTool(name, context);
  const offered = found instanceof Promise ? await found : found;
  if (offered === undefined) throw invalidParams(unknownTool(name, await parts.offer.admittedNames(context)));
  // For a tool that may be hidden, this was not checked before the request began.
  if (found instanceof Promise && context.client.era === 'modern')
    checkParams(context.headers, offered.mirrored, given);
  const { input, tool } = offered;
  let args: unknown = given;
  if (input !== undefined) {
    const pending = input.check(given);
    const verdict = pending instanceof Promise ? await pending : pending;
    if ('problems' in verdict) {
      return toErrorResult(`Invalid arguments for ${name}: ${verdict.problems.join('; ')}`);
    }
    args = verdict.value;
  }
  try {
    // The arguments have passed the check that their type was derived from.
    const returned = await tool.run(args as never, context);
    return await shaped(offered, returned);
  } catch (thrown) {
    if (thrown instanceof RpcFailure) throw thrown;
    const error = messageOf(thrown);
    if ((tool.errors ?? parts.errors) === 'protocol') {
      throw new RpcFailure(handlerFailedCode(context.client.era), 'tools/call failed', { error });
    }
    return toErrorResult(error);
  }
}

async function shaped({ tool, output }: OfferedTool, returned: unknown): Promise<Params> {
  if (output === undefined) return toToolResult(returned);
  // A whole result has its own structured content; a failed one has none.
  if (isToolResult(returned) && (returned.isError === true || returned.structuredContent !== undefined)) {
    return toToolResult(returned);
  }
  const verdict = await output.check(returned);
  if ('value' in verdict) return toStructuredResult(verdict.value);
  throw new PlugboardError(
    'INTERNAL',
    `${tool.name} returned a result that its output schema does not allow: ${verdict.problems.join('; ')}`,
  );
}

function unknownTool(name: string, names: Iterable<string>): string {
  const [meant] = nearest(name, names);
  const hint = meant === undefined ? undefined : `Did you mean ${JSON.stringify(meant)}?`;
  return sentences(`There is no tool ${JSON.stringify(name)}`, hint);
}

/** Returns the message of an exception for the client. */
export function messageOf(thrown: unknown): string {
  if (thrown instanceof PlugboardError) return sentences(thrown.message, thrown.hint);
  return thrown instanceof Error ? thrown.message : String(thrown);
}
