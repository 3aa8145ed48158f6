/**
 * Pipeline stage: makes a result fit for a model: cleaned, within the token limit, without unsupported media (CAL-5).
 *
 * Omitted parts are saved in a file, and the result names the file and how to read it; if saving fails, it reports that.
 */

import type { CallResult, ContentBlock } from '../catalog/accept-result.ts';
import { cleanBlock } from '../catalog/clean-block.ts';
import { fileEnding, type MediaCheckResult, mediaCheck } from '../catalog/media-bytes.ts';
import { limitFor } from '../config/limits.ts';
import { asPlugboardError } from '../errors.ts';
import { cleanRecord, cleanValue, mapSame } from '../policy/clean-value.ts';
import type { Call, CallContext, Stage } from './call.ts';
import type { ForwardedTask } from './call-tasks.ts';
import { type Cost, costOf, cutTo, wholeOf } from './cut.ts';
import { resolvedCall, toolSettings } from './resolved-call.ts';

const WARN_OUTPUT_TOKENS = 10_000;

/** A result as `call --json` prints it. */
export interface ShapedResult<T = unknown> extends CallResult {
  readonly structuredContent?: T;
  /** Present if the result was truncated: the token cost of the whole, and its file ('' if it was not saved). */
  readonly truncated?: { readonly tokens: number; readonly file: string };
  /** @internal Present in place of a result if the caller follows tasks itself. */
  readonly task?: ForwardedTask;
}

export const shape: Stage = (context, next) => (call) => next(call).then((raw) => shaped(context, call, raw));

/** Returns a promise only if something has to be saved. */
function shaped(context: CallContext, call: Call, raw: ShapedResult): ShapedResult | Promise<ShapedResult> {
  if (!call.session.forModel || raw.task !== undefined) return raw;
  const cleaned = cleanResult(raw);
  if (cleaned !== raw) {
    const { tool } = resolvedCall(call);
    context.hidden(tool.server, `results of ${tool.tool}`);
  }
  const verdicts = verdictsOn(context, call, cleaned);
  return verdicts === undefined
    ? withinLimit(context, call, cleaned)
    : withoutUnwanted(context, call, cleaned, verdicts).then((result) => withinLimit(context, call, result));
}

function withinLimit(
  context: CallContext,
  call: Call,
  result: CallResult,
): ShapedResult | Promise<ShapedResult> {
  const cost = costOf(result);
  const max = maxTokensOf(context, call);
  if (cost.tokens > max) return cut(context, call, { result, cost, max });
  if (cost.tokens > WARN_OUTPUT_TOKENS) {
    const { tool } = resolvedCall(call);
    context.log(tool.server, 'warning', `${tool.tool} answered with about ${cost.tokens} tokens`);
  }
  return result;
}

function maxTokensOf(context: CallContext, call: Call): number {
  const { entry } = resolvedCall(call);
  return (
    toolSettings(context, call)?.maxOutputTokens ??
    entry.maxOutputTokens ??
    context.output.maxTokens ??
    limitFor('maxOutputTokens', entry, context.settings())
  );
}

interface TooLong {
  readonly result: CallResult;
  readonly cost: Cost;
  readonly max: number;
}

