/** A parsed JSON Schema: references resolved, types known, keywords consistent with the types. */

export const JSON_TYPES = ['string', 'number', 'integer', 'boolean', 'object', 'array', 'null'] as const;

export type JsonType = (typeof JSON_TYPES)[number];

export interface SchemaNode {
  /** Never empty, except if `anyOf` defines everything. */
  readonly types: readonly JsonType[];
  readonly title?: string;
  readonly description?: string;
  readonly default?: unknown;
  readonly examples?: readonly unknown[];
  readonly enum?: readonly unknown[];
  /** True if the enum was written as `const`. */
  readonly constant?: boolean;
  /** Bounds, `pattern` and `format`. */
  readonly limits: ReadonlyMap<string, string | number | boolean>;
  readonly properties: ReadonlyMap<string, SchemaNode>;
  readonly required: ReadonlySet<string>;
  /** The schema of additional properties; absent if it is not specified. */
  readonly additional?: boolean | SchemaNode;
  readonly items?: SchemaNode;
  readonly anyOf?: readonly SchemaNode[];
  /** True if the union was written as `oneOf`. */
  readonly exclusive?: boolean;
}

/** A node under construction: catalogs have tens of thousands, so a copy for each keyword is too slow. */
export type Mutable<T> = { -readonly [Key in keyof T]: T[Key] };

export const NO_LIMITS: SchemaNode['limits'] = new Map();
export const NO_PROPERTIES: ReadonlyMap<string, SchemaNode> = new Map();
export const NO_NAMES: ReadonlySet<string> = new Set();

/** Creates a node with these types and nothing else. */
export function bareNode(...types: JsonType[]): SchemaNode {
  return { types, limits: NO_LIMITS, properties: NO_PROPERTIES, required: NO_NAMES };
}

export function isContainer(node: SchemaNode): boolean {
  return node.types.includes('object') || node.types.includes('array') || node.anyOf !== undefined;
}

/** Returns the node with its types and texts but without its contents, for levels that are too deep or recursive. */
export function shallow(node: SchemaNode): SchemaNode {
  if (!isContainer(node)) return node;
  const types = new Set([...node.types, ...(node.anyOf ?? []).flatMap((branch) => branch.types)]);
  return {
    ...bareNode(...(types.size === 0 ? (['object'] as const) : types)),
    ...(types.has('array') ? { items: bareNode('string') } : {}),
    ...(node.title === undefined ? {} : { title: node.title }),
    ...(node.description === undefined ? {} : { description: node.description }),
  };
}

/** Returns a key that is equal for equal nodes, independent of object identity and key order. */
export function fingerprint(node: SchemaNode): string {
  return JSON.stringify(node, (_key, value: unknown) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
    const entries =
      value instanceof Map || value instanceof Set ? [...value.entries()] : Object.entries(value);
    return entries.sort(([a], [b]) => (a < b ? -1 : 1));
  });
}

/** Sorts bounds, so that equal ones are serialized equally. */
export function sortedLimits(limits: SchemaNode['limits']): SchemaNode['limits'] {
  return new Map([...limits].sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** Removes duplicates; keeps the first of each. */
export function distinctNodes(nodes: readonly SchemaNode[]): SchemaNode[] {
  // The same object is the same schema; this avoids serializing shared trees.
  const objects = [...new Set(nodes)];
  if (objects.length < 2) return objects;
  const seen = new Set<string>();
  return objects.filter((node) => {
    const print = fingerprint(node);
    if (seen.has(print)) return false;
    seen.add(print);
    return true;
  });
}

/** Returns the type of a JSON value; whole numbers are `integer`. */
export function typeOfValue(value: unknown): JsonType {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number';
  return typeof value === 'string' || typeof value === 'boolean' ? (typeof value as JsonType) : 'object';
}

export function matchesTypes(value: unknown, types: readonly JsonType[]): boolean {
  const type = typeOfValue(value);
  return types.includes(type) || (type === 'integer' && types.includes('number'));
}

/** Appends a sentence to a description, unless it already contains it. */
export function withNote(description: string | undefined, note: string): string {
  if (description === undefined || description.trim() === '') return note;
  if (description.includes(note)) return description;
  return `${description.trimEnd()}${/[.!?…)\]]$/.test(description.trimEnd()) ? '' : '.'} ${note}`;
}

/** Returns the node with null allowed. */
export function orNull(node: SchemaNode): SchemaNode {
  if (node.anyOf !== undefined) {
    const known = node.anyOf.some((branch) => branch.types.includes('null'));
    return known ? node : { ...node, anyOf: [...node.anyOf, bareNode('null')] };
  }
  if (node.types.includes('null')) return node;
  const types: readonly JsonType[] = [...node.types, 'null'];
  if (node.enum === undefined) return { ...node, types };
  const { constant: _constant, ...rest } = node;
  return { ...rest, types, enum: [...node.enum, null] };
}
