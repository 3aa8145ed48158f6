/** Blocks of results, prompts and resources as a model may read them; what is clean already is given back as it is. */

import { clean, visibleUri } from '../policy/clean.ts';
import { cleanRecord } from '../policy/clean-value.ts';
import type { ContentBlock, ResourceContents } from './accept-result.ts';

export function cleanBlock(block: ContentBlock): ContentBlock {
  const { annotations, _meta } = block;
  return changed(cleanFields(block), {
    ...(annotations === undefined ? {} : { annotations: cleanRecord(annotations) }),
    ...(_meta === undefined ? {} : { _meta: cleanRecord(_meta) }),
  });
}

function cleanFields(block: ContentBlock): ContentBlock {
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

/** Programs that run them, and digests that are compared: one changed byte breaks them. */
const VERBATIM = /^(?:ui|skill):/i;

/** Whether the contents of an address are passed on byte for byte. */
export function isVerbatim(uri: string): boolean {
  return VERBATIM.test(uri);
}

/** Text as a model may read it; bytes stay bytes. @param asked the address that was read, where one was. */
export function cleanContents(contents: ResourceContents, asked: string = contents.uri): ResourceContents {
  const { uri, mimeType, _meta } = contents;
  const fields = {
    uri: visibleUri(uri),
    ...(mimeType === undefined ? {} : { mimeType: line(mimeType) }),
    ...(_meta === undefined ? {} : { _meta: cleanRecord(_meta) }),
  };
  // A server cannot choose this by the address in its answer.
  const isText = 'text' in contents && !(isVerbatim(asked) && isVerbatim(uri));
  return isText ? changed(contents, { ...fields, text: clean(contents.text) }) : changed(contents, fields);
}

function line(text: string): string {
  return clean(text, { multiline: false });
}

function changed<T extends object>(value: T, fields: Partial<T>): T {
  const same = Object.entries(fields).every(([key, member]) => value[key as keyof T] === member);
  return same ? value : { ...value, ...fields };
}
