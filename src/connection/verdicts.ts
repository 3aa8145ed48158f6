/** Remembers which era each server spoke, with a date, so that a known server is not probed again (CON-5). */

import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isStdio, type ServerEntry } from '../config/entry.ts';
import type { Home } from '../config/home.ts';
import { canonicalJson } from '../lib/canonical-json.ts';
import type { Clock } from '../lib/clock.ts';
import { isRecord } from '../lib/json-rpc.ts';
import { updateFile } from '../lib/locked-file.ts';
import { makeFolder } from '../lib/make-folder.ts';
import { MODERN_VERSION, type Negotiated, type Verdict } from './eras.ts';

/** An upgraded server still answers the old way for ever, so what is known grows old. */
export const VERDICT_MAX_AGE_MS: number = 24 * 60 * 60 * 1000;
const MAX_VERDICTS = 1_000;

interface Remembered {
  readonly at: number;
  readonly verdict: Verdict;
}

export interface Verdicts {
  get(entry: ServerEntry): Verdict | undefined;
  /** Remembers what was agreed; written to disk in the background. */
  remember(entry: ServerEntry, negotiated: Negotiated): void;
  /** After a start that failed: what is known may be why. */
  forget(entry: ServerEntry): void;
  /** Resolves when what was remembered is on disk. */
  flush(): Promise<void>;
}

export async function openVerdicts(home: Home, clock: Clock): Promise<Verdicts> {
  const file = join(home.cache, 'eras.json');
  const known = parse(await readFile(file, 'utf8').catch(() => '{}'));
  const fresh = new Map<string, Remembered | undefined>();
  let writing: Promise<void> | undefined;

  const write = async (): Promise<void> => {
    // Batched: ten servers that connect together are one write.
    await new Promise<void>((resolve) => setImmediate(resolve));
    const batch = [...fresh];
    fresh.clear();
    await makeFolder(home.cache, 0o700).catch(() => {});
    await updateFile(
      file,
      (text) => {
        const all = parse(text ?? '{}');
        for (const [key, remembered] of batch) {
          if (remembered === undefined) all.delete(key);
          else all.set(key, remembered);
        }
        const newest = [...all].sort(([, a], [, b]) => b.at - a.at).slice(0, MAX_VERDICTS);
        return `${JSON.stringify(Object.fromEntries(newest))}\n`;
      },
      { lockDir: join(home.run, 'locks'), mode: 0o600 },
    ).catch(() => {}); // A home that cannot be written costs the next start a probe, nothing more.
  };

  const writeAll = async (): Promise<void> => {
    // What is noted while one batch is on its way is the next one.
    while (fresh.size > 0) await write();
    writing = undefined;
  };

  const note = (key: string, remembered: Remembered | undefined): void => {
    fresh.set(key, remembered);
    writing ??= writeAll();
  };

  return {
    get(entry) {
      const remembered = known.get(keyOf(entry));
      if (remembered === undefined || clock.now() - remembered.at > VERDICT_MAX_AGE_MS) return undefined;
      return remembered.verdict;
    },
    remember(entry, negotiated) {
      const key = keyOf(entry);
      const before = known.get(key);
      // A verdict that still holds keeps its date: it has to be questioned once a day.
      if (before?.verdict.era === negotiated.era && clock.now() - before.at <= VERDICT_MAX_AGE_MS) return;
      const verdict: Verdict =
        negotiated.era === 'modern' ? { era: 'modern', discover: negotiated } : { era: 'legacy' };
      const remembered = { at: clock.now(), verdict };
      known.set(key, remembered);
      note(key, remembered);
    },
    forget(entry) {
      const key = keyOf(entry);
      if (known.delete(key)) note(key, undefined);
    },
    async flush() {
      while (writing !== undefined) await writing;
    },
  };
}

/** Everything that decides which program answers, and no secret in the clear. */
function keyOf(entry: ServerEntry): string {
  const identity = isStdio(entry)
    ? [entry.command, entry.args ?? [], entry.cwd ?? '', entry.env ?? {}]
    : [entry.type ?? 'http', entry.url];
  return createHash('sha256').update(canonicalJson(identity)).digest('hex').slice(0, 32);
}

function parse(text: string): Map<string, Remembered> {
  const known = new Map<string, Remembered>();
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return known;
  }
  if (!isRecord(value)) return known;
  for (const [key, item] of Object.entries(value)) {
    if (!isRecord(item) || typeof item['at'] !== 'number') continue;
    const verdict = parseVerdict(item['verdict']);
    if (verdict !== undefined) known.set(key, { at: item['at'], verdict });
  }
  return known;
}

function parseVerdict(value: unknown): Verdict | undefined {
  if (!isRecord(value)) return undefined;
  if (value['era'] === 'legacy') return { era: 'legacy' };
  const discover = value['discover'];
  if (value['era'] !== 'modern' || !isRecord(discover) || !isRecord(discover['capabilities']))
    return undefined;
  if (discover['protocolVersion'] !== MODERN_VERSION) return undefined;
  return { era: 'modern', discover: discover as unknown as Negotiated };
}
