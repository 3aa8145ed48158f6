import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const path = (name: string): string => fileURLToPath(new URL(`../../../${name}`, import.meta.url));

it.each(['bench/search.mjs', 'tools/search/train.mjs'])('%s imports files that exist', (program) => {
  const [, list = ''] = /importSearch\(([^)]+)\)/.exec(readFileSync(path(program), 'utf8')) ?? [];
  const files = [...list.matchAll(/'([^']+)'/g)].map(([, file]) => `src/catalog/search/${file}`);
  expect(files.length).toBeGreaterThan(3);
  expect(files.filter((file) => !existsSync(path(file)))).toEqual([]);
});
