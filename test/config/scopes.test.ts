/** Holds that `config/scopes.ts` is the only file that decides by scope whose an entry is. */

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { EDITABLE_SCOPES, isForeign, PRECEDENCE, supplierOf } from '../../src/config/scopes.ts';

/** A comparison with a foreign scope, or with two scopes in one expression. */
const COMPARISONS: readonly RegExp[] = [
  /\bscope\s*[!=]==\s*['"](?:project|plugin)['"]/,
  /['"](?:project|plugin)['"]\s*[!=]==\s*[\w.?]*\bscope\b/,
  /\bscope\s*===\s*['"]\w+['"]\s*\|\|\s*[\w.?]*\bscope\s*===\s*['"]/,
  /\bscope\s*!==\s*['"]\w+['"]\s*&&\s*[\w.?]*\bscope\s*!==\s*['"]/,
  /\[[^\]]*['"](?:project|plugin)['"][^\]]*\]\.includes\([\w.?]*\bscope\b/,
];

/** Here `scope` is that of another agent's file, which is read or written, and not that of one of our entries. */
const OTHER_SCOPES: readonly string[] = [
  'cli/commands/export-command.ts',
  'cli/moving-in/',
  'config/import/',
  'config/scopes.ts',
  'setup/survey.ts',
];

function comparesScopes(text: string): boolean {
  return COMPARISONS.some((comparison) => comparison.test(text));
}

it('A10: no other file compares scopes to decide whether an entry is foreign', () => {
  const source = fileURLToPath(new URL('../../src', import.meta.url));
  const files = readdirSync(source, { recursive: true, encoding: 'utf8' })
    .map((file) => file.replaceAll('\\', '/'))
    .filter((file) => file.endsWith('.ts') && !OTHER_SCOPES.some((other) => file.startsWith(other)));
  expect(files.filter((file) => comparesScopes(readFileSync(join(source, file), 'utf8')))).toEqual([]);
});

it.each([
  "if (spec.scope === 'project' || spec.scope === 'plugin') return;",
  "const foreign = scope !== 'plugin';",
  "if ('project' === spec?.scope) return;",
  "const own = scope === 'user' || scope === 'local';",
  "if (scope !== 'user' && scope !== 'managed') return false;",
  "const foreign = ['project', 'plugin'].includes(spec.scope);",
])('finds the comparison in %s', (text) => {
  expect(comparesScopes(text)).toBe(true);
});

it('only entries of projects and plugins are foreign', () => {
  expect(PRECEDENCE.map((scope) => [scope, supplierOf({ scope })])).toEqual([
    ['managed', undefined],
    ['code', undefined],
    ['local', undefined],
    ['project', 'project'],
    ['user', undefined],
    ['plugin', 'plugin'],
  ]);
  expect(PRECEDENCE.filter((scope) => isForeign({ scope }))).toEqual(['project', 'plugin']);
  expect(PRECEDENCE.filter((scope) => EDITABLE_SCOPES.some((each) => each === scope))).toEqual([
    ...EDITABLE_SCOPES,
  ]);
});
