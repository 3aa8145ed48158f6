/**
 * Pipeline stage: makes a result fit for a model: cleaned, within the token limit, without unsupported media (CAL-5).
 *
 * Omitted parts are saved in a file, and the result names the file and how to read it; if saving fails, it reports that.
 */

import type { CallResult, ContentBlock } from '../catalog/accept-result.ts';
import { cleanBlock } from '../catalog/clean-block.ts';
import { fileEnding, type MediaCheckResult, mediaCheck } from '../catalog/media-bytes.ts';
import { RESULT, RESULT_ID } from '../catalog/result-tool-definition.ts';
import { limitFor } from '../config/limits.ts';
import { asPlugboardError } from '../errors.ts';
import { cleanRecord, cleanValue, mapSame } from '../policy/clean-value.ts';
import type { Call, CallContext, Stage } from './call.ts';
import type { ForwardedTask } from './call-tasks.ts';
import { type Cost, costOf, cutTo, wholeOf } from './cut.ts';
import { isRepeated } from './repeated-result.ts';
import { namesOf, resolvedCall, toolSettings } from './resolved-call.ts';
import { addressOf, type StoredResult } from './result-store.ts';
import { shapeOfText } from './result-summary.ts';
import { selectedPart } from './select-part.ts';

const WARN_OUTPUT_TOKENS = 10_000;
const CHARS_PER_TOKEN = 4;
/** What a model gets of a result that is stored: its beginning, and a note with its address. */
const SUMMARY_TOKENS = 600;

/** A result as `call --json` prints it. */
export interface ShapedResult<T = unknown> extends CallResult {
  readonly structuredContent?: T;
  /**
   * Present if the result was truncated: the token cost of the whole, its file ('' if it was not saved), and its address
   * for `result` and for arguments of other calls.
   */
  readonly truncated?: { readonly tokens: number; readonly file: string; readonly ref?: string };
  /** @internal Present in place of a result if the caller follows tasks itself. */
  readonly task?: ForwardedTask;
}

export const shape: Stage = (context, next) => (call) => next(call).then((raw) => shaped(context, call, raw));

/** Returns a promise only if something has to be saved. */
function shaped(context: CallContext, call: Call, raw: ShapedResult): ShapedResult | Promise<ShapedResult> {
  if (raw.task !== undefined) return raw;
  if (!call.session.forModel) return call.selection === undefined ? raw : selectedPart(raw, call.selection);
  const cleaned = cleanResult(raw);
  if (cleaned !== raw) {
    const { tool } = resolvedCall(call);
    context.hidden(tool.server, `results of ${tool.tool}`);
  }
  const wanted = call.selection === undefined ? cleaned : selectedPart(cleaned, call.selection);
  // A program reads it whole; its own output is limited.
  if (call.program !== undefined) return wanted;
  const verdicts = verdictsOn(context, call, wanted);
  return verdicts === undefined
    ? withinLimit(context, call, wanted)
    : withoutUnwanted(context, call, wanted, verdicts).then((result) => withinLimit(context, call, result));
}

function withinLimit(
  context: CallContext,
  call: Call,
  result: CallResult,
): ShapedResult | Promise<ShapedResult> {
  const cost = costOf(result);
  const max = maxTokensOf(context, call);
  if (cost.tokens > max) return cut(context, call, { result, cost, max });
  const { session } = call;
  if (session.deduplicate || call.deduplicate === true) {
    session.kept.seen ??= new Set();
    if (isRepeated(session.kept.seen, result, cost.tokens))
      return referred(context, call, { result, cost, max });
  }
  if (cost.tokens > WARN_OUTPUT_TOKENS) {
    const { tool } = resolvedCall(call);
    context.log(tool.server, 'warning', `${tool.tool} answered with about ${cost.tokens} tokens`);
  }
  return result;
}

function maxTokensOf(context: CallContext, call: Call): number {
  const { entry, tool } = resolvedCall(call);
  const max =
    toolSettings(context, call)?.maxOutputTokens ??
    entry.maxOutputTokens ??
    context.output.maxTokens ??
    limitFor('maxOutputTokens', entry, context.settings());
  const { _meta } = tool;
  return _meta === undefined ? max : Math.min(max, hintedTokens(_meta));
}

