/** The pages document what the specification requires. */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { Dialect } from '../../src/catalog/schemas/schema-dialect.ts';
import type { Channel } from '../../src/kit/transports.ts';
import { ROOT } from '../docs/snippets.ts';

/** Every member of a channel, which the compiler compares with the type. */
const MEMBERS: Readonly<Record<keyof Channel, true>> = { open: true, send: true, close: true };

/** Every dialect that values are checked by, which the compiler compares with the type. */
const DIALECTS: Readonly<Record<Dialect, true>> = { '2020-12': true, '2019-09': true, 'draft-07': true };

function page(name: string): string {
  return readFileSync(join(ROOT, 'docs', name), 'utf8');
}

// Protocol: 25-transports-53, 26-transports-4
it('the page about the kit documents what a transport of one’s own has to do', () => {
  const [, serving = ''] = page('kit.md').split('\n## Serving\n');
  expect(Object.keys(MEMBERS).filter((member) => !serving.includes(`\`${member}(`))).toEqual([]);
});

// Protocol: 25-base-16, 25-base-21, 26-base-33, 26-base-38
it('the page about schemas names the dialects that are supported', () => {
  const [, dialects = ''] = page('schemas.md').split('\n## Dialects\n');
  expect(Object.keys(DIALECTS).filter((dialect) => !dialects.includes(dialect))).toEqual([]);
});
