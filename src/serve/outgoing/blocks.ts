/** Converts content of results and prompts to blocks that the client's revision supports. */

import type { ContentBlock, ResourceContents } from '../../catalog/accept-result.ts';
import type { Params } from '../../endpoint/client-era.ts';
import { mapSame } from '../../policy/clean-value.ts';
import type { Reader } from './reader.ts';
import { type Note, withValidFields } from './valid-fields.ts';

/** Returns the same list if the client supports all of it unchanged. */
export function sentBlocks(
  content: readonly ContentBlock[],
  reader: Reader,
  note: Note,
): readonly (ContentBlock | Params)[] {
  return mapSame<ContentBlock | Params>(content, (block) => sentBlock(block as ContentBlock, reader, note));
}

export function sentBlock(block: ContentBlock, reader: Reader, note: Note): ContentBlock | Params {
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
