/** Writes a schema node in the form of one provider, with the information to convert arguments back. */

import type { Changes } from './changes.ts';
import { MAX_PROPERTY_NAME_CHARS, type Profile } from './provider-profile.ts';
import type { Undo, UndoBranch, UndoProperty } from './restore.ts';
import {
  bareNode,
  type JsonType,
  matchesTypes,
  orNull,
  type SchemaNode,
  shallow,
  withNote,
} from './schema-node.ts';
import { enumNote, valueNotes, writableLimits } from './values.ts';

export type JsonSchema = Record<string, unknown>;

export interface Written {
  readonly schema: JsonSchema;
  readonly undo?: Undo;
}

interface Place {
  readonly path: string;
  /** The root is 1. */
  readonly depth: number;
}

const SCALARS: ReadonlySet<JsonType> = new Set(['string', 'number', 'integer', 'boolean']);

/** Writes one schema and counts everything that the provider limits. */
export class Writer {
  readonly #profile: Profile;
  readonly #changes: Changes;
  #properties = 0;
  #enumValues = 0;
  #nameChars = 0;

  constructor(profile: Profile, changes: Changes) {
    this.#profile = profile;
    this.#changes = changes;
  }

  root(node: SchemaNode): Written {
    return this.#object(node, { path: '', depth: 1 });
  }

  /** Whether the provider would reject the schema for its number of properties or the length of its names. */
  isTooLarge(): boolean {
    const { maxProperties = Infinity, maxNameChars = Infinity } = this.#profile;
    return this.#properties > maxProperties || this.#nameChars > maxNameChars;
  }

  #write(node: SchemaNode, place: Place): Written {
    const alternatives = this.#alternatives(node);
    if (alternatives !== undefined) return this.#union(node, alternatives, place);
    const tooDeep = place.depth >= this.#profile.maxDepth && isNested(node);
    if (this.#profile.jsonText && (tooDeep || this.#holdsNothing(node))) return this.#jsonText(node, place);
    if (tooDeep) {
      this.#changes.add(place.path, 'what is inside is left out: too deep');
      return this.#single(shallow(node), place);
    }
    return this.#single(node, place);
  }

