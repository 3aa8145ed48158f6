/** Blocks of results, prompts and resources as a model may read them; what is clean already is given back as it is. */

import { clean, visibleUri } from '../policy/clean.ts';
import type { ContentBlock, ResourceContents } from './accept-result.ts';

export function cleanBlock(block: ContentBlock): ContentBlock {
  switch (block.type) {
    case 'text': {
      const text = clean(block.text);
      return text === block.text ? block : { ...block, text };
    }
    case 'image':
    case 'audio':
      return changed(block, { mimeType: line(block.mimeType) });
    case 'resource':
      return changed(block, { resource: cleanContents(block.resource) });
    case 'resource_link': {
      const { uri, name, title, description, mimeType } = block;
      return changed(block, {
        uri: visibleUri(uri),
        name: line(name),
        ...(title === undefined ? {} : { title: line(title) }),
        ...(description === undefined ? {} : { description: clean(description) }),
        ...(mimeType === undefined ? {} : { mimeType: line(mimeType) }),
      });
    }
    default:
      return block satisfies never;
  }
}

/** Text as a model may read it; bytes stay bytes. */
export function cleanContents(contents: ResourceContents): ResourceContents {
  const { uri, mimeType } = contents;
  const fields = { uri: visibleUri(uri), ...(mimeType === undefined ? {} : { mimeType: line(mimeType) }) };
  return 'text' in contents
    ? changed(contents, { ...fields, text: clean(contents.text) })
    : changed(contents, fields);
}

function line(text: string): string {
  return clean(text, { multiline: false });
}

function changed<T extends object>(value: T, fields: Partial<T>): T {
  const same = Object.entries(fields).every(([key, member]) => value[key as keyof T] === member);
  return same ? value : { ...value, ...fields };
}
