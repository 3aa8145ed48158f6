/** The media types that models accept in the results of tools, by API and model family. */

import { type MediaLimits, mediaCheck, mediaType } from '../catalog/media-bytes.ts';
import { noteOn, type Part } from './parts.ts';

const PHOTOS = ['image/png', 'image/jpeg', 'image/webp'] as const;
const IMAGES = [...PHOTOS, 'image/gif'] as const;
const PDF = 'application/pdf';

/**
 * An API with the models that accept the same media. `gemini-2` means every model before Gemini 3, `common` is for
 * media that all of these APIs except Chat Completions accept, `images` for its images, `text` for models that accept
 * text only.
 */
export type MediaFamily =
  | 'openai-responses'
  | 'openai-chat'
  | 'anthropic'
  | 'gemini-3'
  | 'gemini-2'
  | 'common'
  | 'images'
  | 'text';

/**
 * Media types that are sent to models of a family. The host saves others as files, and the model gets a note with the
 * path.
 *
 * @example
 * MEDIA_TYPES['openai-chat'].includes('image/svg+xml'); // → false
 */
export const MEDIA_TYPES: Readonly<Record<MediaFamily, readonly string[]>> = {
  'openai-responses': [...IMAGES, PDF],
  'openai-chat': IMAGES,
  anthropic: [...IMAGES, PDF],
  'gemini-3': [...PHOTOS, PDF, 'text/plain'],
  'gemini-2': [
    ...PHOTOS,
    'image/heic',
    'image/heif',
    PDF,
    'audio/wav',
    'audio/mpeg',
    'audio/aiff',
    'audio/aac',
    'audio/ogg',
    'audio/flac',
  ],
  common: [...PHOTOS, PDF],
  images: PHOTOS,
  text: [],
};

const MB = 1024 * 1024;

/** Published by the providers; `total` is the limit of a request. */
const LIMITS = {
  openai: { image: 50 * MB, total: 50 * MB },
  anthropic: { image: 5 * MB, total: 32 * MB, pixels: 8_000 },
  gemini: { image: 20 * MB, total: 20 * MB },
  /** The lowest limits of all. */
  common: { image: 5 * MB, total: 20 * MB, pixels: 8_000 },
} satisfies Record<string, MediaLimits>;

const FAMILY_LIMITS: Readonly<Record<MediaFamily, MediaLimits>> = {
  'openai-responses': LIMITS.openai,
  'openai-chat': LIMITS.openai,
  anthropic: LIMITS.anthropic,
  'gemini-3': LIMITS.gemini,
  'gemini-2': LIMITS.gemini,
  common: LIMITS.common,
  images: LIMITS.common,
  text: LIMITS.common,
};

/** Returns the limits of a family; for a list of types, those that every API accepts. */
export function mediaLimits(media: MediaFamily | readonly string[]): MediaLimits {
  return typeof media === 'string' ? FAMILY_LIMITS[media] : LIMITS.common;
}

/** Returns the parts that a model accepts, with the types of their bytes; notes in place of the others. */
export function shownParts(
  parts: readonly Part[],
  types: ReadonlySet<string>,
  limits: MediaLimits,
): readonly Part[] {
  const check = mediaCheck(types, limits);
  return parts.map((part) => {
    if (part.type === 'text') return part;
    const verdict = check(part);
    if (!verdict.ok) return { type: 'text', text: noteOn(part, verdict.why) };
    return verdict.mimeType === part.mimeType ? part : { ...part, mimeType: verdict.mimeType };
  });
}

/** Returns a set of media types, normalized by `mediaType`. */
export function mediaTypes(media: MediaFamily | readonly string[]): ReadonlySet<string> {
  return new Set((typeof media === 'string' ? MEDIA_TYPES[media] : media).map(mediaType));
}
