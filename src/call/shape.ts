/**
 * Makes a result fit for a model: cleaned, within the token limit, without what the model cannot take (CAL-5).
 *
 * Nothing is lost: what is left out is kept whole in a file, and the result says where and how to read it.
 */

import type { CallResult, ContentBlock } from '../catalog/accept-result.ts';
import { estimateTokens } from '../catalog/tokens.ts';
import { limitsFor } from '../config/limits.ts';
import { clean } from '../policy/clean.ts';
import type { Call, CallContext, Stage } from './call.ts';
import { settingsOf } from './settings.ts';

export const WARN_OUTPUT_TOKENS = 10_000;
/** Room for the note that says what was cut. */
const NOTE_TOKENS = 150;
const CHARS_PER_TOKEN = 4;
/** Pictures cost by their size on screen, not by their bytes; this is what a large one costs. */
const IMAGE_TOKENS = 1_600;

/** A result as `call --json` prints it. */
export interface ShapedResult extends CallResult {
  /** Present when the result was cut: what all of it would cost, and where all of it is. */
  readonly truncated?: { readonly tokens: number; readonly file: string };
}

export const shape: Stage = (context, next) => async (call) => {
  const result = await next(call);
  return call.session.forModel ? shaped(context, call, result) : result;
};

async function shaped(context: CallContext, call: Call, raw: CallResult): Promise<ShapedResult> {
  const { tool, entry } = settingsOf(call);
  const result = await withoutUnwanted(context, call, cleaned(raw));
  const max =
    entry.tools?.[tool.tool]?.maxOutputTokens ??
    entry.maxOutputTokens ??
    context.maxOutputTokens ??
    limitsFor(entry, context.settings()).maxOutputTokens;
  const tokens = costOf(result);
  if (tokens <= max) {
    if (tokens > WARN_OUTPUT_TOKENS) {
      context.log(tool.server, 'warning', `${tool.tool} answered with about ${tokens} tokens`);
    }
    return result;
  }
  const whole = wholeText(result);
  const file = await context.outputs.save(`${safeName(tool.name)}.${whole.kind}`, whole.text);
  context.log(
    tool.server,
    'warning',
    `${tool.tool}: about ${tokens} tokens were cut to ${max}; all of it is in ${file}`,
  );
  return { ...cutTo(result, max, tokens, file, whole.text), truncated: { tokens, file } };
}

function cleaned(result: CallResult): CallResult {
  const content = result.content.map((block) =>
    block.type === 'text' ? { ...block, text: clean(block.text) } : block,
  );
  return { ...result, content };
}

/** Pictures and sounds that the model cannot take become a file and a note. */
async function withoutUnwanted(context: CallContext, call: Call, result: CallResult): Promise<CallResult> {
  const { images = true, audio = true } = context.model;
  const unwanted = (block: ContentBlock): boolean =>
    (block.type === 'image' && !images) || (block.type === 'audio' && !audio);
  if (!result.content.some(unwanted)) return result;
  const { tool } = settingsOf(call);
  const content = await Promise.all(
    result.content.map(async (block): Promise<ContentBlock> => {
      if ((block.type !== 'image' && block.type !== 'audio') || !unwanted(block)) return block;
      const bytes = Buffer.from(block.data, 'base64');
      const ending = /^[a-z]+\/([a-z0-9]+)/.exec(block.mimeType)?.[1] ?? 'bin';
      const file = await context.outputs.save(`${safeName(tool.name)}.${ending}`, bytes);
      const what = `${block.type} (${block.mimeType}, ${bytes.length} bytes)`;
      return {
        type: 'text',
        text: `[${what} left out, because this model takes no ${block.type}; saved as ${file}]`,
      };
    }),
  );
  return { ...result, content };
}

function costOf(result: CallResult): number {
  let tokens = 0;
  for (const block of result.content) {
    if (block.type === 'text') tokens += estimateTokens(block.text);
    else if (block.type === 'image' || block.type === 'audio') tokens += IMAGE_TOKENS;
    else tokens += estimateTokens(JSON.stringify(block));
  }
  // The same again in another form is not sent twice, so it is not counted twice.
  const { structuredContent } = result;
  if (structuredContent !== undefined && !repeats(result))
    tokens += estimateTokens(JSON.stringify(structuredContent));
  return tokens;
}

/** Whether the text is the structured content written out, as the protocol advises. */
function repeats(result: CallResult): boolean {
  const [only, ...more] = result.content;
  if (only?.type !== 'text' || more.length > 0) return false;
  try {
    return JSON.stringify(JSON.parse(only.text)) === JSON.stringify(result.structuredContent);
  } catch {
    return false;
  }
}

function wholeText(result: CallResult): { text: string; kind: 'txt' | 'json' } {
  const [only, ...more] = result.content;
  const plain =
    only?.type === 'text' && more.length === 0 && (result.structuredContent === undefined || repeats(result));
  if (plain) return { text: only.text, kind: repeats(result) ? 'json' : 'txt' };
  return { text: JSON.stringify(result, null, 1), kind: 'json' };
}

function cutTo(result: CallResult, max: number, tokens: number, file: string, whole: string): CallResult {
  let room = Math.max(0, max - NOTE_TOKENS);
  const content: ContentBlock[] = [];
  for (const block of result.content) {
    const cost =
      block.type === 'text' ? estimateTokens(block.text) : block.type === 'image' ? IMAGE_TOKENS : 0;
    if (cost <= room) {
      content.push(block);
      room -= cost;
    } else if (block.type === 'text' && room > 0) {
      content.push({ ...block, text: block.text.slice(0, room * CHARS_PER_TOKEN).toWellFormed() });
      room = 0;
    }
  }
  const lines = whole.split('\n', 2).length > 1 ? 'lines' : 'characters';
  const text =
    `[Cut: the whole result is about ${tokens} tokens (${Buffer.byteLength(whole)} bytes), the limit is ${max}. ` +
    `All of it is in ${file}; read it there in parts, by ${lines}, or ask the tool for less.]`;
  const { structuredContent: _inTheFile, ...rest } = result;
  return { ...rest, content: [...content, { type: 'text', text }] };
}

function safeName(name: string): string {
  return name.replace(/[^\w-]/g, '_').slice(0, 64);
}
