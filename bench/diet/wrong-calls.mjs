/** Makes valid arguments from a schema, calls that are wrong in one place, and their repair from the part that failed. */

const MAX_DEPTH = 6;

/** A value that a schema accepts, as far as its keywords are simple. */
export function sample(written, root, depth = 0) {
  const schema = resolved(written, root);
  if (depth > MAX_DEPTH) return {};
  if ('const' in schema) return schema.const;
  if (Array.isArray(schema.enum)) return schema.enum[0];
  const branches = schema.anyOf ?? schema.oneOf;
  if (Array.isArray(branches) && schema.properties === undefined) return sample(branches[0], root, depth + 1);
  const [type] = [schema.type ?? (schema.properties === undefined ? 'string' : 'object')].flat();
  switch (type) {
    case 'object':
      return Object.fromEntries(
        (schema.required ?? []).map((name) => [
          name,
          sample(schema.properties?.[name] ?? {}, root, depth + 1),
        ]),
      );
    case 'array':
      return Array.from({ length: schema.minItems ?? 0 }, () => sample(schema.items ?? {}, root, depth + 1));
    case 'integer':
    case 'number':
      return (
        schema.minimum ??
        (schema.exclusiveMinimum === undefined ? (schema.maximum ?? 1) : schema.exclusiveMinimum + 1)
      );
    case 'boolean':
      return true;
    case 'null':
      return null;
    default:
      return 'text'.repeat(40).slice(0, Math.min(schema.maxLength ?? 8, Math.max(schema.minLength ?? 4, 4)));
  }
}

function resolved(schema, root) {
  let at = schema;
  for (let left = 8; left > 0 && typeof at?.$ref === 'string'; left--) {
    const { $ref, ...rest } = at;
    const target = $ref
      .split('/')
      .slice(1)
      .reduce((value, key) => value?.[decodeURIComponent(key)], root);
    at = { ...target, ...rest };
  }
  return typeof at === 'object' && at !== null ? at : {};
}

/** `{ kind, path, args }`: `path` is the argument that the error has to name. */
export function wrongCalls(schema, valid) {
  const calls = [];
  const without = (name) => Object.fromEntries(Object.entries(valid).filter(([key]) => key !== name));
  for (const name of Object.keys(valid)) {
    const own = resolved(schema.properties?.[name] ?? {}, schema);
    if (!('default' in own)) calls.push({ kind: 'missing', path: name, args: without(name) });
    calls.push({
      kind: 'type',
      path: name,
      args: { ...valid, [name]: typeof valid[name] === 'object' ? 'x' : { x: 1 } },
    });
  }
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    const own = resolved(property, schema);
    if (Array.isArray(own.enum))
      calls.push({ kind: 'enum', path: name, args: { ...valid, [name]: 'no such value' } });
    if (typeof own.maximum === 'number')
      calls.push({ kind: 'range', path: name, args: { ...valid, [name]: own.maximum + 1 } });
  }
  if (schema.additionalProperties === false)
    calls.push({ kind: 'unknown', path: '(arguments)', args: { ...valid, no_such_argument: 1 } });
  return calls;
}

/** Repairs arguments with nothing but the parts of an error: a schema becomes a value, a signature removes unknown names. */
export function repaired(args, parts) {
  const fixed = { ...args };
  for (const [name, part] of Object.entries(parts)) {
    if (name !== '(arguments)') {
      fixed[name] = sample(part, part);
      continue;
    }
    const known = new Set(
      [...String(part).matchAll(/(?:^\(|, )'?([^':?(){}]+)'?\??:/g)].map(([, each]) => each),
    );
    for (const key of Object.keys(fixed)) if (!known.has(key)) delete fixed[key];
  }
  return fixed;
}
