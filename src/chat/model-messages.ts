/** Converts the person's expanded input to messages for a model. */

import type { ModelMessage, UserContent } from 'ai';
import { isImage, mapParts, partsOf } from '../adapters/parts.ts';
import type { PromptMessage } from '../catalog/prompts.ts';

type UserPart = Exclude<UserContent, string>[number];

export function toModelMessages(messages: readonly PromptMessage[]): ModelMessage[] {
  return messages.map(({ role, content }): ModelMessage => {
    const parts = mapParts<UserPart>(
      partsOf({ content: [content], isError: false }),
      (text) => ({ type: 'text', text }),
      (part) =>
        isImage(part)
          ? { type: 'image', image: part.data, mediaType: part.mimeType }
          : { type: 'file', data: part.data, mediaType: part.mimeType },
    );
    if (role === 'user') return { role, content: parts };
    // A prompt may also contain assistant messages; they are sent as text, which every provider accepts.
    return {
      role,
      content: parts.map((part) => (part.type === 'text' ? part.text : `[${part.type}]`)).join('\n'),
    };
  });
}
