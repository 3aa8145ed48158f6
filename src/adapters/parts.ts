/** Converts an answer to the few kinds of parts that providers support: text, and bytes with a media type. */

import type { ContentBlock, ResourceContents } from '../catalog/accept-result.ts';
import { mediaType } from '../catalog/media-bytes.ts';
import { attempt } from '../lib/attempt.ts';
import { parseJson } from '../lib/json.ts';
import type { Answer } from './answer.ts';

export interface TextPart {
  readonly type: 'text';
  readonly text: string;
}

export interface MediaPart {
  readonly type: 'media';
  /** Base64. */
  readonly data: string;
  readonly mimeType: string;
  /** Its origin, if it has a name. */
  readonly uri?: string;
}

export type Part = TextPart | MediaPart;

const OCTETS = 'application/octet-stream';
/** Providers reject empty text and empty lists. */
const NOTHING = '[the tool answered with nothing]';
const FOR_USER = '[the tool answered with content for the user only]';

/** Returns at least one part, and no empty text. */
export function partsOf(
  answer: Answer,
  structured: 'without-text' | 'always' = 'without-text',
  isForUser = false,
): readonly Part[] {
  const parts = answer.content.map(partOf).filter((part) => part.type === 'media' || part.text !== '');
  const { structuredContent } = answer;
  const json = structuredContent === undefined ? undefined : jsonOf(structuredContent);
  // Servers repeat structured content as text for text-only clients; it is added if one did not.
  const isMissing =
    json !== undefined &&
    (structured === 'always'
      ? !parts.some((part) => part.type === 'text' && isSameJson(part.text, json))
      : !parts.some(({ type }) => type === 'text'));
  const all = isMissing ? [...parts, { type: 'text', text: json } as const] : parts;
  return all.length > 0 ? all : [{ type: 'text', text: isForUser ? FOR_USER : NOTHING }];
}

/** MCP's `audience`: blocks that do not name the assistant are for the person. */
export function isForAssistant({ annotations }: ContentBlock): boolean {
  const audience = annotations?.['audience'];
  return !Array.isArray(audience) || audience.length === 0 || audience.includes('assistant');
}

function isSameJson(text: string, json: string): boolean {
  return text === json || JSON.stringify(parseJson(text)) === json;
}

/** Maps the parts for a provider: `media` maps supported ones, the others become notes. */
export function mapParts<Mapped>(
  parts: readonly Part[],
  text: (text: string) => Mapped,
  media: (part: MediaPart) => Mapped | undefined,
): Mapped[] {
  return parts.map((part) => (part.type === 'text' ? text(part.text) : (media(part) ?? text(noteOn(part)))));
}

/** Marks a tool's failure for providers without a flag for it, unless its text is already marked. */
export function errorText(answer: Answer, parts: readonly Part[]): string {
  const text = textOf(parts);
  return answer.error !== undefined || /^\W{0,2}error\b/i.test(text) ? text : `Error: ${text}`;
}

/** Returns everything as text, for providers and fields that accept only text. */
export function textOf(parts: readonly Part[]): string {
  return parts.map((part) => (part.type === 'text' ? part.text : noteOn(part))).join('\n');
}

export function isImage({ mimeType }: MediaPart): boolean {
  return mimeType.startsWith('image/');
}

export function dataUrl({ mimeType, data }: MediaPart): string {
  return `data:${mimeType};base64,${data}`;
}

/** Returns a file name for a PDF. */
export function fileName({ uri }: MediaPart): string {
  return uri?.split('/').at(-1) || 'output.pdf';
}

function jsonOf(value: unknown): string {
  // Throws if it is deeper than the serializer's stack.
  return attempt(() => JSON.stringify(value), '[structured content that is nested too deep to be shown]');
}

export function noteOn({ mimeType, data, uri }: MediaPart, why?: string): string {
  const bytes = Math.floor((data.length * 3) / 4) - (data.endsWith('==') ? 2 : data.endsWith('=') ? 1 : 0);
  const from = uri === undefined ? '' : ` from ${uri}`;
  // The note already contains the type.
  const reason =
    why === undefined || why === `this model does not take ${mimeType}` ? '' : `, because ${why}`;
  return `[${mimeType}${from}, ${bytes} bytes: cannot be shown to this model${reason}]`;
}

function partOf(block: ContentBlock): Part {
  switch (block.type) {
    case 'text':
      return { type: 'text', text: block.text };
    case 'image':
    case 'audio':
      return { type: 'media', data: block.data, mimeType: mediaType(block.mimeType) };
    case 'resource':
      return resourcePart(block.resource);
    case 'resource_link': {
      const about = block.description === undefined ? '' : `: ${block.description}`;
      return { type: 'text', text: `[resource ${block.name} at ${block.uri}${about}]` };
    }
    default:
      return block satisfies never;
  }
}

function resourcePart(resource: ResourceContents): Part {
  const { uri, mimeType } = resource;
  if ('text' in resource) return { type: 'text', text: `[resource ${uri}]\n${resource.text}` };
  return { type: 'media', data: resource.blob, mimeType: mediaType(mimeType ?? OCTETS), uri };
}
