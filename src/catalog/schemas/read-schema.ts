/** Parses any JSON into a schema node: resolves references, merges `allOf`, adds missing parts (CAT-5). */

import { defined } from '../../lib/defined.ts';
import { isRecord } from '../../lib/json.ts';
import type { Changes } from './changes.ts';
import {
  hasKeyIn,
  inferTypes,
  ownChars,
  readLimits,
  readRequired,
  readTypes,
  readValues,
  readWords,
} from './keywords.ts';
import {
  coherent,
  flattened,
  intersect,
  isObjectLike,
  isPlainUnion,
  onlyRequires,
  uniteObjects,
} from './merge-nodes.ts';
import { followPointer } from './pointer.ts';
import {
  bareNode,
  distinctNodes,
  type JsonType,
  type Mutable,
  NO_PROPERTIES,
  orNull,
  type SchemaNode,
  shallow,
  sortedLimits,
  withNote,
} from './schema-node.ts';

/** Limit on nesting. Deeper schemas keep their type and lose their contents. */
const MAX_DEPTH = 32;
/** Limit on nodes of one schema after references are resolved: nested references multiply. */
const MAX_NODES = 3_000;
/** Limit on the text of one schema after references are resolved. */
const MAX_CHARS = 256 * 1024;
/** Limit per object; required properties are always kept. */
const MAX_PROPERTIES = 1_500;
/** How often a schema may contain itself before it is cut. */
const MAX_RECURSION = 1;
/** Limit on references followed from the root to one node. */
const MAX_TRAIL = 64;
const MAX_BRANCHES = 64;

/** Restrictive keywords that providers do not reliably support; dropping them only allows more. */
const IGNORED: readonly string[] = [
  'not',
  'if',
  'then',
  'else',
  'dependencies',
  'dependentRequired',
  'dependentSchemas',
  'contains',
  'unevaluatedItems',
  'unevaluatedProperties',
  '$dynamicRef',
];
const IGNORED_KEYS: ReadonlySet<string> = new Set(IGNORED);

interface Place {
  readonly path: string;
  readonly depth: number;
  /** References followed to this place. */
  readonly trail: readonly string[];
}

/** Parses a whole input schema; its root becomes an object without a union. */
export function readSchema(raw: Readonly<Record<string, unknown>>, changes: Changes): SchemaNode | undefined {
  const reader = new Reader(raw, changes);
  return reader.root();
}

class Reader {
  readonly #document: Readonly<Record<string, unknown>>;
  readonly #changes: Changes;
  readonly #sizes = new WeakMap<object, number>();
  #nodes = 0;
  #chars = 0;

  constructor(document: Readonly<Record<string, unknown>>, changes: Changes) {
    this.#document = document;
    this.#changes = changes;
  }

  root(): SchemaNode | undefined {
    const parts = this.#parts(this.#document, { path: '', depth: 0, trail: [] });
    const { anyOf, enum: values, constant: _constant, ...rest } = parts;
    const base: SchemaNode = { ...rest, types: ['object'] };
    if (parts.types.length > 0 && !parts.types.includes('object')) return undefined;
    if (values !== undefined && !values.some(isRecord)) return undefined;
    if (values !== undefined) this.#changes.add('', 'enum at the root is left out');
    if (parts.types.length === 0 && anyOf === undefined)
      this.#changes.add('', 'type is missing: taken as object');
    if (anyOf === undefined) return this.#complete(base, '');
    const objects = anyOf.filter((branch) => branch.types.length === 0 || branch.types.includes('object'));
    if (objects.length === 0) return undefined;
    this.#changes.add('', 'the union at the root becomes one object with the arguments of all its forms');
    return this.#complete(uniteObjects(base, objects.map(flattened)), '');
  }

