/** Results towards clients: handed on as they came, but for what the client's revision would refuse. */

import type { ShapedResult } from '../../call/shape.ts';
import type { ContentBlock } from '../../catalog/accept-result.ts';
import type { Completion } from '../../catalog/completion.ts';
import type { PromptMessage, PromptResult } from '../../catalog/prompts.ts';
import type { ReadResult } from '../../catalog/resources.ts';
import { passedMeta } from '../../connection/handed-on.ts';
import type { Params } from '../../endpoint/eras.ts';
import { isRecord } from '../../lib/json-rpc.ts';
import { sentBlock, sentBlocks } from './blocks.ts';
import { type Note, shown, validResultMeta } from './fields.ts';
import type { Reader } from './reader.ts';

export interface ResultOptions {
  readonly reader: Reader;
  /** Links of the server that answered, as clients can follow them. */
  readonly bind: (content: readonly ContentBlock[]) => readonly ContentBlock[];
  /** A link to the whole of a result that was cut. */
  readonly offer: (file: string) => ContentBlock;
  readonly note: Note;
}

/**
 * What is changed is who answered (here it is the gateway), where links lead and the whole of a cut result is, and
 * whatever the client's revision refuses.
 */
export function sentResult(result: ShapedResult, { reader, bind, offer, note }: ResultOptions): Params {
  const { truncated, task: _task, extra, _meta, structuredContent, ...rest } = result;
  const bound = bind(result.content);
  const whole = truncated === undefined || truncated.file === '' ? [] : [offer(truncated.file)];
  const content = sentBlocks(whole.length === 0 ? bound : [...bound, ...whole], reader, note);
  const meta = sentMeta(_meta, reader, note);
  const told =
    truncated === undefined ? meta : { ...meta, 'plugboard/truncated': { tokens: truncated.tokens } };
  return {
    ...extra,
    ...rest,
    ...sentStructured(content, structuredContent, reader, note),
    ...(told === undefined ? {} : { _meta: told }),
  };
}

/** Legacy clients take an object only; anything else stays readable as text. */
function sentStructured(
  content: readonly (ContentBlock | Params)[],
  structuredContent: unknown,
  { isModern }: Reader,
  note: Note,
): Params {
  if (structuredContent === undefined) return { content };
  if (isModern || isRecord(structuredContent)) return { content, structuredContent };
  note(
    `structuredContent is left out: ${shown(structuredContent)} is not an object, as it has to be before 2026-07-28`,
  );
  const isReadable = content.some(({ type }) => type === 'text');
  return {
    content: isReadable ? content : [...content, { type: 'text', text: JSON.stringify(structuredContent) }],
  };
}

/** `_meta` of a server's result as the client may have it; undefined if nothing is left. */
export function sentMeta(meta: Params | undefined, { isModern }: Reader, note: Note): Params | undefined {
  const passed = passedMeta(meta);
  return isModern || passed === undefined ? passed : validResultMeta(passed, note);
}

export function sentPromptResult(
  { messages, extra, _meta, ...rest }: PromptResult,
  { reader, bind, note }: Pick<ResultOptions, 'reader' | 'bind' | 'note'>,
): Params {
  const meta = sentMeta(_meta, reader, note);
  return {
    ...extra,
    ...rest,
    ...(meta === undefined ? {} : { _meta: meta }),
    messages: messages.map(({ content, ...message }: PromptMessage) => {
      const [bound = content] = bind([content]);
      return { ...message, content: sentBlock(bound, reader, note) };
    }),
  };
}

export function sentReadResult(
  { contents, extra, _meta }: ReadResult,
  { reader, note }: Pick<ResultOptions, 'reader' | 'note'>,
): Params {
  const meta = sentMeta(_meta, reader, note);
  return { ...extra, contents, ...(meta === undefined ? {} : { _meta: meta }) };
}

export function sentCompletion(
  { extra, total, _meta, ...rest }: Completion,
  { reader, note }: Pick<ResultOptions, 'reader' | 'note'>,
): Params {
  const meta = sentMeta(_meta, reader, note);
  const isCount = total !== undefined && Number.isSafeInteger(total);
  return {
    completion: { ...extra, ...rest, ...(isCount ? { total } : {}) },
    ...(meta === undefined ? {} : { _meta: meta }),
  };
}
