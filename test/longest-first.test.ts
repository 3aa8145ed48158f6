import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { LONGEST } from './longest-first.ts';

it('names files that exist', () => {
  const missing = LONGEST.filter(
    (name) => !existsSync(fileURLToPath(new URL(`${name}.test.ts`, import.meta.url))),
  );
  expect(missing).toEqual([]);
});
