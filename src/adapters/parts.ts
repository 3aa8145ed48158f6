/** An answer as the few kinds of parts that providers know: text and bytes with a type. */

import type { ContentBlock, ResourceContents } from '../catalog/accept-result.ts';
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

/** Providers refuse empty text and empty lists. */
const NOTHING = '[the tool answered with nothing]';

/** At least one part, and no empty text among them. */
export function partsOf(answer: Answer): readonly Part[] {
  const parts = answer.content.map(partOf).filter((part) => part.type === 'media' || part.text !== '');
  const { structuredContent } = answer;
  // Servers repeat structured content as text for those who read only text; where one did not, we do.
  const says = structuredContent === undefined ? undefined : jsonOf(structuredContent);
  const withStructure =
    says !== undefined && !parts.some(({ type }) => type === 'text')
      ? [...parts, { type: 'text', text: says } as const]
      : parts;
  return withStructure.length > 0 ? withStructure : [{ type: 'text', text: NOTHING }];
}

/** The parts as a provider takes them: `media` maps what it knows, the rest becomes a note. */
export function mapParts<Mapped>(
  parts: readonly Part[],
  text: (text: string) => Mapped,
  media: (part: MediaPart) => Mapped | undefined,
): Mapped[] {
  return parts.map((part) => (part.type === 'text' ? text(part.text) : (media(part) ?? text(noteOn(part)))));
}

/** Everything in words, for providers and places that take only text. */
export function textOf(parts: readonly Part[]): string {
  return parts.map((part) => (part.type === 'text' ? part.text : noteOn(part))).join('\n');
}

export function isImage({ mimeType }: MediaPart): boolean {
  return mimeType.startsWith('image/');
}

export function dataUrl({ mimeType, data }: MediaPart): string {
  return `data:${mimeType};base64,${data}`;
}

function jsonOf(value: unknown): string {
  try {
    return JSON.stringify(value);
  } catch {
    // Deeper than the serialiser's stack.
    return '[structured content that is nested too deep to be shown]';
  }
}

function noteOn({ mimeType, data, uri }: MediaPart): string {
  const bytes = Math.floor((data.length * 3) / 4) - (data.endsWith('==') ? 2 : data.endsWith('=') ? 1 : 0);
  const from = uri === undefined ? '' : ` from ${uri}`;
  return `[${mimeType}${from}, ${bytes} bytes: cannot be shown to this model]`;
}

function partOf(block: ContentBlock): Part {
  switch (block.type) {
    case 'text':
      return { type: 'text', text: block.text };
    case 'image':
    case 'audio':
      return { type: 'media', data: block.data, mimeType: block.mimeType };
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
  return { type: 'media', data: resource.blob, mimeType: mimeType ?? 'application/octet-stream', uri };
}
