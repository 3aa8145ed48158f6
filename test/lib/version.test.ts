import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { readVersion } from '../../src/lib/version.ts';

it('the version in the code is that of the manifest', () => {
  const manifest = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
  expect(readVersion()).toBe(manifest.version);
});