  #single(node: SchemaNode, place: Place): Written {
    return node.types.includes('object') ? this.#object(node, place) : this.#plain(node, place);
  }

  /** Returns the branches of a union, or of a list of types if the provider does not support such lists. */
  #alternatives(node: SchemaNode): readonly SchemaNode[] | undefined {
    if (node.anyOf !== undefined) return node.anyOf;
    const types = node.types.filter((type) => type !== 'null');
    const listable =
      this.#profile.alternatives === 'any-list' ||
      (this.#profile.alternatives === 'scalar-list' && types.every((type) => SCALARS.has(type)));
    if (types.length < 2 || listable) return undefined;
    const scalars =
      this.#profile.alternatives === 'scalar-list' ? types.filter((type) => SCALARS.has(type)) : [];
    const single = types.filter((type) => !scalars.includes(type)).map((type) => onlyTypes(node, [type]));
    const listed = scalars.length === 0 ? [] : [onlyTypes(node, scalars)];
    const none = node.types.includes('null') ? [bareNode('null')] : [];
    return [...listed, ...single, ...none];
  }

  #union(node: SchemaNode, branches: readonly SchemaNode[], place: Place): Written {
    const byFlag = this.#profile.alternatives === 'nullable';
    const nullable = byFlag && branches.some(allowsNull);
    const meant = byFlag ? branches.filter((branch) => !isNull(branch)) : branches;
    const words = this.#words(node);
    const [first = bareNode('string', 'null'), ...rest] = nullable ? meant.map(orNull) : meant;
    // Gemini rejects keywords next to `anyOf`, so the texts go to the first branch.
    const told = byFlag ? [withWords(first, words), ...rest] : [first, ...rest];
    const written = told
      .map((branch) => this.#write(branch, place))
      .flatMap(({ schema, undo }): UndoBranch[] => {
        const inner = undo?.branches ?? plainBranches(schema);
        return inner === undefined ? [undo === undefined ? { schema } : { schema, undo }] : [...inner];
      });
    const kept = withoutRepetition(written);
    const [only] = kept;
    if (kept.length === 1 && only !== undefined) {
      const schema = byFlag ? only.schema : { ...only.schema, ...words };
      return only.undo === undefined ? { schema } : { schema, undo: only.undo };
    }
    const keyword = node.exclusive && this.#profile.annotations ? 'oneOf' : 'anyOf';
    const schema = { ...(byFlag ? {} : words), [keyword]: kept.map((branch) => branch.schema) };
    return kept.some((branch) => branch.undo !== undefined)
      ? { schema, undo: { branches: kept } }
      : { schema };
  }

  #object(node: SchemaNode, place: Place): Written {
    const { closed, propertyName } = this.#profile;
    const names = renameProperties(node.properties.keys(), propertyName);
    const properties: [string, JsonSchema][] = [];
    const undone = new Map<string, UndoProperty>();
    for (const [name, property] of node.properties) {
      const safe = names.get(name) ?? name;
      const path = place.path === '' ? name : `${place.path}.${name}`;
      const optional = closed && !node.required.has(name);
      let told = optional ? orNull(property) : property;
      if (optional) this.#changes.add(path, 'optional becomes "or null"');
      if (safe !== name) {
        this.#changes.add(path, `is called ${safe}`);
        told = {
          ...told,
          description: withNote(told.description, `Stands for ${JSON.stringify(name.slice(0, 100))}.`),
        };
      }
      const written = this.#write(told, { path, depth: place.depth + 1 });
      this.#properties += 1;
      this.#nameChars += safe.length;
      properties.push([safe, written.schema]);
      const dropNull = optional && !allowsNull(property);
      if (safe !== name || dropNull || written.undo) {
        undone.set(safe, { name, dropNull, ...(written.undo ? { undo: written.undo } : {}) });
      }
    }
    // In JSON key order, where numeric names come first.
    const spelled = Object.fromEntries(properties);
    const asked = new Set([...node.required].map((name) => names.get(name) ?? name));
    const required = Object.keys(spelled).filter((name) => closed || asked.has(name));
    const additional = this.#additional(node, place);
    const schema: JsonSchema = this.#frame(node);
    schema['properties'] = spelled;
    if (required.length > 0 || closed) schema['required'] = required;
    Object.assign(schema, additional.schema, this.#items(node, place).schema);
    const undo: Undo = {
      ...(undone.size > 0 ? { properties: undone } : {}),
      ...(additional.undo === undefined ? {} : { additional: additional.undo }),
    };
    return Object.keys(undo).length === 0 ? { schema } : { schema, undo };
  }

  #additional(node: SchemaNode, place: Place): Written {
    const { additional } = node;
    if (this.#profile.closed) {
      if (additional === undefined || additional === false)
        return { schema: { additionalProperties: false } };
      this.#changes.add(place.path, 'further properties are not allowed');
      return { schema: { additionalProperties: false } };
    }
    if (additional === undefined) return { schema: {} };
    if (this.#profile.alternatives === 'nullable') {
      if (additional !== false) this.#changes.add(place.path, 'additionalProperties is left out');
      return { schema: {} };
    }
    if (typeof additional === 'boolean') return { schema: { additionalProperties: additional } };
    const { schema, undo } = this.#write(additional, { path: `${place.path}.*`, depth: place.depth + 1 });
    return { schema: { additionalProperties: schema }, ...(undo === undefined ? {} : { undo }) };
  }

  #items(node: SchemaNode, place: Place): Written {
    if (node.items === undefined || !node.types.includes('array')) return { schema: {} };
    const { schema, undo } = this.#write(node.items, { path: `${place.path}.[]`, depth: place.depth + 1 });
    return { schema: { items: schema }, ...(undo === undefined ? {} : { undo: { items: undo } }) };
  }

  #plain(node: SchemaNode, place: Place): Written {
    const schema = this.#frame(node);
    if (node.items === undefined) return { schema };
    const items = this.#items(node, place);
    return { ...items, schema: Object.assign(schema, items.schema) };
  }

  /** Writes types, texts, values and bounds, without the contents. */
  #frame(node: SchemaNode): JsonSchema {
    const byFlag = this.#profile.alternatives === 'nullable';
    const types = byFlag ? node.types.filter((type) => type !== 'null') : node.types;
    const [first = 'string'] = types;
    const { limits, left } = writableLimits(node, this.#profile);
    const values = this.#values(node);
    const unlisted = Object.keys(values).length === 0 ? node.enum : undefined;
    const notes = unlisted === undefined ? left : [...left, enumNote(unlisted)];
    const schema: JsonSchema = { type: types.length > 1 ? types : first };
    if (byFlag && node.types.includes('null')) schema['nullable'] = true;
    return Object.assign(schema, this.#words(node, notes), values, limits);
  }

  #words(node: SchemaNode, notes: readonly string[] = []): JsonSchema {
    const { title, description, default: fallback, examples } = node;
    if (this.#profile.annotations) {
      const told = notes.reduce(withNote, description ?? '');
      const words: JsonSchema = {};
      if (title !== undefined) words['title'] = title;
      if (told !== '') words['description'] = told;
      if (fallback !== undefined) words['default'] = fallback;
      if (examples !== undefined) words['examples'] = examples;
      return words;
    }
    const told = [...notes, ...valueNotes(node)].reduce(withNote, description ?? title ?? '');
    return told === '' ? {} : { description: told };
  }

  #values(node: SchemaNode): JsonSchema {
    if (node.enum === undefined) return {};
    const { stringEnums, annotations, maxEnumValues = Infinity, longEnum = Infinity } = this.#profile;
    if (annotations) return node.constant ? { const: node.enum[0] } : { enum: node.enum };
    // Gemini expresses null by a flag and rejects empty strings.
    const values = stringEnums ? node.enum.filter((value) => value !== null) : node.enum;
    const isWritable = (value: unknown): boolean =>
      stringEnums ? typeof value === 'string' && value !== '' : typeof value !== 'object' || value === null;
    if (values.length === 0 || !values.every(isWritable)) return {};
    const chars = values.reduce<number>((sum, value) => sum + String(value).length, 0);
    const tooLong = values.length > longEnum && chars > (this.#profile.maxLongEnumChars ?? Infinity);
    if (tooLong || this.#enumValues + values.length > maxEnumValues) return {};
    this.#enumValues += values.length;
    this.#nameChars += chars;
    return { enum: values };
  }

  #holdsNothing(node: SchemaNode): boolean {
    if (!node.types.includes('object') || node.properties.size > 0) return false;
    return this.#profile.alternatives === 'nullable' || node.additional !== false;
  }

  /** Writes the value as a string that is parsed when arguments are converted back. */
  #jsonText(node: SchemaNode, place: Place): Written {
    const kind = node.types.includes('array') ? 'A list' : 'An object';
    this.#changes.add(place.path, `${kind.toLowerCase()} that cannot be spelled out travels as JSON text`);
    const { description = node.title } = node;
    const text: SchemaNode = {
      ...bareNode('string'),
      ...(node.default === undefined ? {} : { default: node.default }),
      description: withNote(description, `${kind} as JSON text.`),
    };
    const { schema } = this.#plain(node.types.includes('null') ? orNull(text) : text, place);
    return { schema, undo: { json: true } };
  }
}

