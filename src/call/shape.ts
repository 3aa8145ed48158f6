/**
 * Makes a result fit for a model: cleaned, within the token limit, without what the model cannot take (CAL-5).
 *
 * Nothing is lost: what is left out is kept whole in a file, and the result says where and how to read it.
 */

import type { CallResult, ContentBlock } from '../catalog/accept-result.ts';
import { limitFor } from '../config/limits.ts';
import { asPlugboardError } from '../errors.ts';
import type { Call, CallContext, Stage } from './call.ts';
import { cleanResult } from './clean-result.ts';
import { type Cost, costOf, cutTo, wholeOf } from './cut.ts';
import type { HandedTask } from './handed-task.ts';
import { settingsOf, toolSettings } from './settings.ts';

export const WARN_OUTPUT_TOKENS = 10_000;

/** A result as `call --json` prints it. */
export interface ShapedResult extends CallResult {
  /** Present when the result was cut: what all of it would cost, and where all of it is ('' if nowhere). */
  readonly truncated?: { readonly tokens: number; readonly file: string };
  /** @internal Present in place of a result if the caller follows tasks itself. */
  readonly task?: HandedTask;
}

export const shape: Stage = (context, next) => async (call) => {
  const raw = await next(call);
  if (!call.session.forModel || raw.task !== undefined) return raw;
  const cleaned = cleanResult(raw);
  if (cleaned !== raw) {
    const { tool } = settingsOf(call);
    context.hidden(tool.server, `results of ${tool.tool}`);
  }
  const result = hasUnwanted(context, cleaned) ? await withoutUnwanted(context, call, cleaned) : cleaned;
  const cost = costOf(result);
  const max = maxTokensOf(context, call);
  if (cost.tokens > max) return cut(context, call, { result, cost, max });
  if (cost.tokens > WARN_OUTPUT_TOKENS) {
    const { tool } = settingsOf(call);
    context.log(tool.server, 'warning', `${tool.tool} answered with about ${cost.tokens} tokens`);
  }
  return result;
};

function maxTokensOf(context: CallContext, call: Call): number {
  const { entry } = settingsOf(call);
  return (
    toolSettings(context, call)?.maxOutputTokens ??
    entry.maxOutputTokens ??
    context.maxOutputTokens ??
    limitFor('maxOutputTokens', entry, context.settings())
  );
}

interface TooLong {
  readonly result: CallResult;
  readonly cost: Cost;
  readonly max: number;
}

async function cut(context: CallContext, call: Call, { result, cost, max }: TooLong): Promise<ShapedResult> {
  const { tool } = settingsOf(call);
  const whole = wholeOf(result, cost);
  const file = await save(context, call, whole.kind, whole.text);
  const where = file === '' ? 'the rest is lost' : `all of it is in ${file}`;
  context.log(
    tool.server,
    'warning',
    `${tool.tool}: about ${cost.tokens} tokens were cut to ${max}; ${where}`,
  );
  return {
    ...cutTo(result, cost, { max, file, whole: whole.text }),
    ...promised(call, result),
    truncated: { tokens: cost.tokens, file },
  };
}

/** Clients that were given an output schema refuse a result without structured content: it stays whole for them. */
function promised(call: Call, { structuredContent, isError }: CallResult): Partial<CallResult> {
  const { tool } = settingsOf(call);
  const isPromised = call.session.gateway && tool.outputSchema !== undefined && !isError;
  return isPromised && structuredContent !== undefined ? { structuredContent } : {};
}

function hasUnwanted(context: CallContext, { content }: CallResult): boolean {
  const { images, audio } = context.model;
  return (images === false || audio === false) && content.some((block) => isUnwanted(context, block));
}

function isUnwanted({ model }: CallContext, { type }: ContentBlock): boolean {
  return (type === 'image' && model.images === false) || (type === 'audio' && model.audio === false);
}

/** Pictures and sounds that the model cannot take become a file and a note. */
async function withoutUnwanted(context: CallContext, call: Call, result: CallResult): Promise<CallResult> {
  const content = await Promise.all(
    result.content.map(async (block): Promise<ContentBlock> => {
      if ((block.type !== 'image' && block.type !== 'audio') || !isUnwanted(context, block)) return block;
      const bytes = Buffer.from(block.data, 'base64');
      const ending = /^[a-z]+\/([a-z0-9]{1,16})/.exec(block.mimeType)?.[1] ?? 'bin';
      const file = await save(context, call, ending, bytes);
      const what = `${block.type} (${block.mimeType}, ${bytes.length} bytes)`;
      const where = file === '' ? 'it could not be saved' : `saved as ${file}`;
      return {
        type: 'text',
        text: `[${what} left out, because this model takes no ${block.type}; ${where}]`,
      };
    }),
  );
  return { ...result, content };
}

/** The tool has done its work by now: a folder that cannot be written must not cost the caller the answer. */
async function save(
  context: CallContext,
  call: Call,
  ending: string,
  content: string | Uint8Array,
): Promise<string> {
  const { tool } = settingsOf(call);
  const name = tool.name.replace(/[^\w-]/g, '_').slice(0, 64);
  try {
    return await context.outputs.save(`${name}.${ending}`, content);
  } catch (error) {
    const why = asPlugboardError(error).message;
    context.log(tool.server, 'warning', `the output of ${tool.tool} could not be saved: ${why}`);
    return '';
  }
}
