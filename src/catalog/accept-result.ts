/** Parses `tools/call` results tolerantly: any JSON becomes a valid result, with warnings. */

import type { Era } from '../connection/eras.ts';
import { attempt } from '../lib/attempt.ts';
import { isRecord } from '../lib/json.ts';
import { type JsonObject, kindOf, unknownMembers } from './accept-bounds.ts';

interface BlockFields {
  readonly annotations?: Readonly<Record<string, unknown>>;
  readonly _meta?: Readonly<Record<string, unknown>>;
}

/** Contents of a resource: text or base64 bytes. */
export type ResourceContents = {
  readonly uri: string;
  readonly mimeType?: string;
  readonly _meta?: Readonly<Record<string, unknown>>;
} & ({ readonly text: string } | { readonly blob: string });

/** One part of the content of a result or a message. */
export type ContentBlock = BlockFields &
  (
    | {
        readonly type: 'text';
        readonly text: string;
        /** The unmodified block if its type is unknown; `text` is the same as JSON. */
        readonly original?: JsonObject;
      }
    | { readonly type: 'image' | 'audio'; readonly data: string; readonly mimeType: string }
    | { readonly type: 'resource'; readonly resource: ResourceContents }
    | {
        readonly type: 'resource_link';
        readonly uri: string;
        readonly name: string;
        readonly title?: string;
        readonly description?: string;
        readonly mimeType?: string;
        readonly size?: number;
        readonly icons?: readonly JsonObject[];
      }
  );

export interface CallResult {
  readonly content: readonly ContentBlock[];
  /** Any JSON value, including `null` from a modern server. */
  readonly structuredContent?: unknown;
  readonly isError: boolean;
  readonly _meta?: Readonly<Record<string, unknown>>;
  /** Unknown members of the result. */
  readonly extra?: JsonObject;
}

type Warn = (text: string) => void;

/** Limit on warnings, since the server decides how many blocks there are. */
const MAX_WARNINGS = 20;

const OF_RESULT: ReadonlySet<string> = new Set([
  'content',
  'structuredContent',
  'isError',
  'is_error',
  'toolResult',
  '_meta',
  // Describes how to parse the rest; used by clients that receive the result from us.
  'resultType',
]);
const OF_EVERY_BLOCK = ['type', 'annotations', '_meta', 'original'];
const OF_MEDIA: ReadonlySet<string> = new Set([...OF_EVERY_BLOCK, 'data', 'mimeType']);
/** The known members of a block, by its type. */
const OF_BLOCK: Readonly<Record<ContentBlock['type'], ReadonlySet<string>>> = {
  text: new Set([...OF_EVERY_BLOCK, 'text']),
  image: OF_MEDIA,
  audio: OF_MEDIA,
  resource: new Set([...OF_EVERY_BLOCK, 'resource']),
  resource_link: new Set([
    ...OF_EVERY_BLOCK,
    'uri',
    'name',
    'title',
    'description',
    'mimeType',
    'size',
    'icons',
  ]),
};
const OF_CONTENTS: ReadonlySet<string> = new Set(['uri', 'mimeType', 'text', 'blob', '_meta']);

const DEFAULT_MIME_TYPE = { image: 'image/png', audio: 'audio/wav' } as const;

/**
 * Parses a `tools/call` result.
 *
 * @example
 * acceptCallResult({ content: null, is_error: true });
 * // { result: { content: [], isError: true },
 * //   warnings: ['is_error is taken as isError', 'content is null: taken as empty'] }
 */
export function acceptCallResult(
  raw: unknown,
  era: Era = 'legacy',
): { result: CallResult; warnings: string[] } {
  const warnings: string[] = [];
  const warn: Warn = (text) => void (warnings.length < MAX_WARNINGS && warnings.push(text));
  if (!isRecord(raw)) {
    warn(`the result is ${kindOf(raw)}, not an object`);
    return { result: { content: looseContent(raw), isError: false }, warnings };
  }
  const isError = acceptIsError(raw, warn);
  const structured = acceptStructured(raw['structuredContent'], era, warn);
  const meta = raw['_meta'];
  if (meta !== undefined && !isRecord(meta)) warn(`_meta is ${kindOf(meta)}: left out`);
  const result: CallResult = {
    content: acceptContent(raw, warn),
    ...(structured === undefined ? {} : { structuredContent: structured }),
    isError,
    ...(isRecord(meta) ? { _meta: meta } : {}),
  };
  const extra = unknownMembers(raw, OF_RESULT);
  return { result: extra === undefined ? result : { ...result, extra }, warnings };
}

