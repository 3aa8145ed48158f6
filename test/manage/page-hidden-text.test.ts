/** The page has the same definition of hidden text as everything else: its file is made of the source. */

import { readFileSync } from 'node:fs';
import { transformSync } from 'esbuild';
import { expect, it } from 'vitest';

const HEAD = `/** Made of src/policy/hidden-text.ts, which explains it: npx vitest run test/manage/page-hidden-text.test.ts --update */\n\n`;

it('A40: the page cleans by the one definition', async () => {
  const source = readFileSync(new URL('../../src/policy/hidden-text.ts', import.meta.url), 'utf8');
  const { code } = transformSync(source, { loader: 'ts', format: 'esm', target: 'es2024', charset: 'utf8' });
  await expect(HEAD + code).toMatchFileSnapshot('../../assets/page/hidden-text.js');
});
