/** The tables of keys in docs/configuration.md, from the table of keys that the parser and the JSON Schemas are made of. */

import { ENTRY_KEYS, REMOTE_KEYS, SETTINGS_KEYS, STDIO_KEYS } from '../../dist/config/config-keys.js';
import { limitsFor } from '../../dist/config/limits.js';
import { table } from './table.mjs';

/** What counts when a key is left out and nothing else says so; limits come from the code. */
const DEFAULTS = {
  type: 'from `command` or `url`',
  enabled: 'true',
  required: 'false',
  approval: '"auto"',
  trusted: 'false',
  alwaysLoad: 'false',
  lifecycle: '"lazy"',
  shared: 'true; false for browsers and debuggers',
  daemon: 'only `serve` uses one',
  sandbox: 'none',
  pins: '"hold"; "warn" for your own local servers',
  inheritEnv: 'false',
  cwd: 'a private folder',
  oauth: 'tried when asked for',
  toolSearch: '"auto"',
  searchLearning: 'true',
  firstListWaitMs: '1500',
  daemonIdleMs: '300000',
  naming: '"mcp__"; `server__tool` through the gateway',
  client: '"plugboard" and its version',
  telemetry: 'false',
};

/** Every table by the name of its place. */
export function keyTables() {
  const limits = limitsFor({ command: 'any' }, {});
  const shared = new Map([...ENTRY_KEYS].filter(([key]) => !STDIO_KEYS.has(key) && !REMOTE_KEYS.has(key)));
  const keys = { stdio: STDIO_KEYS, remote: REMOTE_KEYS, shared, settings: SETTINGS_KEYS };
  const defaults = { ...DEFAULTS, ...limits };
  return Object.fromEntries(
    Object.entries(keys).map(([name, kinds]) => [
      `keys, ${name}`,
      table([
        ['key', 'takes', 'default', 'meaning'],
        ...[...kinds].flatMap(([key, { kind, description }]) => [
          row(key, kind.expected, defaults[key], description),
          ...nested(key, kind.schema, limits),
        ]),
      ]),
    ]),
  );
}

/** Keys inside an object, as `oauth.clientId`. */
function nested(parent, schema, limits) {
  const object = [schema, ...(schema.anyOf ?? [])].find(({ properties }) => properties !== undefined);
  const byName = schema.additionalProperties;
  if (object !== undefined) return rows(parent, object.properties, parent === 'defaults' ? limits : {});
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