/** Accepts any JSON in the modern era. Before it only an object is valid, and many servers send null for "none". */
function acceptStructured(structured: unknown, era: Era, warn: Warn): unknown {
  if (era === 'modern' || structured === undefined || isRecord(structured)) return structured;
  warn(`structuredContent is ${kindOf(structured)}${structured === null ? ': left out' : ''}`);
  return structured === null ? undefined : structured;
}

/** Parses one block of a result or a prompt message; always returns a valid block. */
export function acceptContentBlock(raw: unknown, warn: Warn): ContentBlock {
  if (!isRecord(raw)) {
    warn(`a content block is ${kindOf(raw)}: taken as text`);
    return asText(raw);
  }
  const block = knownBlock(raw, warn);
  if (block === undefined) {
    return unknownBlock(raw, warn);
  }
  const { annotations, _meta: meta } = raw;
  const extra = unknownMembers(raw, OF_BLOCK[raw['type'] as ContentBlock['type']]); // knownBlock() checked the type
  if (annotations === undefined && meta === undefined && extra === undefined) return block;
  return {
    ...extra,
    ...block,
    ...(isRecord(annotations) ? { annotations } : {}),
    ...(isRecord(meta) ? { _meta: meta } : {}),
  };
}

/** Converts an unknown block to JSON text; gateway clients that may support its type get the original. */
function unknownBlock(raw: Record<string, unknown>, warn: Warn): ContentBlock {
  const { type, annotations, _meta: meta } = raw;
  warn(`a content block of type ${JSON.stringify(type)?.slice(0, 80)} is not understood: kept as JSON text`);
  const text = textOf(raw);
  const isUnknown = typeof type === 'string' && !Object.hasOwn(OF_BLOCK, type) && text !== TOO_DEEP;
  return {
    type: 'text',
    text,
    ...(isRecord(annotations) ? { annotations } : {}),
    ...(isRecord(meta) ? { _meta: meta } : {}),
    ...(isUnknown ? { original: raw } : {}),
  };
}

/** Parses contents of `resources/read` or of an embedded resource; undefined if it has neither text nor blob. */
export function acceptResourceContents(raw: unknown, warn: Warn): ResourceContents | undefined {
  if (!isRecord(raw) || typeof raw['uri'] !== 'string') return undefined;
  const { uri, mimeType, text, blob, _meta: meta } = raw;
  const fields = {
    ...unknownMembers(raw, OF_CONTENTS),
    uri,
    ...(typeof mimeType === 'string' ? { mimeType } : {}),
    ...(isRecord(meta) ? { _meta: meta } : {}),
  };
  if (typeof text === 'string') return { ...fields, text };
  if (typeof blob !== 'string') return undefined;
  const data = acceptBase64(blob);
  if (data !== undefined) return { ...fields, blob: data };
  warn('the blob of a resource is not base64: left out');
  return { ...fields, text: '[left out: the server sent data that is not base64]' };
}

function acceptContent(raw: Record<string, unknown>, warn: Warn): ContentBlock[] {
  const { content } = raw;
  if (Array.isArray(content)) return content.map((block) => acceptContentBlock(block, warn));
  if (isRecord(content) || typeof content === 'string') {
    warn(`content is ${kindOf(content)}, not a list: taken as its only block`);
    return [typeof content === 'string' ? asText(content) : acceptContentBlock(content, warn)];
  }
  // The result format of servers of 2024-10-07.
  if (content === undefined && raw['toolResult'] !== undefined) return looseContent(raw['toolResult']);
  warn(`content is ${kindOf(content)}: taken as empty`);
  return looseContent(raw['structuredContent']);
}

