/** Reads parts of stored results: a selection, lines, or the lines that contain a text (CAL-8). */

import { DEFAULT_MATCHES, RESULT_PREFIX, RESULT_TOOL } from '../catalog/result-tool-definition.ts';
import { estimateTokens } from '../catalog/tokens.ts';
import { DEFAULT_LIMITS } from '../config/limits.ts';
import { PlugboardError } from '../errors.ts';
import { OWN } from './approve.ts';
import type { Call, CallContext, Handler, Stage } from './call.ts';
import { beginning } from './cut.ts';
import { observe } from './observe.ts';
import { dataOf } from './result-store.ts';
import { shapeOfText } from './result-summary.ts';
import type { Session } from './session.ts';
import { telemetry } from './telemetry.ts';
import { validate } from './validate.ts';

const MAX_LINE_CHARS = 400;
/** Tokens for the note on a part that is too long. */
const NOTE_TOKENS = 150;

/** Which part of a result is read; without any, all of it. */
export interface ResultPart {
  readonly select?: string | undefined;
  readonly lines?: string | undefined;
  readonly search?: string | undefined;
  readonly limit?: number | undefined;
}

export function createResultHandler(context: CallContext): Handler {
  const stages: readonly Stage[] = [observe, telemetry, validate];
  const last: Handler = (call) => answered(context, call);
  const handle = stages.reduceRight((next, stage) => stage(context, next), last);
  return (call) => {
    call.tool = { ...RESULT_TOOL, server: OWN };
    call.decision = 'its own result';
    return handle(call);
  };
}

async function answered(context: CallContext, { arguments: args, session }: Call): ReturnType<Handler> {
  // `validate` has checked the other arguments.
  const text = await readPart(context, session, String(args['id']), args as ResultPart);
  const max =
    context.output.maxTokens ??
    context.settings().defaults?.maxOutputTokens ??
    DEFAULT_LIMITS.maxOutputTokens;
  return { content: [{ type: 'text', text: session.forModel ? within(text, max) : text }], isError: false };
}

/** Returns a part of a stored result as text. Rejects if the session has no such result, or the part is invalid. */
export async function readPart(
  context: Pick<CallContext, 'results' | 'settings' | 'select'>,
  session: Session,
  address: string,
  part: ResultPart,
): Promise<string> {
  const { results } = context;
  const parse = part.select === undefined ? undefined : (await context.select())(part.select);
  const text = await results.textOf(results.find(context, session, address));
  return partOfText(text, part, parse);
}

/** Returns a part of a text; `select` is the parsed expression of the part. */
export function partOfText(
  text: string,
  { lines, search, limit = DEFAULT_MATCHES }: ResultPart,
  select?: (data: unknown) => unknown,
): string {
  let part = text;
  if (select !== undefined) {
    const value = select(dataOf(text));
    part = typeof value === 'string' ? value : JSON.stringify(value);
  }
  if (search !== undefined) return matches(part, search, lines, limit);
  return lines === undefined ? part : linesOf(part, lines).join('\n');
}

function linesOf(text: string, range: string): readonly string[] {
  const [first, last] = bounds(range);
  return text.split('\n').slice(first - 1, last);
}

function bounds(range: string): readonly [first: number, last: number] {
  const [, from = '', dash, to] = /^(\d+)(-(\d*))?$/.exec(range)?.map((each) => each ?? '') ?? [];
  const first = Number(from);
  const last = dash === '' ? first : to === '' || to === undefined ? Number.POSITIVE_INFINITY : Number(to);
  if (first >= 1 && last >= first) return [first, last];
  throw new PlugboardError('INVALID_ARGUMENTS', `There are no lines ${JSON.stringify(range)}`, {
    hint: 'Give them as "10-40", "10-" or "10", counted from 1.',
  });
}

function matches(text: string, search: string, range: string | undefined, limit: number): string {
  const sought = search.toLowerCase();
  const [first, last] = range === undefined ? [1, Number.POSITIVE_INFINITY] : bounds(range);
  const found: string[] = [];
  let total = 0;
  for (const [at, line] of text.split('\n').entries()) {
    const number = at + 1;
    if (number < first || number > last) continue;
    const place = line.toLowerCase().indexOf(sought);
    if (place < 0) continue;
    total += 1;
    if (found.length < limit) found.push(`${number}: ${around(line, place)}`);
  }
  if (total === 0) return `No line contains ${JSON.stringify(search)}.`;
  const more =
    total > found.length
      ? [`[${total - found.length} more lines match; narrow the search or give "limit"]`]
      : [];
  return [...found, ...more].join('\n');
}

/** Returns a line, or the part of a long line around a match. */
function around(line: string, place: number): string {
  if (line.length <= MAX_LINE_CHARS) return line;
  const start = Math.max(0, Math.min(place - MAX_LINE_CHARS / 2, line.length - MAX_LINE_CHARS));
  const part = line.slice(start, start + MAX_LINE_CHARS).toWellFormed();
  return `${start > 0 ? '…' : ''}${part}${start + MAX_LINE_CHARS < line.length ? '…' : ''}`;
}

/** A part that is too long is not stored again: the whole is. */
function within(text: string, max: number): string {
  const tokens = estimateTokens(text);
  if (tokens <= max) return text;
  const part = beginning(text, max - NOTE_TOKENS);
  return `${part}\n[Cut: this part is about ${tokens} tokens, the limit is ${max}. It is ${shapeOfText(text)}. Read less of it with "select", "lines" or "search".]`;
}

/** Splits the address of a resource: `plugboard://result/<id>?select=…&lines=…&search=…`. */
export function partOfAddress(
  uri: string,
): { readonly address: string; readonly part: ResultPart } | undefined {
  if (!uri.startsWith(RESULT_PREFIX) || !URL.canParse(uri)) return undefined;
  const [address = ''] = uri.split('?', 1);
  const { searchParams } = new URL(uri);
  const text = (name: string): string | undefined => searchParams.get(name) ?? undefined;
  return { address, part: { select: text('select'), lines: text('lines'), search: text('search') } };
}
