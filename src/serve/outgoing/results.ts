/** Converts results for clients: unchanged, except for parts that the client's revision would reject. */

import type { ShapedResult } from '../../call/shape.ts';
import type { ContentBlock, ResourceContents } from '../../catalog/accept-result.ts';
import type { Completion } from '../../catalog/completion.ts';
import type { PromptMessage, PromptResult } from '../../catalog/prompts.ts';
import type { ReadResult } from '../../catalog/resources.ts';
import { passedMeta } from '../../connection/handed-on.ts';
import type { Params } from '../../endpoint/client-era.ts';
import { isRecord } from '../../lib/json.ts';
import { mapSame } from '../../policy/clean-value.ts';
import type { Reader } from './reader.ts';
import { type Note, shown, validResultMeta, withValidFields } from './valid-fields.ts';

interface ResultOptions {
  readonly reader: Reader;
  /** Rewrites links of the server so that clients can follow them. */
  readonly bind: (content: readonly ContentBlock[]) => readonly ContentBlock[];
  readonly note: Note;
}

interface CallResultOptions extends ResultOptions {
  /** Returns a link to the complete output of a truncated result. */
  readonly offer: (truncated: NonNullable<ShapedResult['truncated']>) => ContentBlock;
}

/**
 * Changes the sender (here it is the gateway), the links, the link to the complete output of a truncated result, and
 * values that the client's revision rejects.
 */
export function sentResult(result: ShapedResult, { reader, bind, offer, note }: CallResultOptions): Params {
  const { truncated, extra, _meta, structuredContent, isError } = result;
  const bound = bind(result.content);
  const whole = truncated === undefined || truncated.file === '' ? [] : [offer(truncated)];
  const content = sentBlocks(whole.length === 0 ? bound : [...bound, ...whole], reader, note);
  const own = sentMeta(_meta, reader, note);
  const meta = truncated === undefined ? own : { ...own, 'plugboard/truncated': truncatedMeta(truncated) };
  // Most results have nothing else, and V8 is slow to add to a copy.
  if (extra === undefined && structuredContent === undefined && meta === undefined)
    return { content, isError };
  return {
    ...extra,
    isError,
    ...sentStructured(content, structuredContent, reader, note),
    ...(meta === undefined ? {} : { _meta: meta }),
  };
}

/** The path of the file is only for clients on this machine, and in the text. */
function truncatedMeta({ tokens, ref }: NonNullable<ShapedResult['truncated']>): Params {
  return ref === undefined ? { tokens } : { tokens, ref };
}

/** Legacy clients accept only an object; other values stay readable as text. */
function sentStructured(
  content: readonly (ContentBlock | Params)[],
  structuredContent: unknown,
  { isModern }: Reader,
  note: Note,
): Params {
  if (structuredContent === undefined) return { content };
  if (isModern || isRecord(structuredContent)) return { content, structuredContent };
  note(
    `structuredContent is left out: ${shown(structuredContent)} is not an object, as it must be before 2026-07-28`,
  );
  const isReadable = content.some(({ type }) => type === 'text');
  return {
    content: isReadable ? content : [...content, { type: 'text', text: JSON.stringify(structuredContent) }],
  };
}

/** Returns the `_meta` of a server's result that the client may receive; undefined if nothing is left. */
function sentMeta(meta: Params | undefined, { isModern }: Reader, note: Note): Params | undefined {
  const passed = passedMeta(meta);
  return isModern || passed === undefined ? passed : validResultMeta(passed, note);
}

export function sentPromptResult(
  { messages, extra, _meta, ...rest }: PromptResult,
  { reader, bind, note }: ResultOptions,
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

/** Returns the same list if the client supports all of it unchanged. */
function sentBlocks(
  content: readonly ContentBlock[],
  reader: Reader,
  note: Note,
): readonly (ContentBlock | Params)[] {
  return mapSame<ContentBlock | Params>(content, (block) => sentBlock(block as ContentBlock, reader, note));
}

function sentBlock(block: ContentBlock, reader: Reader, note: Note): ContentBlock | Params {
  const known = knownBlock(block, reader);
  return withValidFields(known, note);
}

/** Returns a block of a supported type with the same content. */
function knownBlock(block: ContentBlock, reader: Reader): ContentBlock | Params {
  switch (block.type) {
    case 'text': {
      const { original, ...text } = block;
      if (original === undefined) return block;
      return reader.knowsMore ? original : text;
    }
    case 'resource_link': {
      if (reader.knowsLinks) return block;
      const { name, uri, description, annotations } = block;
      const text = `${name}${description === undefined ? '' : `: ${description}`} (${uri})`;
      return { type: 'text', text, ...(annotations === undefined ? {} : { annotations }) };
    }
    case 'audio': {
      if (reader.knowsAudio) return block;
      const { data: blob, mimeType, annotations } = block;
      const resource: ResourceContents = { uri: 'plugboard://audio', mimeType, blob };
      return { type: 'resource', resource, ...(annotations === undefined ? {} : { annotations }) };
    }
    case 'image':
    case 'resource':
      return block;
    default:
      return block satisfies never;
  }
}
