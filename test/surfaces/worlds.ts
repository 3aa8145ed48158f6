/** The two worlds of servers: each with one fault next to good neighbours, and one that lies in all its texts. */

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { FIXTURES, Place } from '../cli/command.ts';
import { type FaultyHttp, startFaultyHttp } from '../fixtures/surfaces-server.mjs';

const SERVER = join(FIXTURES, 'surfaces-server.mjs');
const POISON = join(FIXTURES, 'surfaces-poison.mjs');

/** Far beyond what a busy machine needs, and what a server that never answers is given. */
const PATIENT = { startupTimeoutMs: 60_000, toolTimeoutMs: 60_000 };
const SHORT_MS = 1_500;

/** What is wrong with each server, by its name: the row of the table. */
export const FAULTS: Readonly<Record<string, string>> = {
  missing: 'there is no such program (F18)',
  exits: 'exits at once, with colours on stderr (F9, F19)',
  silent: 'never answers the handshake (F16)',
  refused: 'no process listens at its address',
  locked: 'requires a login: 401 (F42)',
  forbidden: 'forbids everything: 403 (F42)',
  broken: 'answers everything with 500',
  page: 'is a web page (F44)',
  moved: 'redirects to another origin (F46, A5)',
  noise: 'log lines and broken UTF-8 on stdout (F10, F14)',
  twice: 'answers everything twice (F25)',
  flood: '2,000 notifications before each answer (F28)',
  restless: 'its list changes whenever it is read (F29)',
  pages: 'a list that never ends (F30)',
  odd: 'a hopeless tool, results with null in them (F56, F57)',
  dies: 'dies at work (F20)',
  hangs: 'never answers at work (F22)',
  chatters: 'reports progress without end (F27)',
  huge: 'a line of 65 MB (F11)',
  deep: 'JSON nested 200,000 deep (F15)',
  wordless: 'an error without a message (F57)',
  empty: 'a result that is null (F57)',
  forgets: 'forgets its sessions (F41)',
  busy: 'is busy: 503 at work (F43)',
  cut: 'resets the connection at work (F38)',
  mute: 'begins an answer and stops (F36)',
  relocks: 'requires a login during a call',
};

/** Gone for a moment after it was called. */
export const COMES_BACK: readonly string[] = ['dies'];

const ELSEWHERE: Readonly<Record<string, object>> = {
  missing: { command: '/no/such/program' },
  refused: { url: 'http://127.0.0.1:1/mcp' },
};
const REMOTE = [
  'locked',
  'forbidden',
  'broken',
  'page',
  'moved',
  'forgets',
  'busy',
  'cut',
  'mute',
  'relocks',
];
const IMPATIENT: Readonly<Record<string, object>> = {
  silent: { startupTimeoutMs: SHORT_MS },
  hangs: { toolTimeoutMs: SHORT_MS },
  mute: { toolTimeoutMs: SHORT_MS },
  chatters: { toolTimeoutMs: SHORT_MS, maxTotalMs: SHORT_MS },
};

export const good: object = {
  command: process.execPath,
  args: [SERVER, 'good'],
  approval: 'approve',
  ...PATIENT,
};

/** Every fault next to a good neighbour, for one user of the network at a time: sessions are forgotten in turn. */
export async function faultyWorld(): Promise<{ place: Place; http: FaultyHttp; close(): Promise<void> }> {
  const http = await startFaultyHttp();
  const place = new Place();
  const entry = (name: string): object => ({
    ...(ELSEWHERE[name] ??
      (REMOTE.includes(name)
        ? { url: `${http.origin}/${name}` }
        : { command: process.execPath, args: [SERVER, name] })),
    approval: 'approve',
    ...PATIENT,
    ...IMPATIENT[name],
  });
  const faulty = Object.fromEntries(Object.keys(FAULTS).map((name) => [name, entry(name)]));
  place.write(place.userFile, { mcpServers: { ...faulty, good }, firstListWaitMs: PATIENT.startupTimeoutMs });
  return {
    place,
    http,
    async close() {
      await http.close();
      place.remove();
    },
  };
}

/** What the poisoned server tries, by its tool. */
export const POISONS: Readonly<Record<string, string>> = {
  read: 'escapes, hidden text and orders in every word (A15)',
  mcp__good__work: 'a tool named like the neighbour’s (A23)',
  deep: 'a schema nested 200 deep (A18)',
  match: 'a pattern that takes for ever (A18)',
  far: 'a `$ref` into the network (A18)',
  links: 'links to files, to the metadata address, to scripts',
  fails: 'an error full of escapes (A15)',
  refuses: 'a refusal full of escapes (A15)',
  turns: 'another description than when it was first seen (A14)',
};

/** Seen once while it was honest; since then one of its tools has turned. */
export async function poisonedWorld(): Promise<Place> {
  const place = new Place();
  const flag = join(place.dir, 'turned');
  const poison = {
    command: process.execPath,
    args: [POISON, flag],
    approval: 'approve',
    pins: 'hold',
    ...PATIENT,
  };
  place.write(place.userFile, { mcpServers: { good, poison }, firstListWaitMs: PATIENT.startupTimeoutMs });
  await place.run(['list']);
  writeFileSync(flag, '');
  return place;
}
