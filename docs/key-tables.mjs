/**
 * The tables of keys in configuration.md, made from the code: `node docs/key-tables.mjs` writes them anew after a
 * build; test/docs.test.ts holds that they are current.
 */

import { readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath, pathToFileURL } from 'node:url';

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
  cwd: 'the project root',
  oauth: 'tried when asked for',
  toolSearch: '"auto"',
  searchLearning: 'true',
  naming: '"mcp__"',
  client: '"plugboard" and its version',
  telemetry: 'false',
};

/**
 * Every table by its name.
 *
 * @param source.keys tables of keys by the name of the table to make: `Map` of key to `{ kind, description }`
 * @param source.limits defaults of the limits by key
 */
export function keyTables({ keys, limits }) {
  const defaults = { ...DEFAULTS, ...limits };
  return Object.fromEntries(
    Object.entries(keys).map(([name, table]) => [
      name,
      layOut([
        ['key', 'takes', 'default', 'meaning'],
        ...[...table].flatMap(([key, { kind, description }]) => [
          row(key, kind.expected, defaults[key], description),
          ...nested(key, kind.schema, limits),
        ]),
      ]),
    ]),
  );
}

/** As the formatter wants it: cells of one column have one width. */
export function layOut(table) {
  const [head] = table;
  const widths = head.map((_cell, column) => Math.max(...table.map((cells) => cells[column].length)));
  const line = (cells) => `| ${cells.map((cell, column) => cell.padEnd(widths[column])).join(' | ')} |`;
  const [first, ...rest] = table.map(line);
  return [first, line(widths.map((width) => '-'.repeat(width))), ...rest].join('\n');
}

/** The text with each table put between its two marks. */
export function withTables(text, tables) {
  return Object.entries(tables).reduce((whole, [name, table]) => {
    const place = new RegExp(`(<!-- keys:${name} -->)[^]*?(<!-- /keys -->)`);
    if (!place.test(whole)) throw new Error(`There is no place for the table ${name}.`);
    return whole.replace(place, (_all, begin, end) => `${begin}\n\n${table}\n\n${end}`);
  }, text);
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
  const cells = [`\`${key}\``, expected, byDefault === undefined ? '' : String(byDefault), description];
  return cells.map((cell) => cell.replaceAll('|', '\\|'));
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const [{ STDIO_KEYS, REMOTE_KEYS, ENTRY_KEYS, SETTINGS_KEYS }, { limitsFor }] = await Promise.all([
    import('../dist/config/keys.js'),
    import('../dist/config/limits.js'),
  ]);
  const shared = new Map([...ENTRY_KEYS].filter(([key]) => !STDIO_KEYS.has(key) && !REMOTE_KEYS.has(key)));
  const keys = { stdio: STDIO_KEYS, remote: REMOTE_KEYS, shared, settings: SETTINGS_KEYS };
  const page = fileURLToPath(new URL('./configuration.md', import.meta.url));
  const tables = keyTables({ keys, limits: limitsFor({ command: 'any' }, {}) });
  await writeFile(page, withTables(await readFile(page, 'utf8'), tables));
}
