/** Removes hidden text from blocks of results, prompts and resources; returns clean ones unchanged. */

import { clean, visibleUri } from '../policy/clean.ts';
import { cleanRecord, mapSame } from '../policy/clean-value.ts';
import type { KeptFields } from './accept-bounds.ts';
import type { ContentBlock, ResourceContents } from './accept-result.ts';

/** Fields with their own cleaning rule, or that are not readable text. */
const BLOCK_FIELDS: ReadonlySet<string> = new Set([
  'type',
  'text',
  'data',
  'mimeType',
  'resource',
  'uri',
  'name',
  'title',
  'description',
  'size',
]);
const CONTENTS_FIELDS: ReadonlySet<string> = new Set(['uri', 'mimeType', 'text', 'blob']);

export function cleanBlock(block: ContentBlock): ContentBlock {
  return cleanOthers(cleanFields(block), BLOCK_FIELDS);
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

/** Resources that are executed or compared by digest: one changed byte breaks them. */
const VERBATIM = /^(?:ui|skill):/i;

/** True if the contents of an address are passed on byte for byte. */
export function isVerbatim(uri: string): boolean {
  return VERBATIM.test(uri);
}

/** Cleans text contents; bytes are unchanged. @param asked the requested address, if there is one. */
export function cleanContents(contents: ResourceContents, asked: string = contents.uri): ResourceContents {
  const { uri, mimeType } = contents;
  const fields = {
    uri: visibleUri(uri),
    ...(mimeType === undefined ? {} : { mimeType: line(mimeType) }),
  };
  // Both addresses are checked, so that a server cannot choose this by the address in its answer.
  const isText = 'text' in contents && !(isVerbatim(asked) && isVerbatim(uri));
  const cleaned = isText
    ? changed(contents, { ...fields, text: clean(contents.text) })
    : changed(contents, fields);
  return cleanOthers(cleaned, CONTENTS_FIELDS);
}

/** Cleans the icons and unknown members of a definition. */
export function cleanKept({ icons, extra }: KeptFields): KeptFields {
  return {
    ...(icons === undefined ? {} : { icons: mapSame(icons, cleanRecord) }),
    ...(extra === undefined ? {} : { extra: cleanRecord(extra) }),
  };
}

/** Cleans annotations, `_meta`, icons and all unknown members, including their names. */
function cleanOthers<T extends object>(value: T, known: ReadonlySet<string>): T {
  let others: Record<string, unknown> | undefined;
  for (const key of Object.keys(value)) {
    if (known.has(key)) continue;
    others ??= Object.create(null) as Record<string, unknown>;
    others[key] = value[key as keyof T];
  }
  if (others === undefined) return value;
  const cleaned = cleanRecord(others);
  if (cleaned === others) return value;
  const fields = Object.entries(value).filter(([key]) => known.has(key));
  // Known fields come last, so that a cleaned name cannot replace one of them.
  return { ...cleaned, ...Object.fromEntries(fields) } as T; // the same fields, of the same types
}

function line(text: string): string {
  return clean(text, { multiline: false });
}

function changed<T extends object>(value: T, fields: Partial<T>): T {
  const same = Object.entries(fields).every(([key, member]) => value[key as keyof T] === member);
  return same ? value : { ...value, ...fields };
}
