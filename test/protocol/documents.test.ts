/** What the specification wants to be documented is in the pages. */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { Channel } from '../../src/kit/transports.ts';
import { ROOT } from '../docs/snippets.ts';

/** Every member of a channel, which the compiler compares with the type. */
const MEMBERS: Readonly<Record<keyof Channel, true>> = { open: true, send: true, close: true };

function page(name: string): string {
  return readFileSync(join(ROOT, 'docs', name), 'utf8');
}

// Protocol: 25-transports-53, 26-transports-4
it('the page about the kit documents what a transport of one’s own has to do', () => {
  const [, serving = ''] = page('kit.md').split('\n## Serving\n');
  expect(Object.keys(MEMBERS).filter((member) => !serving.includes(`\`${member}(`))).toEqual([]);
});
