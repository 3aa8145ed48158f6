/** An outcome in a few words, with the check that nothing in it could mislead a reader. */

import { expect } from 'vitest';
import type { Place } from '../cli/command.ts';
import type { Told } from './ways.ts';

/** Whatever a terminal would obey, and whatever is invisible: newline and tab are all that is allowed. */
const RAW =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what this is about
  /[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff]|[\u{e0000}-\u{e0fff}]/u;

export function mustBeClean(shown: string): void {
  expect(JSON.stringify(RAW.exec(shown)?.[0])).toBeUndefined();
}

/** The outcomes that all ways agree on, one for each errand. */
export function agreed(...ways: readonly (readonly Told[])[]): string[] {
  const [first = [], ...others] = ways.map((told) => told.map(({ outcome }) => outcome));
  for (const other of others) expect(other).toEqual(first);
  return first;
}

interface Document {
  readonly error?: { readonly code: string };
  readonly server?: { readonly error?: { readonly code: string } };
  readonly servers?: readonly { readonly status?: string; readonly state?: string }[];
  readonly checks?: readonly { readonly id: string; readonly ok: boolean }[];
  readonly findings?: readonly { readonly kind: string }[];
  readonly held?: readonly unknown[];
  readonly [list: string]: unknown;
}

/** How a command ended: the code with the status, and what its document counts. */
export async function ends(place: Place, words: readonly string[]): Promise<string> {
  const { status, stdout, stderr } = await place.run([...words, '--json']);
  mustBeClean(stdout + stderr);
  const document = JSON.parse(stdout) as Document;
  const code = document.error?.code ?? document.server?.error?.code;
  return [code, `exit ${status}`, counted(document)].filter(Boolean).join(', ');
}

function counted(document: Document): string {
  const { servers, checks, findings, held } = document;
  if (servers !== undefined) {
    const states = servers.map(({ status, state }) => String(status ?? state)).sort();
    return [...new Set(states)]
      .map((one) => `${states.filter((each) => each === one).length} ${one}`)
      .join(', ');
  }
  if (checks !== undefined) {
    const lost = checks.filter(({ id, ok }) => !ok && (id === 'connect' || id === 'command'));
    return `${lost.length} not reached`;
  }
  if (findings !== undefined) return `findings: ${[...new Set(findings.map(({ kind }) => kind))].join(', ')}`;
  const list = ['tools', 'results', 'resources', 'prompts'].find((name) => Array.isArray(document[name]));
  const shown = list === undefined ? [] : [`${(document[list] as unknown[]).length} ${list}`];
  return [...shown, ...(Array.isArray(held) ? [`${held.length} held back`] : [])].join(', ');
}

/** What these say of each server is counted. */
const TELLS_STATES = ['list', 'trust', 'tools', 'doctor'];
/** These go on until they are ended. */
const STAYS = ['--http', '--port'];

/** Typed as a person would: what is printed must be clean, and a failure is asked for its code. */
export async function typedIn(place: Place, words: readonly string[]): Promise<string> {
  const { child, ended } = place.start(words);
  const stays = STAYS.some((flag) => words.includes(flag));
  if (stays) child.stdout?.once('data', () => child.kill('SIGTERM'));
  const { status, stdout, stderr } = await ended;
  mustBeClean(stdout + stderr);
  if (stays) return `serves until it is ended, exit ${status}`;
  const isTold = status === 0 && !TELLS_STATES.includes(words[0] ?? '');
  return isTold ? 'exit 0' : ends(place, words);
}