  #read(raw: unknown, place: Place): SchemaNode {
    if (isRecord(raw)) return this.#settle(this.#parts(raw, place), place);
    const named = typeof raw === 'string' ? readTypes(raw) : undefined;
    const shown = named ? 'the bare name of a type' : typeof raw === 'string' ? raw : JSON.stringify(raw);
    this.#changes.add(place.path, `${shown} is taken as a schema`);
    return this.#settle(bareNode(...(named ?? ['string' as const])), place);
  }

  /** Parses a schema without inferring missing parts, which happens after merging. */
  #parts(raw: Readonly<Record<string, unknown>>, place: Place): SchemaNode {
    if (this.#isSpent(raw, place.trail.length > 0)) {
      this.#changes.add('', 'the schema is too large: what comes late keeps its type only');
      return shallow(bareNode(...this.#peek(raw).types));
    }
    if (place.depth > MAX_DEPTH) {
      this.#changes.add(place.path, 'what is inside is left out: the schema is too deep');
      return this.#peek(raw);
    }
    let node = this.#own(raw, place);
    if (typeof raw['$ref'] === 'string') node = intersect(node, this.#referred(raw['$ref'], place));
    for (const part of listOf(raw['allOf'])) {
      if (!isRecord(part)) continue;
      const read = this.#parts(part, { ...place, depth: place.depth + 1 });
      if (node.anyOf && read.anyOf) this.#changes.add(place.path, 'only the first of several unions is kept');
      this.#changes.add(place.path, 'allOf is merged');
      node = intersect(node, read);
    }
    if (raw['nullable'] === true) node = orNull(this.#typed(node, place.path));
    if (hasKeyIn(raw, IGNORED_KEYS)) {
      for (const keyword of IGNORED) {
        if (Object.hasOwn(raw, keyword)) this.#changes.add(place.path, `${keyword} is left out`);
      }
    }
    return node;
  }

  /** Counts parsed nodes and text. References repeat their targets, so the size of the input is not a limit. */
  #isSpent(raw: Readonly<Record<string, unknown>>, isRepeatable: boolean): boolean {
    const chars = this.#charsOf(raw, isRepeatable);
    // Required names without a property become properties later.
    const { required, properties } = raw;
    const listed = isRecord(properties) ? Object.keys(properties).length : 0;
    this.#nodes += 1 + (Array.isArray(required) ? Math.max(required.length - listed, 0) : 0);
    this.#chars += chars;
    // The root is always read, because its arguments must not be lost.
    return raw !== this.#document && (this.#nodes > MAX_NODES || this.#chars > MAX_CHARS);
  }

  /** Caches the size of reference targets; other schemas are read only once. */
  #charsOf(raw: Readonly<Record<string, unknown>>, isRepeatable: boolean): number {
    if (!isRepeatable) return ownChars(raw);
    const chars = this.#sizes.get(raw) ?? ownChars(raw);
    this.#sizes.set(raw, chars);
    return chars;
  }

  #own(raw: Readonly<Record<string, unknown>>, place: Place): SchemaNode {
    const named = readTypes(raw['type']);
    if (named === undefined && raw['type'] !== undefined) {
      this.#changes.add(place.path, `type ${JSON.stringify(raw['type'])?.slice(0, 40)} does not exist`);
    }
    const node: Mutable<SchemaNode> = bareNode(...(named ?? []));
    readWords(raw, node);
    readValues(raw, node);
    const items = this.#items(raw, place);
    const additional = this.#additional(raw, place);
    const limits = closedTuple(raw, readLimits(raw));
    node.limits = limits.size < 2 ? limits : sortedLimits(limits);
    node.required = readRequired(raw);
    node.properties = this.#properties(raw['properties'], node.required, place);
    if (additional !== undefined) node.additional = additional;
    if (items !== undefined) node.items = items;
    const isUnion = raw['anyOf'] !== undefined || raw['oneOf'] !== undefined;
    return isUnion ? this.#withUnion(node, raw, place) : node;
  }

  #properties(raw: unknown, required: ReadonlySet<string>, place: Place): SchemaNode['properties'] {
    if (!isRecord(raw)) return NO_PROPERTIES;
    const properties = new Map<string, SchemaNode>();
    const all = Object.keys(raw);
    const kept = all.filter((name, index) => index < MAX_PROPERTIES || required.has(name));
    if (kept.length < all.length)
      this.#changes.add(place.path, `only ${kept.length} of its properties are kept`);
    for (const name of kept) properties.set(name, this.#read(raw[name], below(place, name)));
    return properties;
  }

  #additional(raw: Readonly<Record<string, unknown>>, place: Place): boolean | SchemaNode | undefined {
    const { additionalProperties, patternProperties } = raw;
    if (isRecord(additionalProperties)) {
      // An empty schema allows everything; `true` expresses that without a type.
      return (
        Object.keys(additionalProperties).length === 0 || this.#read(additionalProperties, below(place, '*'))
      );
    }
    // `false` forbids names; only the other schemas describe allowed values.
    const schemas = isRecord(patternProperties)
      ? Object.values(patternProperties).filter((schema) => schema !== false)
      : [];
    if (schemas.length > 0) {
      this.#changes.add(place.path, 'patternProperties becomes additionalProperties');
      const [only] = schemas;
      return schemas.length > 1 || only === true || this.#read(only, below(place, '*'));
    }
    return typeof additionalProperties === 'boolean' ? additionalProperties : undefined;
  }

  #items(raw: Readonly<Record<string, unknown>>, place: Place): SchemaNode | undefined {
    const { items } = raw;
    const { tuple, more } = tupleOf(raw);
    if (tuple.length === 0) {
      if (items === undefined && raw['prefixItems'] === undefined) return undefined;
      // Any item is allowed: no type yet, so that another part of an `allOf` can define it.
      return saysNothing(items) ? bareNode() : this.#read(items, below(place, '[]'));
    }
    this.#changes.add(place.path, 'a tuple becomes a list of any of its members');
    const members = isRecord(more) ? [...tuple, more] : tuple;
    const nodes = distinctNodes(members.map((member) => this.#read(member, below(place, '[]'))));
    const [only] = nodes;
    return nodes.length === 1 ? only : { ...bareNode(), anyOf: nodes };
  }

  #withUnion(node: SchemaNode, raw: Readonly<Record<string, unknown>>, place: Place): SchemaNode {
    const keyword = Array.isArray(raw['anyOf']) && raw['anyOf'].length > 0 ? 'anyOf' : 'oneOf';
    const all = listOf(raw[keyword]);
    const kept = firstForms(all);
    if (all.length > kept.length)
      this.#changes.add(place.path, `only the first ${MAX_BRANCHES} forms are kept`);
    const branches = kept.flatMap((branch) => this.#branch(branch, { ...place, depth: place.depth + 1 }));
    if (branches.length === 0) return node;
    if (keyword === 'anyOf' && Array.isArray(raw['oneOf'])) {
      this.#changes.add(place.path, 'oneOf next to anyOf is left out');
    }
    // "Give a or b": branches that only require something are better described in text.
    if (branches.every(onlyRequires)) {
      const choices = branches.map((branch) => `(${[...branch.required].join(', ')})`).join(', ');
      this.#changes.add(place.path, `${keyword} of required arguments goes into the description`);
      const note = `Give ${keyword === 'oneOf' ? 'exactly' : 'at least'} one of: ${choices}.`;
      return { ...node, description: withNote(node.description, note) };
    }
    const [only] = branches;
    if (branches.length === 1 && only !== undefined) return intersect(node, only);
    return { ...node, anyOf: branches, ...(keyword === 'oneOf' ? { exclusive: true } : {}) };
  }

  /** Parses one branch of a union; empty for `false` and for values that are not schemas. */
  #branch(raw: unknown, place: Place): readonly SchemaNode[] {
    if (isRecord(raw)) return [this.#parts(raw, place)];
    if (raw === true) return [bareNode()];
    const named = typeof raw === 'string' ? readTypes(raw) : undefined;
    this.#changes.add(
      place.path,
      `a form that is ${JSON.stringify(raw)?.slice(0, 40)} is ${named ? 'taken as a type' : 'left out'}`,
    );
    return named === undefined ? [] : [bareNode(...named)];
  }

  #referred(ref: string, place: Place): SchemaNode {
    const found = followPointer(this.#document, ref);
    if (found !== undefined && typeof found.target === 'boolean') return bareNode();
    if (found === undefined || !isRecord(found.target)) {
      this.#changes.add(place.path, `$ref ${JSON.stringify(ref.slice(0, 80))} leads nowhere`);
      return bareNode();
    }
    const before = place.trail.filter((step) => step === ref).length;
    if (before > MAX_RECURSION || place.trail.length >= MAX_TRAIL) {
      this.#changes.add(place.path, `$ref ${JSON.stringify(ref.slice(0, 80))} is recursive: cut here`);
      return this.#peek(found.target);
    }
    this.#changes.add('', '$ref is replaced by what it refers to');
    return this.#parts(found.target, { ...place, trail: [...place.trail, ref] });
  }

  /** Returns the type and texts of a schema without its contents. */
  #peek(raw: Readonly<Record<string, unknown>>): SchemaNode {
    const inside = isRecord(raw['properties']) ? 'object' : raw['items'] === undefined ? undefined : 'array';
    const types = readTypes(raw['type']) ?? (inside === undefined ? [] : [inside]);
    const { description } = raw;
    const known: Mutable<SchemaNode> = bareNode(...types);
    readValues(raw, known);
    return {
      ...known,
      ...shallow(bareNode(...known.types)),
      ...(typeof description === 'string' && description !== '' ? { description } : {}),
    };
  }

  /** Completes a node: it has a type, or is a union of nodes that have one. */
  #settle(node: SchemaNode, place: Place): SchemaNode {
    if (node.anyOf === undefined) return this.#complete(this.#typed(node, place.path), place.path);
    const { anyOf, exclusive, title, description, default: fallback, examples, ...shape } = node;
    const words = {
      ...defined({ title, description, default: fallback, examples }),
    };
    // An enum is more precise than a union, and objects must not be repeated in each branch.
    if (shape.enum !== undefined) return this.#settle({ ...shape, ...words }, place);
    if (isObjectLike(shape)) return this.#united({ ...shape, ...words }, anyOf, place);
    const bound = shape.types.length > 0 || shape.limits.size > 0;
    const branches = anyOf.flatMap((branch) => {
      const settled = this.#settle(bound ? intersect(branch, shape) : branch, place);
      // A nested union without its own texts is merged into the outer one.
      return isPlainUnion(settled) ? (settled.anyOf ?? []) : [settled];
    });
    const distinct = distinctNodes(branches);
    const [only] = distinct;
    if (distinct.length === 1 && only !== undefined) return { ...only, ...words };
    return { ...bareNode(), ...words, anyOf: distinct, ...(exclusive ? { exclusive } : {}) };
  }

  #united(base: SchemaNode, branches: readonly SchemaNode[], place: Place): SchemaNode {
    const objects = branches.filter((branch) => branch.types.length === 0 || branch.types.includes('object'));
    if (base.items !== undefined || objects.length === 0) return this.#settle(base, place);
    this.#changes.add(
      place.path,
      'a union next to properties becomes one object with those of all its forms',
    );
    return this.#complete(uniteObjects({ ...base, types: ['object'] }, objects.map(flattened)), place.path);
  }

  #typed(node: SchemaNode, path: string): SchemaNode {
    if (node.types.length > 0 || node.anyOf !== undefined) return node;
    const types: readonly JsonType[] = inferTypes(node) ?? ['string'];
    this.#changes.add(path, `type is missing: taken as ${types.join(' or ')}`);
    return { ...node, types };
  }

  /** Ensures that every required argument has a schema and every list has items. */
  #complete(given: SchemaNode, path: string): SchemaNode {
    const node = coherent(given);
    let complete = node;
    const unknown = node.types.includes('object')
      ? [...node.required].filter((name) => !node.properties.has(name))
      : [];
    if (unknown.length > 0) {
      const added = unknown.map((name): [string, SchemaNode] => [name, bareNode('string')]);
      this.#changes.add(path, `required ${unknown.join(', ').slice(0, 200)}: added as string`);
      complete = { ...complete, properties: new Map([...node.properties, ...added]) };
    }
    // Lists in an enum need no items; an enum without a list does not define items.
    const listed = node.enum?.some((value) => Array.isArray(value)) ?? false;
    const isOpen = node.items === undefined ? !listed : isUntyped(node.items);
    if (node.types.includes('array') && isOpen) {
      const shown = node.items === undefined ? 'is missing' : 'allows anything';
      this.#changes.add(path, `items ${shown}: taken as string`);
      complete = { ...complete, items: bareNode('string') };
    }
    return complete;
  }
}

