/** The release script, without its tests and without publishing. */

import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import manifest from '../package.json' with { type: 'json' };

const PACK_MS = 120_000;

const script = fileURLToPath(new URL('../scripts/release.mjs', import.meta.url));

it(
  'a dry run of the release finds one version everywhere, packs, and prints the command to publish',
  async () => {
    const { stdout } = await promisify(execFile)(process.execPath, [script, '--dry-run']);
    const [, tarball = ''] = /&& npm publish (\S+)$/m.exec(stdout) ?? [];
    expect(tarball).toMatch(new RegExp(`plugboard-${manifest.version}\\.tgz$`));
    expect(existsSync(tarball)).toBe(true);
  },
  PACK_MS,
);
