/** A24: every way of the folder against everything that starts a server, written down in docs/attacks/folders.md. */

import { rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { table } from '../../scripts/docs/table.mjs';
import { launchBrowser } from '../manage/browser.ts';
import {
  byApi,
  byChat,
  byGateways,
  byLibrary,
  type Errand,
  openGateway,
  openPage,
} from '../surfaces/ways.ts';
import { type FolderWorld, folderWorld } from './folder-attacks.ts';

const LONGEST_MS = 600_000;
const PAGE = new URL('../../docs/attacks/folders.md', import.meta.url).pathname;

const HEAD = `# A folder that a person is in

One cloned folder with twelve traps for programs that read the folder they start in, and twelve servers of the person's own that fall for
one each. No file of the folder is a configuration of Plugboard. This page is written by the run that tries them:
[folders-matrix](../../test/attacks/folders-matrix.long.ts) (\`npm run test:long\`).
`;

/** Commands that start servers, with the words that make them. */
const COMMANDS: readonly (readonly string[])[] = [
  ['list'],
  ['tools'],
  ['search', 'where'],
  ['resources'],
  ['prompts'],
  ['doctor'],
  ['pins'],
];

let world: FolderWorld;
let browser: Browser;
const path = process.env['PATH'];
beforeAll(async () => {
  browser = await launchBrowser();
  world = await folderWorld();
  process.env['PATH'] = world.env['PATH'];
}, LONGEST_MS);
afterAll(async () => {
  process.env['PATH'] = path;
  await world?.close();
  await browser?.close();
});

it('A24: runs in a plain client, and nowhere in Plugboard', { timeout: LONGEST_MS }, async () => {
  const { place, attacks } = world;
  const columns = new Map<string, readonly string[]>();
  const tryIn = async (surface: string, work: () => Promise<unknown>): Promise<void> => {
    // Lists that are known would be answered without starting anything.
    rmSync(join(place.home, 'cache'), { recursive: true, force: true });
    await work();
    columns.set(surface, world.ran());
  };
  const errands = attacks.map(({ id }): Errand => ({ server: id, kind: 'call', what: 'where' }));

  await tryIn('plain client', () => world.naive());
  for (const words of COMMANDS) await tryIn(`\`${words[0]}\``, () => place.run(words));
  for (const command of ['call', 'test', 'read', 'prompt']) {
    await tryIn(`\`${command}\``, async () => {
      for (const { id } of attacks) {
        await place.run([command, id, ...(command === 'test' ? [] : ['where'])]);
      }
    });
  }
  await tryIn('`chat`', () => byChat(place, errands));
  await tryIn('library', () => byLibrary(place, errands));
  const gateway = await openGateway(place);
  try {
    await tryIn('gateway', () => byGateways(place, gateway, errands));
    await tryIn('API', () => byApi(gateway, errands));
    await tryIn('page', async () => {
      const page = await browser.newPage();
      await openPage(page, gateway);
      await page.close();
    });
  } finally {
    await gateway.close();
  }

  const surfaces = [...columns.keys()];
  expect(columns.get('plain client')).toEqual(attacks.map(({ id }) => id).sort());
  expect(surfaces.slice(1).map((surface) => columns.get(surface))).toEqual(surfaces.slice(1).map(() => []));
  const rows = attacks.map(({ id, what }) => [
    what,
    ...surfaces.map((surface) => (columns.get(surface)?.includes(id) ? 'runs' : '–')),
  ]);
  await expect(`${HEAD}\n${table([['in the folder', ...surfaces], ...rows])}\n`).toMatchFileSnapshot(PAGE);
});
