/** Reads types, choices, limits and names from a JSON Schema, for forms. */

/** Follows `$ref` within the document; returns `{}` if it is external, missing or circular. */
export function resolve(schema, { root }) {
  let found = schema;
  for (let hops = 0; hops < 20; hops += 1) {
    if (typeof found !== 'object' || found === null) return {};
    if (typeof found.$ref !== 'string') return found;
    if (!found.$ref.startsWith('#')) return {};
    const { $ref, ...siblings } = found;
    const target = $ref
      .slice(1)
      .split('/')
      .filter((part) => part !== '')
      .reduce((at, part) => ownProperty(at, decoded(part).replaceAll('~1', '/').replaceAll('~0', '~')), root);
    found = typeof target === 'object' && target !== null ? { ...target, ...siblings } : {};
  }
  return {};
}

/** Reads an own property; undefined for inherited ones. */
function ownProperty(value, name) {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, name) ? value[name] : undefined;
}

/** Decodes percent encoding; returns the part unchanged if it is invalid. */
function decoded(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

export function typeOf(schema) {
  const { type } = schema;
  if (Array.isArray(type)) {
    const others = type.filter((each) => each !== 'null');
    return others.length === 1 ? text(others[0]) : undefined;
  }
  if (typeof type === 'string') return type;
  if (isObject(schema.properties)) return 'object';
  return schema.items === undefined ? undefined : 'array';
}

export function choicesOf({ enum: values, enumNames, oneOf, anyOf, const: constant }) {
  // A longer list is not rendered as a select.
  if (Array.isArray(values) && values.length > MAX_CHOICES) return undefined;
  if (Array.isArray(values))
    return values.map((value, at) => ({ value, label: text(enumNames?.[at]) ?? shown(value) }));
  if (constant !== undefined) return [{ value: constant, label: shown(constant) }];
  const alternatives = oneOf ?? anyOf;
  const isList =
    Array.isArray(alternatives) &&
    alternatives.length > 0 &&
    alternatives.length <= MAX_CHOICES &&
    alternatives.every((each) => each !== null && typeof each === 'object' && 'const' in each);
  return isList
    ? alternatives.map((each) => ({ value: each.const, label: text(each.title) ?? shown(each.const) }))
    : undefined;
}

const MAX_CHOICES = 1_000;

export const isObject = (value) => typeof value === 'object' && value !== null && !Array.isArray(value);

const shown = (value) => (typeof value === 'string' ? value : JSON.stringify(value));

/** Returns a string as it is, and undefined for a value of another type. */
const text = (value) => (typeof value === 'string' ? value : undefined);

export function limitsOf({ type, format, minimum, maximum, minLength, maxLength }) {
  const range = (least, most, unit) => {
    const [low, high] = [least, most].map((each) => (typeof each === 'number' ? each : undefined));
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

export function nameOf(schema, at) {
  const kind = Object.values(isObject(schema.properties) ? schema.properties : {}).find(
    (each) => each?.const !== undefined,
  )?.const;
  return text(schema.title) ?? (kind === undefined ? typeOf(schema) : shown(kind)) ?? `variant ${at + 1}`;
}

export function fits(schema, value) {
  const type = typeOf(schema);
  if (type === 'array') return Array.isArray(value);
  if (type === 'integer') return Number.isInteger(value);
  if (type === 'object') {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
    return Object.entries(isObject(schema.properties) ? schema.properties : {}).every(
      ([name, each]) => each?.const === undefined || each.const === value[name],
    );
  }
  return type === undefined || typeof value === type;
}
