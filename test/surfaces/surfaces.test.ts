/**
 * Across all surfaces: one hostile project, one server with each fault, and one poisoned catalog, taken through every
 * command and everything that serves. What each did is asserted here and written down in docs/surfaces.md.
 */

import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { rows } from '../../src/cli/command-table.ts';
import type { Place } from '../cli/command.ts';
import { launchBrowser, textOf } from '../manage/browser.ts';
import { hostileProject } from './hostile.ts';
import { agreed, ends, mustBeClean, typedIn } from './outcome.ts';
import { pageOf, type Row } from './table.ts';
import { TYPED } from './typed.ts';
import {
  byApi,
  byChat,
  byCommand,
  byGateways,
  byLibrary,
  type Errand,
  eachOf,
  openGateway,
  openPage,
  stateOnPage,
  tryOnPage,
} from './ways.ts';
import { COMES_BACK, FAULTS, faultyWorld, good, POISONS, poisonedWorld } from './worlds.ts';

const LONGEST_MS = 300_000;

let browser: Browser;
beforeAll(async () => {
  browser = await launchBrowser();
}, LONGEST_MS);
afterAll(() => browser?.close());

const situations: Row[] = [];
/** By command, then by world: what was typed, and what came of it. */
const typed = new Map(
  rows.map(({ name }) => [name, { hostile: [], faulty: [], poisoned: [] } as Record<WorldName, string[]>]),
);
type WorldName = 'hostile' | 'faulty' | 'poisoned';

function note(name: string, world: WorldName, words: readonly string[], outcome: string): void {
  typed.get(name)?.[world].push(words.length === 0 ? outcome : `\`${words.join(' ')}\`: ${outcome}`);
}

/** A row of the table for each situation, in the order of the errands. */
function record(what: readonly string[], columns: readonly (readonly string[])[]): void {
  situations.push(...what.map((each, at): Row => [each, ...columns.map((column) => column[at] ?? '')]));
}

/** What a good neighbour of all of these answers, by surface. */
const WELL = ['done, exit 0', 'done', 'done', 'done, HTTP 200', 'connected', 'done, exit 0'];

const call = (server: string, what = 'work'): Errand => ({ server, kind: 'call', what });

/** Runs errands through everything that serves programs, people and models; one column for each. */
async function throughPrograms(
  place: Place,
  errands: readonly Errand[],
  onPage: (page: Page) => Promise<string[]>,
): Promise<string[][]> {
  const calls = errands.filter(({ kind }) => kind === 'call');
  const library = await byLibrary(place, errands);
  expect(library.ends.filter((times) => times !== 1)).toEqual([]);
  const chat = await byChat(place, calls);
  const gateway = await openGateway(place);
  try {
    const gateways = await byGateways(place, gateway, errands);
    const api = await byApi(gateway, calls);
    const page = await browser.newPage();
    await openPage(page, gateway);
    const seen = await onPage(page);
    mustBeClean(await textOf(page, 'body'));
    await page.close();
    for (const { lists, told } of [library, chat, ...gateways])
      for (const shown of [lists, ...told.map((each) => each.shown)]) mustBeClean(shown);
    return [
      agreed(library.told),
      agreed(...gateways.map(({ told }) => told)),
      agreed(api),
      seen,
      agreed(chat.told),
    ];
  } finally {
    await gateway.close();
  }
}

const statesOf =
  (errands: readonly Errand[]) =>
  async (page: Page): Promise<string[]> => {
    const states: string[] = [];
    for (const { server } of errands)
      states.push(await stateOnPage(page, server, COMES_BACK.includes(server)));
    return states;
  };

it('every command is thought of', () => {
  expect(rows.map(({ name }) => name).filter((name) => TYPED[name] === undefined)).toEqual([]);
});

it(
  'A10, A12, A22: a hostile project starts, contacts, relaxes and moves nothing, whatever it is opened with',
  async () => {
    const [hostile, scratch] = await Promise.all([
      hostileProject({ good, mine: good }),
      hostileProject({ good, mine: good }),
    ]);
    const errands = ['evil', 'remote', 'mine', 'good'].map((server) => call(server));
    const columns = [
      agreed(await byCommand(hostile.place, errands)),
      ...(await throughPrograms(hostile.place, errands, statesOf(errands))),
    ];
    record(
      [
        'a command that comes with the project (A10)',
        'an address and a header program that come with it (A10)',
        'a server of the project named like one of yours',
        'your own server next to them',
      ],
      columns,
    );
    expect(columns.map((column) => column.at(-1))).toEqual(WELL);

    const runs = rows.flatMap(({ name }) => (TYPED[name]?.hostile ?? []).map((words) => ({ name, words })));
    // One after the other, in a project of their own.
    const isAlone = ({ name }: { name: string }): boolean => TYPED[name]?.alone === true;
    await eachOf(
      runs.filter((each) => !isAlone(each)),
      async ({ name, words }) => note(name, 'hostile', words, await typedIn(hostile.place, [name, ...words])),
    );
    for (const { name, words } of runs.filter(isAlone))
      note(name, 'hostile', words, await typedIn(scratch.place, [name, ...words]));
    // What was imported from the project, or added as its plugin, is no more agreed to than before.
    const { servers } = (await scratch.place.json(['list', '--no-connect'])).value as {
      servers: { scope: string; status: string }[];
    };
    const theirs = servers.filter(({ scope }) => scope === 'project' || scope === 'plugin');
    expect(new Set(theirs.map(({ status }) => status))).toEqual(new Set(['untrusted', 'disabled']));
    const nothing = { ran: [], contacted: 0 };
    expect([hostile.witness(), scratch.witness()]).toEqual([nothing, nothing]);
    await Promise.all([hostile.close(), scratch.close()]);
  },
  LONGEST_MS,
);

