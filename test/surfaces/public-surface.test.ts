import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { publicSurface } from './public-surface.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
/** Begun with the surface of version 0.1. */
const RECORDED = join(ROOT, 'test', 'surfaces', 'public-surface.txt');
/** Loads every entry point. */
const LOADING_MS = 120_000;

it(
  'keeps every public name: exports, members, commands, flags, codes, exit statuses, events, routes, keys',
  async () => {
    const recorded = existsSync(RECORDED) ? readFileSync(RECORDED, 'utf8').trimEnd().split('\n') : [];
    const now = await publicSurface(ROOT);
    expect(recorded.filter((name) => !now.includes(name))).toEqual([]);
    // New names fail until `--update` records them: from then on they stay.
    await expect(`${now.join('\n')}\n`).toMatchFileSnapshot(RECORDED);
  },
  LOADING_MS,
);
