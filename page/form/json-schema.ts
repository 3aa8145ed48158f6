/** Reads types, choices, limits and names from a JSON Schema, for forms. */

export type Schema = Readonly<Record<string, unknown>>;

export interface Choice {
  readonly value: unknown;
  readonly label: string;
}

const MAX_CHOICES = 1_000;
const MAX_REF_HOPS = 20;

/** Follows `$ref` within the document; returns `{}` if it is external, missing or circular. */
export function resolve(schema: unknown, root: Schema): Schema {
  let found = schema;
  for (let hops = 0; hops < MAX_REF_HOPS; hops += 1) {
    if (!isObject(found)) return {};
    const { $ref, ...siblings } = found;
    if (typeof $ref !== 'string') return found;
    if (!$ref.startsWith('#')) return {};
    const target = $ref
      .slice(1)
      .split('/')
      .filter((part) => part !== '')
      .reduce<unknown>((at, part) => ownProperty(at, unescaped(part)), root);
    found = isObject(target) ? { ...target, ...siblings } : {};
  }
  return {};
}

/** Reads an own property; undefined for inherited ones. */
function ownProperty(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? (value as Schema)[name]
    : undefined;
}

/** Decodes a part of a JSON pointer; invalid percent encoding is left as it is. */
function unescaped(part: string): string {
  let text = part;
  try {
    text = decodeURIComponent(part);
  } catch {
    // Left as it is.
  }
  return text.replaceAll('~1', '/').replaceAll('~0', '~');
}

export function typeOf(schema: Schema): string | undefined {
  const { type } = schema;
  if (Array.isArray(type)) {
    const others = type.filter((each) => each !== 'null');
    return others.length === 1 ? text(others[0]) : undefined;
  }
  if (typeof type === 'string') return type;
  if (isObject(schema['properties'])) return 'object';
  return schema['items'] === undefined ? undefined : 'array';
}

/** Returns the values that a schema allows; undefined if it is not a list, or one too long for a form. */
export function choicesOf({ enum: values, enumNames, oneOf, anyOf }: Schema): readonly Choice[] | undefined {
  if (Array.isArray(values)) {
    if (values.length > MAX_CHOICES) return undefined;
    const names = Array.isArray(enumNames) ? enumNames : [];
    return values.map((value, at) => ({ value, label: text(names[at]) ?? shown(value) }));
  }
  const alternatives = oneOf ?? anyOf;
  const isList =
    Array.isArray(alternatives) &&
    alternatives.length > 0 &&
    alternatives.length <= MAX_CHOICES &&
    alternatives.every((each) => isObject(each) && Object.hasOwn(each, 'const'));
  return isList
    ? alternatives.map((each) => ({ value: each.const, label: text(each.title) ?? shown(each.const) }))
    : undefined;
}

export function isObject(value: unknown): value is Schema {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function shown(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
}

/** Returns a string as it is, and undefined for a value of another type. */
export function text(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

export function numberIn(value: unknown): number | undefined {
  return typeof value === 'number' ? value : undefined;
}

export function limitsOf({ type, format, minimum, maximum, minLength, maxLength }: Schema): string {
  const range = (least: unknown, most: unknown, unit: string): string => {
    const [low, high] = [numberIn(least), numberIn(most)];
    if (low !== undefined && high !== undefined) return `${low}–${high}${unit}`;
    if (low !== undefined) return `≥ ${low}${unit}`;
    return high === undefined ? '' : `≤ ${high}${unit}`;
  };
  return [
    [type].flat().filter(text).join(' | '),
    text(format) ?? '',
    range(minimum, maximum, ''),
    range(minLength, maxLength, ' chars'),
  ]
    .filter((part) => part !== '')
    .join(' · ');
}

/** Names an alternative by its title, its constant or its type. */
export function nameOf(schema: Schema, at: number): string {
  const constant = Object.values(propertiesOf(schema)).find(
    (each) => isObject(each) && each['const'] !== undefined,
  );
  const kind = isObject(constant) ? shown(constant['const']) : typeOf(schema);
  return text(schema['title']) ?? kind ?? `variant ${at + 1}`;
}

export function propertiesOf(schema: Schema): Schema {
  return isObject(schema['properties']) ? schema['properties'] : {};
}

/** True if a value has the type, and the constants, of a schema. */
export function fits(schema: Schema, value: unknown): boolean {
  const type = typeOf(schema);
  if (type === 'array') return Array.isArray(value);
  if (type === 'integer') return Number.isInteger(value);
  if (type === 'object') {
    if (!isObject(value)) return false;
    return Object.entries(propertiesOf(schema)).every(
      ([name, each]) => !isObject(each) || each['const'] === undefined || each['const'] === value[name],
    );
  }
  return type === undefined || typeof value === type;
}
