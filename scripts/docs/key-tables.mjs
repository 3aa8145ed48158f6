/** The tables of keys in docs/configuration.md, from the table of keys that the parser and the JSON Schemas are made of. */

import { ENTRY_KEYS, REMOTE_KEYS, SETTINGS_KEYS, STDIO_KEYS } from '../../dist/config/config-keys.js';
import { DEFAULT_LIMITS } from '../../dist/config/limits.js';
import { table } from './table.mjs';

/** Every table by the name of its place. */
export function keyTables() {
  const shared = new Map([...ENTRY_KEYS].filter(([key]) => !STDIO_KEYS.has(key) && !REMOTE_KEYS.has(key)));
  const keys = { stdio: STDIO_KEYS, remote: REMOTE_KEYS, shared, settings: SETTINGS_KEYS };
  return Object.fromEntries(
    Object.entries(keys).map(([name, kinds]) => [
      `keys, ${name}`,
      table([
        ['key', 'takes', 'default', 'meaning'],
        ...[...kinds].flatMap(([key, { kind, description, default: byDefault }]) => [
          row(key, kind.expected, byDefault, description),
          ...nested(key, kind.schema),
        ]),
      ]),
    ]),
  );
}

/** Keys inside an object, as `oauth.clientId`. */
function nested(parent, schema) {
  const object = [schema, ...(schema.anyOf ?? [])].find(({ properties }) => properties !== undefined);
  const byName = schema.additionalProperties;
  if (object !== undefined)
    return rows(parent, object.properties, parent === 'defaults' ? DEFAULT_LIMITS : {});
  return byName?.properties === undefined ? [] : rows(`${parent}.<name>`, byName.properties, {});
}

function rows(parent, properties, defaults) {
  return Object.entries(properties).map(([key, schema]) =>
    row(`${parent}.${key}`, takes(schema), defaults[key], schema.description),
  );
}

/** A schema in words. */
function takes({ enum: values, type, minimum, maximum, items }) {
  if (values !== undefined) return values.map((value) => JSON.stringify(value)).join(', ');
  if (type === 'integer') return `a whole number from ${minimum} to ${maximum}`;
  if (type === 'array') return `a list of ${items.type}s`;
  return type === undefined ? 'any value' : `a ${type}`;
}

function row(key, expected, byDefault, description) {
  return [`\`${key}\``, expected, byDefault === undefined ? '' : String(byDefault), description];
}
