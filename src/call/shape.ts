/**
 * Makes a result fit for a model: cleaned, within the token limit, without what the model cannot take (CAL-5).
 *
 * Nothing is lost: what is left out is kept whole in a file, and the result says where and how to read it.
 */

import type { CallResult, ContentBlock } from '../catalog/accept-result.ts';
import { fileEnding, mediaType } from '../catalog/media-type.ts';
import { limitFor } from '../config/limits.ts';
import { asPlugboardError } from '../errors.ts';
import type { Call, CallContext, Stage } from './call.ts';
import { cleanResult } from './clean-result.ts';
import { type Cost, costOf, cutTo, wholeOf } from './cut.ts';
import type { HandedTask } from './handed-task.ts';
import { settingsOf, toolSettings } from './settings.ts';

export const WARN_OUTPUT_TOKENS = 10_000;

/** A result as `call --json` prints it. */
export interface ShapedResult<T = unknown> extends CallResult {
  readonly structuredContent?: T;
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
  const result = hasUnwanted(context, call, cleaned)
    ? await withoutUnwanted(context, call, cleaned)
    : cleaned;
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

/** Callers with an output schema refuse a result without structured content: it stays whole for them. */
function promised(call: Call, { structuredContent, isError }: CallResult): Partial<CallResult> {
  const { tool } = settingsOf(call);
  const isPromised =
    call.keepsStructured === true || (call.session.gateway && tool.outputSchema !== undefined && !isError);
  return isPromised && structuredContent !== undefined ? { structuredContent } : {};
}

function hasUnwanted({ model }: CallContext, { media }: Call, { content }: CallResult): boolean {
  const { images, audio } = model;
  if (images !== false && audio !== false && media === undefined) return false;
  return content.some((block) => unwantedOf(model, media, block) !== undefined);
}

/** Bytes that the model does not take, with the reason. */
interface Unwanted {
  readonly kind: string;
  readonly mimeType: string;
  readonly data: string;
  readonly why: string;
}

function unwantedOf(
  model: CallContext['model'],
  media: Call['media'],
  block: ContentBlock,
): Unwanted | undefined {
  const bytes = bytesOf(block);
  if (bytes === undefined) return undefined;
  const { kind, mimeType } = bytes;
  if (kind === 'image' ? model.images === false : kind === 'audio' && model.audio === false)
    return { ...bytes, why: `takes no ${kind}` };
  return media === undefined || media.has(mediaType(mimeType))
    ? undefined
    : { ...bytes, why: `does not take ${mimeType}` };
}

function bytesOf(block: ContentBlock): Omit<Unwanted, 'why'> | undefined {
  if (block.type === 'image' || block.type === 'audio')
    return { kind: block.type, mimeType: block.mimeType, data: block.data };
  if (block.type !== 'resource' || !('blob' in block.resource)) return undefined;
  const { uri, mimeType = 'application/octet-stream', blob } = block.resource;
  return { kind: `resource ${uri}`, mimeType, data: blob };
}

/** Media that the model cannot take becomes a file and a note. */
async function withoutUnwanted(context: CallContext, call: Call, result: CallResult): Promise<CallResult> {
  const content = await Promise.all(
    result.content.map(async (block): Promise<ContentBlock> => {
      const unwanted = unwantedOf(context.model, call.media, block);
      if (unwanted === undefined) return block;
      const { kind, mimeType, data, why } = unwanted;
      const bytes = Buffer.from(data, 'base64');
      const file = await save(context, call, fileEnding(mimeType), bytes);
      const where = file === '' ? 'it could not be saved' : `saved as ${file}`;
      const text = `[${kind} (${mimeType}, ${bytes.length} bytes) left out, because this model ${why}; ${where}]`;
      const { annotations } = block;
      return annotations === undefined ? { type: 'text', text } : { type: 'text', text, annotations };
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