function below({ path, depth, trail }: Place, step: string): Place {
  return { path: path === '' ? step : `${path}.${step}`, depth: depth + 1, trail };
}

/** Returns the schemas of a tuple and the schema of its additional items. */
function tupleOf(raw: Readonly<Record<string, unknown>>): { tuple: readonly unknown[]; more: unknown } {
  const { items, prefixItems } = raw;
  const more = Array.isArray(items) ? raw['additionalItems'] : items;
  return { tuple: listOf(Array.isArray(prefixItems) ? prefixItems : items), more };
}

/** Adds `maxItems` if a tuple does not allow additional items. */
function closedTuple(
  raw: Readonly<Record<string, unknown>>,
  limits: SchemaNode['limits'],
): SchemaNode['limits'] {
  const { tuple, more } = tupleOf(raw);
  if (more !== false || limits.has('maxItems')) return limits;
  return new Map([...limits, ['maxItems', tuple.length]]);
}

/** True if a schema allows any items, and for tuples without item schemas. */
function saysNothing(items: unknown): boolean {
  return (
    items === undefined ||
    typeof items === 'boolean' ||
    Array.isArray(items) ||
    (isRecord(items) && Object.keys(items).length === 0)
  );
}

function isUntyped({ types, anyOf }: SchemaNode): boolean {
  return types.length === 0 && anyOf === undefined;
}

function listOf(raw: unknown): readonly unknown[] {
  return Array.isArray(raw) ? raw : [];
}

/** Returns the first branches up to the limit, plus a later null branch, which optional arguments often end with. */
function firstForms(all: readonly unknown[]): readonly unknown[] {
  const first = all.slice(0, MAX_BRANCHES);
  const absent = all.slice(MAX_BRANCHES).find((form) => isRecord(form) && form['type'] === 'null');
  return absent === undefined ? first : [...first, absent];
}
