/** Every text of a result that a model may read, cleaned; a result that is clean already is given back as it is. */

import type { CallResult, ContentBlock } from '../catalog/accept-result.ts';
import { isRecord } from '../lib/json-rpc.ts';
import { clean } from '../policy/clean.ts';

/** Deeper than this nobody reads; what is there is left out rather than passed on unread. */
const MAX_DEPTH = 200;

export function cleanResult(result: CallResult): CallResult {
  const content = mapSame(result.content, cleanBlock);
  const { structuredContent } = result;
  const structured = structuredContent === undefined ? undefined : cleanValue(structuredContent, 0);
  if (content === result.content && structured === structuredContent) return result;
  return {
    ...result,
    content,
    ...(structured === undefined ? {} : { structuredContent: structured }),
  };
}

function cleanBlock(block: ContentBlock): ContentBlock {
  switch (block.type) {
    case 'text': {
      const text = clean(block.text);
      return text === block.text ? block : { ...block, text };
    }
    case 'resource': {
      const { resource } = block;
      if (!('text' in resource)) return block;
      const text = clean(resource.text);
      return text === resource.text ? block : { ...block, resource: { ...resource, text } };
    }
    case 'resource_link': {
      const { name, title, description } = block;
      const plain = clean(`${name}${title ?? ''}${description ?? ''}`);
      if (plain === `${name}${title ?? ''}${description ?? ''}`) return block;
      return {
        ...block,
        name: clean(name, { multiline: false }),
        ...(title === undefined ? {} : { title: clean(title, { multiline: false }) }),
        ...(description === undefined ? {} : { description: clean(description) }),
      };
    }
    default:
      return block;
  }
}

function cleanValue(value: unknown, depth: number): unknown {
  if (typeof value === 'string') return clean(value);
  if (typeof value !== 'object' || value === null) return value;
  if (depth === MAX_DEPTH) return null;
  if (Array.isArray(value)) return mapSame(value, (member) => cleanValue(member, depth + 1));
  if (!isRecord(value)) return value;
  let changed: Record<string, unknown> | undefined;
  for (const key of Object.keys(value)) {
    const member = value[key];
    const cleaned = cleanValue(member, depth + 1);
    const name = clean(key);
    if (cleaned === member && name === key) continue;
    changed ??= { ...value };
    if (name !== key) delete changed[key];
    Object.defineProperty(changed, name, {
      value: cleaned,
      enumerable: true,
      configurable: true,
      writable: true,
    });
  }
  return changed ?? value;
}

/** Like `map`, but the same list when nothing in it changed: most results are clean. */
function mapSame<T>(list: readonly T[], change: (member: T) => T): readonly T[] {
  let changed: T[] | undefined;
  for (const [at, member] of list.entries()) {
    const next = change(member);
    if (next !== member) changed ??= list.slice(0, at);
    changed?.push(next);
  }
  return changed ?? list;
}