function acceptIsError(raw: Record<string, unknown>, warn: Warn): boolean {
  let value = raw['isError'];
  if ((value === undefined || value === null) && raw['is_error'] !== undefined) {
    warn('is_error is taken as isError');
    value = raw['is_error'];
  }
  if (typeof value === 'boolean' || value === undefined) return value ?? false;
  const meant = value === 'true' || value === 1;
  warn(`isError is ${kindOf(value)}: taken as ${meant}`);
  return meant;
}

function knownBlock(raw: Record<string, unknown>, warn: Warn): ContentBlock | undefined {
  const { type } = raw;
  switch (type) {
    case 'text': {
      if (typeof raw['text'] === 'string') return { type, text: raw['text'] };
      warn(`the text of a block is ${kindOf(raw['text'])}`);
      return asText(raw['text']);
    }
    case 'image':
    case 'audio':
      return mediaBlock(raw, type, warn);
    case 'resource': {
      const resource = acceptResourceContents(raw['resource'], warn);
      return resource && { type, resource };
    }
    case 'resource_link':
      return linkBlock(raw, type);
    default:
      return undefined;
  }
}

function mediaBlock(raw: Record<string, unknown>, type: 'image' | 'audio', warn: Warn): ContentBlock {
  const data = typeof raw['data'] === 'string' ? acceptBase64(raw['data']) : undefined;
  if (data === undefined) {
    warn(`the data of ${type === 'image' ? 'an image' : 'a recording'} is not base64: left out`);
    return { type: 'text', text: `[${type} left out: the server sent data that is not base64]` };
  }
  const mimeType = raw['mimeType'];
  if (typeof mimeType === 'string' && mimeType !== '') return { type, data, mimeType };
  warn(`mimeType of an ${type} block is missing: taken as ${DEFAULT_MIME_TYPE[type]}`);
  return { type, data, mimeType: DEFAULT_MIME_TYPE[type] };
}

function linkBlock(raw: Record<string, unknown>, type: 'resource_link'): ContentBlock | undefined {
  const { uri, name, title, description, mimeType, size, icons } = raw;
  if (typeof uri !== 'string' || uri === '') return undefined;
  return {
    type,
    uri,
    name: typeof name === 'string' && name !== '' ? name : uri,
    ...(typeof title === 'string' ? { title } : {}),
    ...(typeof description === 'string' ? { description } : {}),
    ...(typeof mimeType === 'string' ? { mimeType } : {}),
    ...(typeof size === 'number' && Number.isFinite(size) ? { size } : {}),
    ...(Array.isArray(icons) ? { icons: icons.filter(isRecord) } : {}),
  };
}

const TOO_DEEP = '[left out: nested too deep]';
const DATA_URL = /^data:[^,]{0,256};base64,/;
const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;

/** Returns canonical base64; accepts data URLs, the URL-safe alphabet, wrapped lines and missing padding. */
function acceptBase64(text: string): string | undefined {
  if (BASE64.test(text) && text.length % 4 === 0) return text;
  const bare = text
    .replace(DATA_URL, '')
    .replace(/[ \t\r\n]/g, '')
    .replaceAll('-', '+')
    .replaceAll('_', '/')
    .replace(/={1,2}$/, '');
  // A single remaining digit holds six bits, which is less than a byte.
  if (!/^[A-Za-z0-9+/]*$/.test(bare) || bare.length % 4 === 1) return undefined;
  return bare.padEnd(Math.ceil(bare.length / 4) * 4, '=');
}

function looseContent(value: unknown): ContentBlock[] {
  return value === undefined || value === null ? [] : [asText(value)];
}

function asText(value: unknown): { type: 'text'; text: string } {
  return { type: 'text', text: typeof value === 'string' ? value : textOf(value) };
}

function textOf(value: unknown): string {
  if (value === undefined) return '';
  // Throws if it is too deep for JSON.stringify: not an error, but it cannot be shown.
  return attempt(() => JSON.stringify(value), TOO_DEEP);
}
