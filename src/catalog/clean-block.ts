/** Blocks of results, prompts and resources as a model may read them; what is clean already is given back as it is. */

import { clean, visibleUri } from '../policy/clean.ts';
import { cleanRecord, mapSame } from '../policy/clean-value.ts';
import type { KeptFields } from './accept-extra.ts';
import type { ContentBlock, ResourceContents } from './accept-result.ts';

/** Fields whose text is cleaned by a rule of their own, or that are not text to be read. */
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

/** Programs that run them, and digests that are compared: one changed byte breaks them. */
const VERBATIM = /^(?:ui|skill):/i;

/** Whether the contents of an address are passed on byte for byte. */
export function isVerbatim(uri: string): boolean {
  return VERBATIM.test(uri);
}

/** Text as a model may read it; bytes stay bytes. @param asked the address that was read, where one was. */
export function cleanContents(contents: ResourceContents, asked: string = contents.uri): ResourceContents {
  const { uri, mimeType } = contents;
  const fields = {
    uri: visibleUri(uri),
    ...(mimeType === undefined ? {} : { mimeType: line(mimeType) }),
  };
  // A server cannot choose this by the address in its answer.
  const isText = 'text' in contents && !(isVerbatim(asked) && isVerbatim(uri));
  const cleaned = isText
    ? changed(contents, { ...fields, text: clean(contents.text) })
    : changed(contents, fields);
  return cleanOthers(cleaned, CONTENTS_FIELDS);
}

/** Icons and unknown members of a definition. */
export function cleanKept({ icons, extra }: KeptFields): KeptFields {
  return {
    ...(icons === undefined ? {} : { icons: mapSame(icons, cleanRecord) }),
    ...(extra === undefined ? {} : { extra: cleanRecord(extra) }),
  };
}

/** Annotations, `_meta`, icons and every member that is not known: their names are cleaned as well. */
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
  // What is known comes last: no name that was only made clean takes its place.
  return { ...cleaned, ...Object.fromEntries(fields) } as T; // the same fields, of the same types
}

function line(text: string): string {
  return clean(text, { multiline: false });
}

function changed<T extends object>(value: T, fields: Partial<T>): T {
  const same = Object.entries(fields).every(([key, member]) => value[key as keyof T] === member);
  return same ? value : { ...value, ...fields };
}
