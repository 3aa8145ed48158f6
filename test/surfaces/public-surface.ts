/** Everything of the built package that programs and people rely on by its name. */

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { declaredNames } from './declared-members.ts';

/** Reads the surface of the package whose root is given; it must be built. One line for each name: `kind: name`. */
export async function publicSurface(root: string): Promise<readonly string[]> {
  const load = (file: string): Promise<Record<string, unknown>> =>
    import(pathToFileURL(join(root, file)).href);
  const json = (file: string): unknown => JSON.parse(readFileSync(join(root, file), 'utf8'));
  const { exports } = json('package.json') as { exports: Record<string, string | EntryPoint> };
  const surface: Record<string, string[]> = { 'entry points': Object.keys(exports) };
  for (const [entry, target] of Object.entries(exports)) {
    if (typeof target === 'string') continue;
    const values = Object.entries(await load(target.default));
    surface[`values of ${entry}`] = values.map(([name, value]) => `${name}: ${typeof value}`);
    surface[`types of ${entry}`] = declaredNames(join(root, target.types));
  }
  const { EXIT_STATUS } = await load('dist/errors.js');
  surface['error codes and exit statuses'] = Object.entries(EXIT_STATUS as object).map(
    ([code, n]) => `${code} ${n}`,
  );
  const { EVENT_NAMES } = await load('dist/manage/event-log.js');
  surface['events of /api/events'] = [...(EVENT_NAMES as string[])];
  surface['commands and flags'] = commandNames(json('dist/bin/command-words.json') as CommandWords);
  surface['management API'] = await routeNames(load);
  for (const file of readdirSync(join(root, 'schemas'))) {
    surface[`keys of ${file}`] = schemaKeys(json(`schemas/${file}`));
  }
  surface['environment variables'] = variables(join(root, 'dist'));
  return Object.entries(surface).flatMap(([kind, names]) =>
    [...new Set(names)].sort().map((name) => `${kind}: ${name}`),
  );
}

interface EntryPoint {
  readonly types: string;
  readonly default: string;
}

interface CommandWords {
  readonly commands: readonly {
    readonly name: string;
    readonly flags: readonly { readonly names: readonly string[] }[];
  }[];
}

function commandNames({ commands }: CommandWords): string[] {
  return commands.flatMap(({ name, flags }) => [
    name,
    ...flags.flatMap(({ names }) => names.map((flag) => `${name} ${flag}`)),
  ]);
}

/** Methods with their paths, and the keys of every body. */
async function routeNames(load: (file: string) => Promise<Record<string, unknown>>): Promise<string[]> {
  const { openApi } = await load('dist/manage/api.js');
  const { allRoutes } = await load('dist/manage/all-routes.js');
  const routes = (allRoutes as (parts: object) => readonly unknown[])({});
  const { paths, components } = (openApi as (routes: readonly unknown[]) => object)(routes) as {
    paths: Record<string, object>;
    components: { schemas: Record<string, unknown> };
  };
  const methods = Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item).flatMap(([method, operation]) => [
      `${method.toUpperCase()} ${path}`,
      ...schemaKeys(operation).map((key) => `${method.toUpperCase()} ${path} ${key}`),
    ]),
  );
  const bodies = Object.entries(components.schemas).flatMap(([name, schema]) =>
    schemaKeys(schema).map((key) => `${name}.${key}`),
  );
  return [...methods, ...bodies];
}

/** Paths of properties, wherever the schema has them: `mcpServers.*.command`. */
function schemaKeys(schema: unknown, path = ''): string[] {
  if (Array.isArray(schema)) return schema.flatMap((part: unknown) => schemaKeys(part, path));
  if (typeof schema !== 'object' || schema === null) return [];
  return Object.entries(schema).flatMap(([word, value]) => {
    if (word === 'additionalProperties' || word === 'items') return schemaKeys(value, `${path}*.`);
    if (!['properties', '$defs', 'definitions'].includes(word)) return schemaKeys(value, path);
    const start = word === 'properties' ? path : `#${word}.`;
    return Object.entries(value as object).flatMap(([key, inner]) => [
      `${start}${key}`,
      ...schemaKeys(inner, `${start}${key}.`),
    ]);
  });
}

/** Names of variables that the package reads; one that begins with `PLUGBOARD_` is ours. */
function variables(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.js') && !file.startsWith('bin'))
    .flatMap((file) => [
      ...readFileSync(join(folder, file), 'utf8').matchAll(/['"{\s.](PLUGBOARD_[A-Z_]*[A-Z])\b/g),
    ])
    .map(([, name = '']) => name);
}
