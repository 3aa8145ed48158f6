/** Turns a JSON Schema into a tree of fields; parts without a suitable field are edited as JSON. */

import { cut, plain } from '../text.ts';
import {
  type Choice,
  choicesOf,
  fits,
  isObject,
  limitsOf,
  nameOf,
  numberIn,
  propertiesOf,
  resolve,
  type Schema,
  text,
  typeOf,
} from './json-schema.ts';

const MAX_DEPTH = 6;
/** A list with more choices than this has a select for each item instead of checkboxes. */
const MAX_BOXES = 20;
const MAX_FIELDS = 200;
const MAX_VARIANTS = 50;
const MAX_LABEL_CHARS = 200;
const LONG_NAMES =
  /^(text|content|contents|body|code|prompt|message|query|script|sql|html|markdown|description|input)$/i;

/** Kinds of text with a control of the browser. */
const FORMATS: Readonly<Record<string, TextControl>> = {
  date: 'date',
  time: 'time',
  'date-time': 'datetime-local',
  email: 'email',
  uri: 'url',
  url: 'url',
};

export type TextControl = 'text' | 'area' | 'date' | 'time' | 'datetime-local' | 'email' | 'url';

interface Common {
  readonly label: string;
  /** False if the label is the legend of a list: then the field is labelled for screen readers only. */
  readonly hasLabel: boolean;
  readonly required: boolean;
  readonly note: string | undefined;
  readonly limits: string;
  readonly schema: Schema;
}

export interface TextField extends Common {
  readonly kind: 'text';
  readonly control: TextControl;
  readonly placeholder: string;
  readonly minLength: number;
  readonly maxLength: number;
}

export interface NumberField extends Common {
  readonly kind: 'number';
  readonly isInteger: boolean;
  readonly minimum: number;
  readonly maximum: number;
}

export interface FlagField extends Common {
  readonly kind: 'flag';
}

export interface ChoiceField extends Common {
  readonly kind: 'choice';
  readonly choices: readonly Choice[];
}

export interface FixedField extends Common {
  readonly kind: 'fixed';
  readonly value: unknown;
}

export interface BoxesField extends Common {
  readonly kind: 'boxes';
  readonly choices: readonly Choice[];
}

export interface JsonField extends Common {
  readonly kind: 'json';
  readonly rows: number;
}

export interface ObjectField extends Common {
  readonly kind: 'object';
  readonly isTop: boolean;
  readonly members: readonly { readonly name: string; readonly field: Field }[];
}

export interface ListField extends Common {
  readonly kind: 'list';
  readonly item: () => Field;
}

export interface VariantField extends Common {
  readonly kind: 'variant';
  readonly variants: readonly {
    readonly label: string;
    readonly field: () => Field;
    fits(value: unknown): boolean;
  }[];
}

export type Field =
  | TextField
  | NumberField
  | FlagField
  | ChoiceField
  | FixedField
  | BoxesField
  | JsonField
  | ObjectField
  | ListField
  | VariantField;

interface Where {
  readonly root: Schema;
  readonly depth: number;
  /** Fields that may still be created for this schema. */
  readonly budget: { left: number };
}

interface Options {
  readonly name?: string;
  readonly label?: string;
  readonly required: boolean;
  readonly isTop?: boolean;
}

/** Creates the fields of a schema; falls back to JSON if a form cannot be built. */
export function fieldsOf(schema: unknown): Field {
  const root = isObject(schema) ? schema : {};
  try {
    return fieldFor(root, { root, depth: 0, budget: { left: MAX_FIELDS } }, { required: true, isTop: true });
  } catch {
    return wholeJsonField();
  }
}

/** The field that edits all values as JSON. */
export function wholeJsonField(): JsonField {
  return { ...common({}, { required: true, label: 'All values as JSON' }), kind: 'json', rows: 10 };
}

function fieldFor(unresolved: unknown, where: Where, options: Options): Field {
  const schema = resolve(unresolved, where.root);
  where.budget.left -= 1;
  if (where.depth > MAX_DEPTH || where.budget.left < 0) return jsonField(schema, options);
  if (schema['const'] !== undefined)
    return { ...common(schema, options), kind: 'fixed', value: schema['const'] };
  const choices = choicesOf(schema);
  if (choices !== undefined) return { ...common(schema, options), kind: 'choice', choices };
  const variants = variantsOf(schema, where);
  if (variants.length > 1) return variantField(schema, variants, where, options);
  if (variants.length === 1)
    return fieldFor(
      { ...schema, oneOf: undefined, anyOf: undefined, ...resolve(variants[0], where.root) },
      where,
      options,
    );
  switch (typeOf(schema)) {
    case 'boolean':
      return { ...common(schema, options), kind: 'flag' };
    case 'integer':
    case 'number':
      return {
        ...common(schema, options),
        kind: 'number',
        isInteger: typeOf(schema) === 'integer',
        minimum: numberIn(schema['minimum']) ?? Number.NEGATIVE_INFINITY,
        maximum: numberIn(schema['maximum']) ?? Number.POSITIVE_INFINITY,
      };
    case 'string':
      return textField(schema, options);
    case 'object':
      return objectField(schema, where, options);
    case 'array':
      return listField(schema, where, options);
    default:
      return jsonField(schema, options);
  }
}

