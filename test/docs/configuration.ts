/** Configuration as pages show it: by the schema that editors use, and by our own parser. */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv } from 'ajv';
import { parse } from 'jsonc-parser';
import { parseServers, parseSettings } from '../../src/config/parse.ts';
import { ROOT } from './snippets.ts';

const IN_A_PROJECT: readonly string[] = ['$schema', 'mcpServers', 'inputs'];

/** What is wrong with it; a block is a project's file, a person's file, or one entry. */
export function problemsOf(text: string): string[] {
  const value: Readonly<Record<string, unknown>> = parse(text);
  const isEntry = 'command' in value || 'url' in value;
  const whole = isEntry ? { mcpServers: { entry: value } } : value;
  const isProject = Object.keys(whole).every((key) => IN_A_PROJECT.includes(key));
  const schema = join(ROOT, 'schemas', isProject ? 'mcp.schema.json' : 'config.schema.json');
  const ajv = new Ajv({ strict: false, allErrors: true });
  ajv.validate(JSON.parse(readFileSync(schema, 'utf8')), whole);
  const source = { baseDir: ROOT, scope: isProject ? 'project' : 'user' } as const;
  return [
    ...(ajv.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`),
    ...parseServers(whole['mcpServers'], source).faults.map(({ message }) => message),
    ...(isProject ? [] : parseSettings(whole).faults.map(({ message }) => message)),
  ];
}
