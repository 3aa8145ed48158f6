/** Content of results and prompts towards clients, in blocks that their revision knows. */

import type { ContentBlock, ResourceContents } from '../../catalog/accept-result.ts';
import type { Params } from '../../endpoint/eras.ts';
import { mapSame } from '../../policy/clean-value.ts';
import { type Note, withValidFields } from './fields.ts';
import type { Reader } from './reader.ts';

/** The same list where the client can read all of it as it is. */
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

/** A block of a type that the client knows, with the same in it. */
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
