/** Which media types models take in the results of tools, by API and model family. */

import { mediaType } from '../catalog/media-type.ts';

const PHOTOS = ['image/png', 'image/jpeg', 'image/webp'] as const;
const IMAGES = [...PHOTOS, 'image/gif'] as const;
const PDF = 'application/pdf';

/**
 * An API with the models that take the same media. `gemini-2` means every model before Gemini 3, `common` for media that all
 * of these APIs take but Chat Completions, `images` for its images, `text` for models that take text only.
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
 * Media types that are sent to models of a family. Others are saved by the host as files, and the model gets a note with the
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

/** A set of media types that answers in the way that `mediaType` reads them. */
export function mediaTypes(media: MediaFamily | readonly string[]): ReadonlySet<string> {
  return new Set((typeof media === 'string' ? MEDIA_TYPES[media] : media).map(mediaType));
}