/** A server's hint for the size of a tool's results: it can lower the limit, and never raise it. */
function hintedTokens(meta: Readonly<Record<string, unknown>>): number {
  const chars = meta['anthropic/maxResultSizeChars'];
  return typeof chars === 'number' && chars > 0
    ? Math.ceil(chars / CHARS_PER_TOKEN)
    : Number.POSITIVE_INFINITY;
}

interface TooLong {
  readonly result: CallResult;
  readonly cost: Cost;
  readonly max: number;
}

async function cut(context: CallContext, call: Call, { result, cost, max }: TooLong): Promise<ShapedResult> {
  const { tool } = resolvedCall(call);
  const whole = wholeOf(result, cost);
  const stored = await store(context, call, { ...whole, tokens: cost.tokens });
  const file = stored?.file ?? '';
  const where = file === '' ? 'the rest is lost' : `all of it is in ${file}`;
  context.log(
    tool.server,
    'warning',
    `${tool.tool}: about ${cost.tokens} tokens were cut to ${max}; ${where}`,
  );
  const kept = stored === undefined ? max : Math.min(max, SUMMARY_TOKENS);
  return {
    ...cutTo(result, cost, { max, kept, where: placeText(stored, whole.text), whole: whole.text }),
    ...promised(call, result),
    truncated: {
      tokens: cost.tokens,
      file,
      ...(stored === undefined ? {} : { ref: addressOf(stored) }),
    },
  };
}

/** Replaces a result that the session has received before with its address; it can be read again. */
async function referred(context: CallContext, call: Call, { result, cost }: TooLong): Promise<ShapedResult> {
  const whole = wholeOf(result, cost);
  const stored = await store(context, call, { ...whole, tokens: cost.tokens });
  if (stored === undefined) return result;
  const { structuredContent: _structured, extra: _extra, ...rest } = result;
  const text =
    `[The same result as before in this session, about ${cost.tokens} tokens. It is stored as ${addressOf(stored)}: ` +
    `${shapeOfText(whole.text)}. Read parts with the tool ${RESULT} (select, lines, search).]`;
  return {
    ...rest,
    content: [{ type: 'text', text }],
    ...promised(call, result),
    truncated: { tokens: cost.tokens, file: stored.file, ref: addressOf(stored) },
  };
}

/** Returns where the whole result is, what it contains and how to read it. */
function placeText(stored: StoredResult | undefined, whole: string): string {
  if (stored === undefined) return 'It was not saved; ask the tool for less.';
  const address = addressOf(stored);
  const lines = whole.includes('\n') ? 'lines' : 'characters';
  return (
    `It is stored as ${address}: ${shapeOfText(whole)}. Read parts with the tool ${RESULT} (select, lines, search), or pass ` +
    `it on with {"$ref":"${address}"} as an argument. All of it is in ${stored.file}; read it there in parts, by ${lines}, ` +
    'or ask the tool for less.'
  );
}

/** Stores a result and offers the tool that reads it; on failure the result is still returned. */
async function store(
  context: CallContext,
  call: Call,
  whole: { readonly text: string; readonly kind: 'txt' | 'json'; readonly tokens: number },
): Promise<StoredResult | undefined> {
  const { session } = call;
  const { tool } = resolvedCall(call);
  const kind = whole.kind === 'json' ? 'json' : 'text';
  try {
    const stored = await context.results.save(session, {
      tool,
      names: namesOf(context, call),
      kind,
      text: whole.text,
      tokens: whole.tokens,
    });
    if (stored !== undefined) session.loaded.add(RESULT_ID);
    return stored;
  } catch (error) {
    reportUnsaved(context, call, error);
    return undefined;
  }
}

function reportUnsaved(context: CallContext, call: Call, error: unknown): void {
  const { tool } = resolvedCall(call);
  const why = asPlugboardError(error).message;
  context.log(tool.server, 'warning', `the output of ${tool.tool} could not be saved: ${why}`);
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
    reportUnsaved(context, call, error);
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
