/** An answer as the few kinds of parts that providers know: text and bytes with a type. */

import type { ContentBlock, ResourceContents } from '../catalog/accept-result.ts';
import { mediaType } from '../catalog/media-type.ts';
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
  /** Where it came from, if it has a name. */
  readonly uri?: string;
}

export type Part = TextPart | MediaPart;

const OCTETS = 'application/octet-stream';
/** Providers refuse empty text and empty lists. */
const NOTHING = '[the tool answered with nothing]';
const FOR_USER = '[the tool answered with content for the user only]';

/** At least one part, and no empty text among them. */
export function partsOf(
  answer: Answer,
  structured: 'without-text' | 'always' = 'without-text',
  isForUser = false,
): readonly Part[] {
  const parts = answer.content.map(partOf).filter((part) => part.type === 'media' || part.text !== '');
  const { structuredContent } = answer;
  const json = structuredContent === undefined ? undefined : jsonOf(structuredContent);
  // Servers repeat structured content as text for readers of text only; it is added where one did not.
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
  if (text === json) return true;
  try {
    return JSON.stringify(JSON.parse(text)) === json;
  } catch {
    return false;
  }
}

/** The parts as a provider takes them: `media` maps what it knows, the rest becomes a note. */
export function mapParts<Mapped>(
  parts: readonly Part[],
  text: (text: string) => Mapped,
  media: (part: MediaPart) => Mapped | undefined,
): Mapped[] {
  return parts.map((part) => (part.type === 'text' ? text(part.text) : (media(part) ?? text(noteOn(part)))));
}

/** A tool's failure for providers without a flag for it: marked, unless its text is marked already. */
export function errorText(answer: Answer, parts: readonly Part[]): string {
  const text = textOf(parts);
  return answer.error !== undefined || /^\W{0,2}error\b/i.test(text) ? text : `Error: ${text}`;
}

/** Everything as text, for providers and places that take only text. */
export function textOf(parts: readonly Part[]): string {
  return parts.map((part) => (part.type === 'text' ? part.text : noteOn(part))).join('\n');
}

export function isImage({ mimeType }: MediaPart): boolean {
  return mimeType.startsWith('image/');
}

export function dataUrl({ mimeType, data }: MediaPart): string {
  return `data:${mimeType};base64,${data}`;
}

/** A name for a PDF. */
export function fileName({ uri }: MediaPart): string {
  return uri?.split('/').at(-1) || 'output.pdf';
}

function jsonOf(value: unknown): string {
  try {
    return JSON.stringify(value);
  } catch {
    // Deeper than the serialiser's stack.
    return '[structured content that is nested too deep to be shown]';
  }
}

export function noteOn({ mimeType, data, uri }: MediaPart, why?: string): string {
  const bytes = Math.floor((data.length * 3) / 4) - (data.endsWith('==') ? 2 : data.endsWith('=') ? 1 : 0);
  const from = uri === undefined ? '' : ` from ${uri}`;
  // The type is in the note already.
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