function common(schema: Schema, { name, label, required }: Options): Common {
  const { title, description } = schema;
  return {
    label: labelOf(text(title) ?? name ?? label ?? 'Value'),
    hasLabel: name !== undefined,
    required,
    note: description === undefined ? undefined : plain(description),
    limits: name === undefined ? '' : limitsOf(schema),
    schema,
  };
}

function labelOf(label: string): string {
  return cut(plain(label), MAX_LABEL_CHARS);
}

function textField(schema: Schema, options: Options): TextField {
  const { format, examples, contentMediaType } = schema;
  const isLong =
    LONG_NAMES.test(options.name ?? '') ||
    contentMediaType !== undefined ||
    (numberIn(schema['maxLength']) ?? 0) > 200;
  const byFormat = typeof format === 'string' && Object.hasOwn(FORMATS, format) ? FORMATS[format] : undefined;
  const [example] = Array.isArray(examples) ? examples : [];
  return {
    ...common(schema, options),
    kind: 'text',
    control: byFormat ?? (isLong ? 'area' : 'text'),
    placeholder: example === undefined ? (format === 'duration' ? 'P1DT2H' : '') : labelOf(plain(example)),
    minLength: numberIn(schema['minLength']) ?? 0,
    maxLength: numberIn(schema['maxLength']) ?? Number.POSITIVE_INFINITY,
  };
}

function jsonField(schema: Schema, options: Options): JsonField {
  return { ...common(schema, options), kind: 'json', rows: 3 };
}

function objectField(schema: Schema, where: Where, options: Options): Field {
  const inner = { ...where, depth: where.depth + 1 };
  const properties = propertiesOf(schema);
  const required = new Set(Array.isArray(schema['required']) ? schema['required'] : []);
  const names = Object.keys(properties);
  const isTop = options.isTop === true;
  if ((names.length === 0 && !isTop) || names.length > MAX_FIELDS) return jsonField(schema, options);
  // Required fields come first; otherwise the author's order is kept.
  const ordered = [
    ...names.filter((name) => required.has(name)),
    ...names.filter((name) => !required.has(name)),
  ];
  const members = ordered.map((name) => ({
    name,
    field: fieldFor(properties[name], inner, { name, required: required.has(name) }),
  }));
  return {
    ...common(schema, { ...options, label: options.label ?? 'object' }),
    kind: 'object',
    isTop,
    members,
  };
}

function listField(schema: Schema, where: Where, options: Options): Field {
  const { items, prefixItems } = schema;
  if (Array.isArray(prefixItems) || Array.isArray(items)) return jsonField(schema, options);
  const choices = choicesOf(resolve(items ?? {}, where.root)) ?? [];
  if (choices.length > 0 && choices.length <= MAX_BOXES)
    return { ...common(schema, options), kind: 'boxes', choices };
  const inner = { ...where, depth: where.depth + 1 };
  const shared = common(schema, { ...options, label: options.label ?? 'the list' });
  const label = `Item of ${shared.label}`;
  return { ...shared, kind: 'list', item: () => fieldFor(items ?? {}, inner, { required: true, label }) };
}

function variantsOf({ oneOf, anyOf }: Schema, where: Where): readonly unknown[] {
  const alternatives = oneOf ?? anyOf;
  if (!Array.isArray(alternatives)) return [];
  return alternatives.slice(0, MAX_VARIANTS).filter((each) => resolve(each, where.root)['type'] !== 'null');
}

function variantField(schema: Schema, variants: readonly unknown[], where: Where, options: Options): Field {
  const inner = { ...where, depth: where.depth + 1 };
  const { oneOf: _one, anyOf: _any, description: _description, title, default: _default, ...base } = schema;
  return {
    ...common(schema, { ...options, label: options.label ?? 'one of' }),
    kind: 'variant',
    variants: variants.map((variant, at) => {
      const resolved = resolve(variant, where.root);
      const label = text(title) ?? options.name;
      return {
        label: labelOf(nameOf(resolved, at)),
        field: () =>
          fieldFor({ ...base, ...resolved }, inner, {
            required: true,
            ...(label === undefined ? {} : { label }),
          }),
        fits: (value) => fits(resolved, value),
      };
    }),
  };
}