async function cut(context: CallContext, call: Call, { result, cost, max }: TooLong): Promise<ShapedResult> {
  const { tool } = resolvedCall(call);
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

/** Keeps structured content whole for callers with an output schema, which reject a result without it. */
function promised(call: Call, { structuredContent, isError }: CallResult): Partial<CallResult> {
  const { tool } = resolvedCall(call);
  const isPromised =
    call.keepsStructured === true || (call.session.gateway && tool.outputSchema !== undefined && !isError);
  return isPromised && structuredContent !== undefined ? { structuredContent } : {};
}

/** Bytes in a result, with the type of their block. */
interface Bytes {
  readonly kind: string;
  readonly mimeType: string;
  readonly data: string;
}

/** Returns the verdict on each block, undefined for those without bytes; undefined if the model accepts all of them. */
function verdictsOn(
  { output: { model } }: CallContext,
  { media, mediaLimits }: Call,
  { content }: CallResult,
): readonly (MediaCheckResult | undefined)[] | undefined {
  const { images, audio } = model;
  if (images !== false && audio !== false && media === undefined) return undefined;
  const check = media && mediaCheck(media, mediaLimits);
  let isAsGiven = true;
  const verdicts = content.map((block) => {
    const bytes = bytesOf(block);
    if (bytes === undefined) return undefined;
    const { kind, mimeType } = bytes;
    const isOfNoUse = kind === 'image' ? images === false : kind === 'audio' && audio === false;
    const verdict: MediaCheckResult | undefined = isOfNoUse
      ? { ok: false, mimeType, why: `this model takes no ${kind}` }
      : check?.(bytes);
    if (verdict !== undefined && !(verdict.ok && verdict.mimeType === mimeType)) isAsGiven = false;
    return verdict;
  });
  return isAsGiven ? undefined : verdicts;
}

function bytesOf(block: ContentBlock): Bytes | undefined {
  if (block.type === 'image' || block.type === 'audio')
    return { kind: block.type, mimeType: block.mimeType, data: block.data };
  if (block.type !== 'resource' || !('blob' in block.resource)) return undefined;
  const { uri, mimeType = 'application/octet-stream', blob } = block.resource;
  return { kind: `resource ${uri}`, mimeType, data: blob };
}

/** Replaces media that the model does not accept with a file and a note; corrects a wrong media type. */
async function withoutUnwanted(
  context: CallContext,
  call: Call,
  result: CallResult,
  verdicts: readonly (MediaCheckResult | undefined)[],
): Promise<CallResult> {
  const content = await Promise.all(
    result.content.map(async (block, i): Promise<ContentBlock> => {
      const verdict = verdicts[i];
      const bytes = bytesOf(block);
      if (verdict === undefined || bytes === undefined) return block;
      if (verdict.ok) return labelled(block, verdict.mimeType);
      const text = await noteOn(context, call, bytes, verdict);
      const { annotations } = block;
      return annotations === undefined ? { type: 'text', text } : { type: 'text', text, annotations };
    }),
  );
  return { ...result, content };
}

function labelled(block: ContentBlock, mimeType: string): ContentBlock {
  if (block.type === 'resource') return { ...block, resource: { ...block.resource, mimeType } };
  return 'mimeType' in block && block.mimeType !== mimeType ? { ...block, mimeType } : block;
}

async function noteOn(
  context: CallContext,
  call: Call,
  { kind, mimeType, data }: Bytes,
  verdict: MediaCheckResult & { readonly ok: false },
): Promise<string> {
  const { why } = verdict;
  if (data === '') return `[${kind} (${mimeType}) left out, because ${why}]`;
  const bytes = Buffer.from(data, 'base64');
  const file = await save(context, call, fileEnding(verdict.mimeType), bytes);
  const where = file === '' ? 'it was not saved' : `saved as ${file}`;
  return `[${kind} (${mimeType}, ${bytes.length} bytes) left out, because ${why}; ${where}]`;
}

/** Saves a file; on failure the result is still returned, because the tool has already done its work. */
async function save(
  context: CallContext,
  call: Call,
  ending: string,
  content: string | Uint8Array,
): Promise<string> {
  const { tool } = resolvedCall(call);
  const name = tool.name.replace(/[^\w-]/g, '_').slice(0, 64);
  try {
    return await context.output.files.save(`${name}.${ending}`, content);
  } catch (error) {
    const why = asPlugboardError(error).message;
    context.log(tool.server, 'warning', `the output of ${tool.tool} could not be saved: ${why}`);
    return '';
  }
}

export function cleanResult(result: CallResult): CallResult {
  const content = mapSame(result.content, cleanBlock);
  const { structuredContent, _meta, extra } = result;
  const structured = structuredContent === undefined ? undefined : cleanValue(structuredContent);
  const meta = _meta === undefined ? undefined : cleanRecord(_meta);
  const others = extra === undefined ? undefined : cleanRecord(extra);
  const isClean = content === result.content && structured === structuredContent;
  if (isClean && meta === _meta && others === extra) return result;
  return {
    ...result,
    content,
    ...(structured === undefined ? {} : { structuredContent: structured }),
    ...(meta === undefined ? {} : { _meta: meta }),
    ...(others === undefined ? {} : { extra: others }),
  };
}
