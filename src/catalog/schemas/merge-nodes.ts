/** Merges schemas, `allOf` (all parts apply) and unions at the root (any may), and keeps each node coherent. */

import {
  distinctNodes,
  fingerprint,
  type JsonType,
  matchesTypes,
  type SchemaNode,
  sortedLimits,
  typeOfValue,
  withNote,
} from './schema-node.ts';

const MAX_FORMS_NOTE_CHARS = 600;

/** Returns the intersection. If the two contradict, the first one wins, because models need a usable schema. */
export function intersect(a: SchemaNode, b: SchemaNode): SchemaNode {
  const types = commonTypes(a.types, b.types);
  const properties = new Map(a.properties);
  for (const [name, node] of b.properties) {
    const mine = properties.get(name);
    properties.set(name, mine === undefined ? node : intersect(mine, node));
  }
  const options = commonEnum(a, b);
  const values = options?.filter((value) => types.length === 0 || matchesTypes(value, types));
  const { enum: _a, constant, anyOf: unionA, exclusive: exclusiveA, ...restA } = a;
  const { enum: _b, constant: constantB, anyOf: unionB, exclusive: exclusiveB, ...restB } = b;
  const union = unionA ?? unionB;
  const exclusive = unionA === undefined ? exclusiveB : exclusiveA;
  return {
    ...restB,
    ...restA,
    types,
    limits: sortedLimits(new Map([...b.limits, ...a.limits])),
    properties,
    required: new Set([...a.required, ...b.required]),
    ...narrowest(a.additional, b.additional),
    ...(a.items && b.items ? { items: intersect(a.items, b.items) } : {}),
    ...(values === undefined || values.length === 0 ? {} : { enum: values }),
    ...(values?.length === 1 && (constant || constantB) ? { constant: true } : {}),
    ...(union === undefined ? {} : { anyOf: union }),
    ...(union !== undefined && exclusive ? { exclusive } : {}),
  };
}

function commonTypes(a: readonly JsonType[], b: readonly JsonType[]): readonly JsonType[] {
  if (a.length === 0 || b.length === 0) return a.length === 0 ? b : a;
  const both = a.flatMap((type): JsonType[] => {
    if (b.includes(type)) return [type];
    if (type === 'number' && b.includes('integer')) return ['integer'];
    return type === 'integer' && b.includes('number') ? ['integer'] : [];
  });
  return both.length === 0 ? a : [...new Set(both)];
}

function commonEnum(a: SchemaNode, b: SchemaNode): readonly unknown[] | undefined {
  if (a.enum === undefined || b.enum === undefined) return a.enum ?? b.enum;
  const theirs = new Set(b.enum.map((value) => JSON.stringify(value)));
  const both = a.enum.filter((value) => theirs.has(JSON.stringify(value)));
  return both.length === 0 ? a.enum : both;
}

function narrowest(
  a: SchemaNode['additional'],
  b: SchemaNode['additional'],
): { additional?: boolean | SchemaNode } {
  // `false` next to another part's properties would forbid them; in practice it means "these and those".
  const additional = typeof a === 'object' ? a : typeof b === 'object' ? b : (a ?? b);
  return additional === undefined ? {} : { additional };
}

/** Merges a union into one object that accepts the arguments of every branch, for roots that must not be a union. */
export function uniteObjects(base: SchemaNode, branches: readonly SchemaNode[]): SchemaNode {
  const forms = branches.map((branch) => intersect(base, branch));
  const names = new Set(forms.flatMap((form) => [...form.properties.keys()]));
  const properties = new Map<string, SchemaNode>();
  for (const name of names) {
    const variants = forms.flatMap((form) => form.properties.get(name) ?? []);
    const [first, ...others] = distinctNodes(variants);
    if (first !== undefined) properties.set(name, others.reduce(unite, first));
  }
  const asked = forms.flatMap((form) => [...form.required]);
  const required = new Set(asked.filter((name) => forms.every((form) => form.required.has(name))));
  const { anyOf: _union, exclusive: _exclusive, ...rest } = base;
  const note = formsNote(forms, required);
  const closed = forms.every((form) => form.additional === false);
  const { additional: _additional, ...open } = rest;
  return {
    ...open,
    types: ['object'],
    properties,
    required,
    ...(closed ? { additional: false } : {}),
    ...(note === undefined ? {} : { description: withNote(base.description, note) }),
  };
}

