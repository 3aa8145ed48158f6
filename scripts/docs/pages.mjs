/** Which parts of which pages are made from the code, and the JSON Schemas, which are made from it whole. */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { formatJson } from '../../dist/config/json-edit.js';
import { configFileSchema, mcpFileSchema } from '../../dist/config/json-schema.js';
import { root } from '../run.mjs';
import { adapterTables } from './adapter-tables.mjs';
import { errorTable, eventTable } from './comment-tables.mjs';
import { flagTables } from './flag-tables.mjs';
import { keyTables } from './key-tables.mjs';
import { routeTable } from './route-table.mjs';
import { withParts } from './table.mjs';

/** Pages by path, as they should be. Needs a build. */
export async function generatedPages() {
  const commands = readFileSync(join(root, 'docs/commands.md'), 'utf8');
  const told = Object.entries(await flagTables()).filter(([name]) =>
    commands.includes(`generated: ${name} `),
  );
  const parts = {
    'docs/adapters.md': await adapterTables(),
    'docs/commands.md': Object.fromEntries(told),
    'docs/configuration.md': keyTables(),
    'docs/library.md': { events: eventTable() },
    'docs/management-api.md': { routes: routeTable() },
    'docs/servers-in-trouble.md': { errors: errorTable() },
  };
  const schemas = {
    'schemas/config.schema.json': configFileSchema(),
    'schemas/mcp.schema.json': mcpFileSchema(),
  };
  const read = (page) => readFileSync(join(root, page), 'utf8');
  return [
    ...Object.entries(parts).map(([page, own]) => {
      const text = read(page);
      return { page, text, should: withParts(text, own) };
    }),
    ...Object.entries(schemas).map(([page, schema]) => {
      const should = `${formatJson(schema, { unit: '  ', eol: '\n' })}\n`;
      return { page, text: read(page), should };
    }),
  ];
}