function isNested(node: SchemaNode): boolean {
  return node.properties.size > 0 || node.items !== undefined || typeof node.additional === 'object';
}

function isNull(node: SchemaNode): boolean {
  return node.anyOf === undefined ? node.types.every((type) => type === 'null') : node.anyOf.every(isNull);
}

function allowsNull(node: SchemaNode): boolean {
  return node.types.includes('null') || (node.anyOf ?? []).some(allowsNull);
}

function onlyTypes(node: SchemaNode, types: readonly JsonType[]): SchemaNode {
  const values = node.enum?.filter((value) => matchesTypes(value, types));
  const { title: _title, description: _description, default: _default, examples: _examples, ...shape } = node;
  const { enum: _enum, items, additional, ...rest } = shape;
  const isObject = types.includes('object');
  return {
    ...rest,
    types,
    properties: isObject ? node.properties : new Map(),
    required: isObject ? node.required : new Set(),
    ...(isObject && additional !== undefined ? { additional } : {}),
    ...(types.includes('array') && items ? { items } : {}),
    ...(values === undefined || values.length === 0 ? {} : { enum: values }),
  };
}

function withWords(node: SchemaNode, { description }: JsonSchema): SchemaNode {
  if (typeof description !== 'string') return node;
  const own = node.description;
  return { ...node, description: own === undefined ? description : withNote(description, own) };
}