it(
  'F9 to F57: every surface reports each fault the same way, and the other servers answer',
  async () => {
    const names = Object.keys(FAULTS);
    const [one, other] = await Promise.all([faultyWorld(), faultyWorld()]);
    const calls = [...names, 'good'].map((server) => call(server));
    const byHand = async (): Promise<string[]> => {
      const own = await byCommand(one.place, calls);
      await one.place.run(['daemon', 'start']);
      try {
        for (const { name } of rows) {
          const words = TYPED[name]?.faulty;
          if (words !== undefined) note(name, 'faulty', words, await ends(one.place, [name, ...words]));
        }
        const shared = await byCommand(one.place, calls);
        // A server that fails at one kind of work fails at the others in the same way.
        const failing = own.flatMap(({ outcome }, at) => (outcome === WELL[0] ? [] : [names[at] ?? '']));
        const outcomes = failing.map((name) => own[names.indexOf(name)]?.outcome);
        for (const kind of ['read', 'prompt'] as const) {
          const what = (server: string): string => (kind === 'read' ? `work://${server}` : 'ask');
          const errands = failing.map((server): Errand => ({ server, kind, what: what(server) }));
          expect(agreed(await byCommand(one.place, errands))).toEqual(outcomes);
        }
        return agreed(own, shared);
      } finally {
        await one.place.run(['daemon', 'stop']);
      }
    };
    const [command, programs] = await Promise.all([
      byHand(),
      throughPrograms(other.place, calls, statesOf(calls)),
    ]);
    const columns = [command, ...programs];
    record(Object.values(FAULTS), columns);
    expect(columns.map((column) => column.at(-1))).toEqual(WELL);
    expect([one.http.state.stolen, other.http.state.stolen]).toEqual([0, 0]);
    await Promise.all([one.close(), other.close()]);
  },
  LONGEST_MS,
);

it(
  'A14, A15, A18, A23: a poisoned catalog reaches people and models as words only, or not at all',
  async () => {
    const place = await poisonedWorld();
    const calls = Object.keys(POISONS).map((what) => call('poison', what));
    const errands: Errand[] = [
      ...calls,
      { server: 'poison', kind: 'read', what: 'poison://one' },
      { server: 'poison', kind: 'prompt', what: 'ask' },
    ];
    const words = await byCommand(place, errands, false);
    for (const { shown } of words) {
      mustBeClean(shown);
      // Links are shown, and none is followed.
      expect(shown).not.toContain('root:');
    }
    const columns = [
      agreed(await byCommand(place, errands)),
      ...(await throughPrograms(place, errands, async (page) => {
        const tried = await tryOnPage(page, calls);
        for (const { shown } of tried) mustBeClean(shown);
        const alive = '[window.hacked, document.querySelectorAll("main img, main a[href]").length]';
        expect(await page.evaluate(alive)).toEqual([undefined, 0]);
        return agreed(tried);
      })),
    ];
    record([...Object.values(POISONS), 'a resource of it', 'a prompt of it'], columns);
    await eachOf(rows, async ({ name }) => {
      const given = TYPED[name]?.poisoned;
      if (given === undefined) return;
      const { stdout, stderr } = await place.run([name, ...given]);
      mustBeClean(stdout + stderr);
      note(name, 'poisoned', given, await ends(place, [name, ...given]));
    });
    place.remove();
  },
  LONGEST_MS,
);

it('docs/surfaces.md describes what these runs did (to fix: npx vitest run test/surfaces --update)', async () => {
  const cell = (outcomes: string[]): string => outcomes.sort().join('; ') || '–';
  const commands = [...typed].map(
    ([name, worlds]): Row => [
      `\`${name}\``,
      cell(worlds.hostile),
      cell(worlds.faulty),
      cell(worlds.poisoned),
    ],
  );
  await expect(pageOf(situations, commands)).toMatchFileSnapshot('../../docs/surfaces.md');
});