function unite(a: SchemaNode, b: SchemaNode): SchemaNode {
  if (a.enum !== undefined && b.enum !== undefined && a.anyOf === undefined && b.anyOf === undefined) {
    const { constant: _constant, ...rest } = a;
    const values = new Map([...a.enum, ...b.enum].map((value) => [JSON.stringify(value), value]));
    return { ...rest, types: [...new Set([...a.types, ...b.types])], enum: [...values.values()] };
  }
  const { description, ...bare } = a;
  const withoutWords = (node: SchemaNode): string => fingerprint({ ...node, description: '' });
  if (withoutWords(a) === withoutWords(b)) return a;
  const isPlainUnion = a.anyOf !== undefined && a.types.length === 0;
  const branches = distinctNodes([...(isPlainUnion ? (a.anyOf ?? []) : [bare]), b]);
  return {
    types: [],
    limits: new Map(),
    properties: new Map(),
    required: new Set(),
    ...(description === undefined ? {} : { description }),
    anyOf: branches,
  };
}

/** Describes which arguments belong together, because the merged object no longer expresses it. */
function formsNote(forms: readonly SchemaNode[], always: ReadonlySet<string>): string | undefined {
  const texts = forms.map((form) => {
    const fixed = [...form.properties]
      .filter(([name, node]) => node.constant && form.required.has(name))
      .map(([name, node]) => `${name} = ${JSON.stringify(node.enum?.[0])}`);
    const fixedNames = new Set(
      [...form.properties].filter(([, node]) => node.constant).map(([name]) => name),
    );
    const own = [...form.required].filter((name) => !always.has(name) && !fixedNames.has(name));
    return [...fixed, ...own].join(', ');
  });
  const distinct = [...new Set(texts)].filter((text) => text !== '');
  if (distinct.length === 0 || (distinct.length === 1 && texts.every((text) => text !== '')))
    return undefined;
  const note = `Give one of: (${distinct.join('), (')})${texts.includes('') ? ', or none of these' : ''}.`;
  return note.length <= MAX_FORMS_NOTE_CHARS ? note : `${note.slice(0, MAX_FORMS_NOTE_CHARS - 1)}…`;
}

export function onlyRequires(node: SchemaNode): boolean {
  return (
    node.required.size > 0 &&
    node.properties.size === 0 &&
    node.anyOf === undefined &&
    node.enum === undefined &&
    node.types.every((type) => type === 'object')
  );
}

/** Removes parts that do not apply to the node's types; an enum takes precedence over a type. */
export function coherent(node: SchemaNode): SchemaNode {
  if (isCoherent(node)) return node;
  const fitting = node.enum?.filter((value) => matchesTypes(value, node.types));
  const types = fitting?.length === 0 ? [...new Set((node.enum ?? []).map(typeOfValue))] : node.types;
  const { enum: values, additional, items, ...rest } = node;
  const isObject = types.includes('object');
  return {
    ...rest,
    types,
    ...(values === undefined ? {} : { enum: fitting?.length ? fitting : values }),
    ...(isObject ? {} : { properties: new Map(), required: new Set() }),
    ...(isObject && additional !== undefined ? { additional } : {}),
    ...(items !== undefined && types.includes('array') ? { items } : {}),
  };
}

/** Fast path without a copy: no enum, and no parts that belong to another type. */
function isCoherent({ types, enum: values, properties, required, additional, items }: SchemaNode): boolean {
  if (values !== undefined) return false;
  const saysObject = properties.size > 0 || required.size > 0 || additional !== undefined;
  return (!saysObject || types.includes('object')) && (items === undefined || types.includes('array'));
}

export function isObjectLike(
  node: Pick<SchemaNode, 'properties' | 'required' | 'additional' | 'items'>,
): boolean {
  return (
    node.properties.size > 0 ||
    node.required.size > 0 ||
    node.additional !== undefined ||
    node.items !== undefined
  );
}

/** True for a bare union, which can be merged into an outer union of the same kind. */
export function isPlainUnion(node: SchemaNode): boolean {
  const { anyOf, title, description, default: fallback, examples } = node;
  return anyOf !== undefined && [title, description, fallback, examples].every((word) => word === undefined);
}

/** Flattens nested unions at the root into one list of branches. */
export function flattened(node: SchemaNode): SchemaNode {
  return node.anyOf === undefined
    ? node
    : uniteObjects({ ...node, types: ['object'] }, node.anyOf.map(flattened));
}