/** Returns the branches of a written union without other keywords. */
function plainBranches(schema: JsonSchema): UndoBranch[] | undefined {
  const [key, ...others] = Object.keys(schema);
  const union = key === 'anyOf' || key === 'oneOf' ? schema[key] : undefined;
  return others.length === 0 && Array.isArray(union)
    ? union.map((branch: JsonSchema) => ({ schema: branch }))
    : undefined;
}

/** Removes duplicates, and JSON text branches if plain text is also allowed: the two could not be distinguished. */
function withoutRepetition(branches: readonly UndoBranch[]): UndoBranch[] {
  const text = branches.some(
    ({ schema, undo }) => schema['type'] === 'string' && !undo?.json && !schema['enum'],
  );
  const seen = new Set<string>();
  return branches.filter(({ schema, undo }) => {
    if (text && undo?.json) return false;
    const print = JSON.stringify(schema);
    if (seen.has(print)) return false;
    seen.add(print);
    return true;
  });
}

// Names of properties that a provider would reject, such as MongoDB's `$vectorSearch`.

const NONE: ReadonlyMap<string, string> = new Map();

/** Maps original names that are not allowed to new ones, which never collide with other properties. */
function renameProperties(
  names: Iterable<string>,
  rule: Profile['propertyName'],
): ReadonlyMap<string, string> {
  if (rule === undefined) return NONE;
  const given = [...names];
  const foreign = given.filter((name) => !rule.allowed.test(name));
  if (foreign.length === 0) return NONE;
  const taken = new Set(given.filter((name) => rule.allowed.test(name)));
  const renamed = new Map<string, string>();
  for (const name of foreign) {
    const safe = freeName(name, rule, taken);
    taken.add(safe);
    renamed.set(name, safe);
  }
  return renamed;
}

function freeName(
  name: string,
  rule: NonNullable<Profile['propertyName']>,
  taken: ReadonlySet<string>,
): string {
  // `$match` becomes `match`, which is more readable than `_match`.
  const bare = name.slice(0, MAX_PROPERTY_NAME_CHARS * 2).replace(/^[^a-zA-Z0-9_]+/, '');
  const safe = bare.replace(rule.foreign, '_').slice(0, MAX_PROPERTY_NAME_CHARS);
  const head = rule.allowed.test(safe) ? safe : `_${safe}`.slice(0, MAX_PROPERTY_NAME_CHARS);
  if (!taken.has(head)) return head;
  for (let count = 2; ; count++) {
    const suffix = `_${count}`;
    const numbered = head.slice(0, MAX_PROPERTY_NAME_CHARS - suffix.length) + suffix;
    if (!taken.has(numbered)) return numbered;
  }
}
