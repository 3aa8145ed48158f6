/** Shrinks a schema step by step, the least useful parts first. Required arguments are always kept. */

import { isContainer, type SchemaNode, shallow } from './schema-node.ts';

interface ShrinkStep {
  readonly says: string;
  readonly apply: (root: SchemaNode) => SchemaNode;
}

const LONG_WORDS_CHARS = 300;
const SHORT_WORDS_CHARS = 80;
const LONG_ENUM = 50;
/** Depths at which nested contents are removed, one after the other. */
const CUT_DEPTHS = [8, 6, 4, 3, 2, 1] as const;

/** Optional arguments of the root are removed from the end. */
const OPTIONAL_KEPT = [500, 200, 100, 50, 20, 10, 0] as const;

type Change = (node: SchemaNode, depth: number) => SchemaNode;

export const SHRINK_STEPS: readonly ShrinkStep[] = [
  { says: 'examples are left out', apply: (root) => everywhere(root, withoutExamples) },
  { says: 'long descriptions are cut', apply: (root) => everywhere(root, cutWords(LONG_WORDS_CHARS, 0)) },
  { says: 'nested descriptions are cut', apply: (root) => everywhere(root, cutWords(SHORT_WORDS_CHARS, 2)) },
  { says: 'nested descriptions are left out', apply: (root) => everywhere(root, cutWords(0, 2)) },
  { says: 'long lists of values are left out', apply: (root) => everywhere(root, withoutLongEnum) },
  ...CUT_DEPTHS.map((depth) => ({
    says: `what is deeper than ${depth} is left out`,
    apply: (root: SchemaNode) => everywhere(root, (node, at) => (at >= depth ? shallow(node) : node)),
  })),
  { says: 'descriptions are cut', apply: (root) => everywhere(root, cutWords(SHORT_WORDS_CHARS, 0)) },
  { says: 'descriptions are left out', apply: (root) => everywhere(root, cutWords(0, 1)) },
  ...OPTIONAL_KEPT.map((count) => ({
    says: `of the optional arguments ${count} are kept`,
    apply: (root: SchemaNode) => withOptional(root, count),
  })),
];

/** Applies a change to every node, from the root (depth 0) inwards. */
function everywhere(node: SchemaNode, change: Change, depth = 0): SchemaNode {
  const changed = change(node, depth);
  if (!isContainer(changed)) return changed;
  const { additional, items, anyOf } = changed;
  const properties = [...changed.properties].map(([name, property]): [string, SchemaNode] => [
    name,
    everywhere(property, change, depth + 1),
  ]);
  return {
    ...changed,
    properties: new Map(properties),
    ...(typeof additional === 'object' ? { additional: everywhere(additional, change, depth + 1) } : {}),
    ...(items === undefined ? {} : { items: everywhere(items, change, depth + 1) }),
    ...(anyOf === undefined ? {} : { anyOf: anyOf.map((branch) => everywhere(branch, change, depth)) }),
  };
}

function withoutExamples(node: SchemaNode): SchemaNode {
  const { examples: _examples, ...rest } = node;
  return rest;
}

function withoutLongEnum(node: SchemaNode): SchemaNode {
  if (node.enum === undefined || node.enum.length <= LONG_ENUM) return node;
  const { enum: _enum, ...rest } = node;
  return rest;
}

/** Shortens title, default and description from a depth on; 0 characters removes them. */
function cutWords(chars: number, from: number): Change {
  return (node, depth) => {
    if (depth < from) return node;
    const { title: _title, description, default: fallback, ...rest } = node;
    const keepsDefault = fallback !== undefined && (JSON.stringify(fallback)?.length ?? 0) <= chars;
    return {
      ...rest,
      ...(keepsDefault ? { default: fallback } : {}),
      ...(description === undefined || chars === 0 ? {} : { description: clip(description, chars) }),
    };
  };
}

function clip(text: string, chars: number): string {
  return text.length <= chars ? text : `${text.slice(0, chars - 1).replace(/[\uD800-\uDBFF]$/u, '')}…`;
}

function withOptional(root: SchemaNode, count: number): SchemaNode {
  const kept = new Set(
    [...root.properties.keys()].filter((name) => !root.required.has(name)).slice(0, count),
  );
  const properties = [...root.properties].filter(([name]) => root.required.has(name) || kept.has(name));
  return { ...root, properties: new Map(properties) };
}
