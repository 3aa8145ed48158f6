/** Removes hidden text from blocks of results, prompts and resources; returns clean ones unchanged. */

import { defined } from '../lib/defined.ts';
import { clean, oneLine, visibleUri } from '../policy/clean.ts';
import { cleanRecord, mapSame } from '../policy/clean-value.ts';
import type { KeptFields } from './accept-bounds.ts';
import type { ResourceFields } from './accept-lists.ts';
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
      return changed(block, { mimeType: oneLine(block.mimeType) });
    case 'resource':
      return changed(block, { resource: cleanContents(block.resource) });
    case 'resource_link': {
      const { uri, name, title, description, mimeType } = block;
      return changed(block, {
        uri: visibleUri(uri),
        name: oneLine(name),
        ...(title === undefined ? {} : { title: oneLine(title) }),
        ...(description === undefined ? {} : { description: clean(description) }),
        ...(mimeType === undefined ? {} : { mimeType: oneLine(mimeType) }),
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
    ...(mimeType === undefined ? {} : { mimeType: oneLine(mimeType) }),
  };
  // Both addresses are checked, so that a server cannot choose this by the address in its answer.
  const isText = 'text' in contents && !(isVerbatim(asked) && isVerbatim(uri));
  const cleaned = isText
    ? changed(contents, { ...fields, text: clean(contents.text) })
    : changed(contents, fields);
  return cleanOthers(cleaned, CONTENTS_FIELDS);
}

/** Cleans a listed item or an argument, except names and addresses: most of them must match the server's. */
export function cleanDescribed<T extends Partial<ResourceFields>>(item: T): T {
  const { title, description, mimeType, annotations, _meta } = item;
  return {
    ...item,
    ...defined({
      title: title && oneLine(title),
      description: description && clean(description),
      mimeType: mimeType && oneLine(mimeType),
      annotations: annotations && cleanRecord(annotations),
      _meta: _meta && cleanRecord(_meta),
    }),
    ...cleanKept(item),
  };
}

/** Cleans the icons and unknown members of a definition. */
export function cleanKept({ icons, extra }: KeptFields): KeptFields {
  return defined({ icons: icons && mapSame(icons, cleanRecord), extra: extra && cleanRecord(extra) });
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

function changed<T extends object>(value: T, fields: Partial<T>): T {
  const same = Object.entries(fields).every(([key, member]) => value[key as keyof T] === member);
  return same ? value : { ...value, ...fields };
}
