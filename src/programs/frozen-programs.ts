/**
 * Frozen programs: each is its memory, with the calls that it waits for, and a journal of what happened to these since.
 * A program is continued by one process at a time.
 */

import { randomBytes } from 'node:crypto';
import { readdir, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { deserialize, serialize } from 'node:v8';
import { appendTo } from '../lib/append-file.ts';
import type { Clock } from '../lib/clock.ts';
import { type Release, tryHold } from '../lib/locked-file.ts';
import { makeFolder } from '../lib/make-folder.ts';
import { openBytes, readKeyFile, sealBytes } from '../lib/sealed-bytes.ts';
import type { Frozen, VmAnswer } from './program-messages.ts';
import type { OutputBlock } from './program-output.ts';

/** Programs that are kept; the oldest are dropped. */
const MAX_PROGRAMS = 200;
const FOLDER_MODE = 0o700;
const FILE_MODE = 0o600;
const ID_BYTES = 16;
const ID = /^p-[\w-]{22}$/;
const LENGTH_BYTES = 4;
const FROZEN = '.frozen';

/** Something that a frozen program waits for. */
export interface FrozenAsk {
  readonly id: number;
  /** JSON text, as the program sent it. */
  readonly message: string;
  /** A call that a server has received: its answer is lost with the process. */
  readonly isSent: boolean;
}

export interface FrozenProgram {
  /** Begins with 1; entries of the journal belong to one version. */
  readonly version: number;
  /** Who may continue it. */
  readonly owner: string;
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
  readonly frozen: Frozen;
  readonly asks: readonly FrozenAsk[];
  /** Answers that it has not received yet. */
  readonly answers: readonly VmAnswer[];
  readonly output: readonly OutputBlock[];
  readonly calls: number;
  readonly usedWallMs: number;
  /** Set if it has returned, and only waits for calls that it did not await. */
  readonly ended: ProgramEnd | undefined;
}

/** How a program itself ended: JSON text of the value, or what it threw. */
export type ProgramEnd =
  | { readonly kind: 'done'; readonly json: string | undefined }
  | { readonly kind: 'threw'; readonly name: string; readonly text: string; readonly stack: string };

export type JournalEntry = { readonly version: number } & (
  | { readonly kind: 'sent'; readonly id: number }
  | ({ readonly kind: 'answer' } & VmAnswer)
);

export interface TakenProgram {
  readonly program: FrozenProgram;
  readonly journal: readonly JournalEntry[];
}

/** Where frozen programs are stored: files of a home, or the memory of a host without one. */
export interface FrozenPrograms {
  /** Replaces the program of an id and its journal. The process that saves it first holds it until `release`. */
  save(id: string, program: FrozenProgram): Promise<void>;
  /** Appends to the journal. */
  note(id: string, entry: JournalEntry): Promise<void>;
  /** Takes a program to continue it; `running` if another process holds it. */
  take(id: string): Promise<TakenProgram | 'running' | undefined>;
  /** Lets other processes take it. */
  release(id: string): Promise<void>;
  remove(id: string): Promise<void>;
}

/** Returns an unguessable id. */
export function programId(): string {
  return `p-${randomBytes(ID_BYTES).toString('base64url')}`;
}

export function isProgramId(text: string): boolean {
  return ID.test(text);
}

/** Returns what a program still waits for, after its journal, and the answers that it has not received. */
export function withJournal({ program, journal }: TakenProgram): {
  readonly asks: readonly FrozenAsk[];
  readonly answers: readonly VmAnswer[];
} {
  const sent = new Set<number>();
  const answers = new Map<number, VmAnswer>(program.answers.map((answer) => [answer.id, answer]));
  for (const entry of journal) {
    if (entry.version !== program.version) continue;
    if (entry.kind === 'sent') sent.add(entry.id);
    else answers.set(entry.id, { id: entry.id, ok: entry.ok, json: entry.json });
  }
  return {
    asks: program.asks
      .filter(({ id }) => !answers.has(id))
      .map((ask) => (sent.has(ask.id) ? { ...ask, isSent: true } : ask)),
    answers: [...answers.values()],
  };
}

export class MemoryPrograms implements FrozenPrograms {
  readonly #programs = new Map<
    string,
    { program: FrozenProgram; journal: JournalEntry[]; isHeld: boolean }
  >();

  async save(id: string, program: FrozenProgram): Promise<void> {
    this.#programs.set(id, { program, journal: [], isHeld: true });
    const [oldest] = this.#programs.keys();
    if (this.#programs.size > MAX_PROGRAMS && oldest !== undefined) this.#programs.delete(oldest);
  }

  async note(id: string, entry: JournalEntry): Promise<void> {
    this.#programs.get(id)?.journal.push(entry);
  }

  async take(id: string): Promise<TakenProgram | 'running' | undefined> {
    const found = this.#programs.get(id);
    if (found === undefined) return undefined;
    if (found.isHeld) return 'running';
    found.isHeld = true;
    return { program: found.program, journal: [...found.journal] };
  }

  async release(id: string): Promise<void> {
    const found = this.#programs.get(id);
    if (found !== undefined) found.isHeld = false;
  }

  async remove(id: string): Promise<void> {
    this.#programs.delete(id);
  }
}

/** Programs as files in a home: encrypted, one for the memory and one for the journal. */
export class ProgramFiles implements FrozenPrograms {
  readonly #folder: string;
  readonly #locks: string;
  readonly #clock: Clock;
  #key: Promise<Uint8Array> | undefined;
  readonly #keyFile: string;
  /** The locks of programs that this process runs; the system frees them if it dies. */
  readonly #held = new Map<string, Release>();

  constructor(home: { readonly dir: string; readonly run: string }, clock: Clock) {
    this.#folder = join(home.dir, 'programs');
    this.#keyFile = join(home.dir, 'program-key');
    this.#locks = join(home.run, 'locks');
    this.#clock = clock;
  }

  async save(id: string, program: FrozenProgram): Promise<void> {
    const key = await this.#readKey();
    await makeFolder(this.#folder, FOLDER_MODE);
    if (!this.#held.has(id)) {
      const release = await this.#hold(id);
      if (release !== undefined) this.#held.set(id, release);
      await this.#sweep();
    }
    const file = this.#file(id);
    const temporary = `${file}.${randomBytes(4).toString('hex')}.tmp`;
    // Not synced: a program has to outlive the process, not the machine.
    await writeFile(temporary, sealBytes(key, serialize(program), id), { flag: 'wx', mode: FILE_MODE });
    // The date of a file is that of its end.
    const end = new Date(program.expiresAt);
    await utimes(temporary, end, end);
    await rename(temporary, file);
    // Entries of the version before are ignored, should this fail.
    await rm(this.#journal(id), { force: true });
  }

  async note(id: string, entry: JournalEntry): Promise<void> {
    const sealed = sealBytes(await this.#readKey(), serialize(entry), `${id} journal`);
    const length = Buffer.alloc(LENGTH_BYTES);
    length.writeUInt32LE(sealed.length);
    await appendTo(this.#journal(id), Buffer.concat([length, sealed]));
  }

  async take(id: string): Promise<TakenProgram | 'running' | undefined> {
    const sealed = await readFile(this.#file(id)).catch(() => undefined);
    if (sealed === undefined) return undefined;
    const release = this.#held.has(id) ? undefined : await this.#hold(id);
    if (release === undefined) return 'running';
    const taken = await this.#open(id).catch(() => undefined);
    if (taken === undefined || taken.program.expiresAt <= this.#clock.now()) {
      await release();
      return undefined;
    }
    this.#held.set(id, release);
    return taken;
  }

  async release(id: string): Promise<void> {
    const release = this.#held.get(id);
    this.#held.delete(id);
    await release?.();
  }

  async remove(id: string): Promise<void> {
    await rm(this.#file(id), { force: true });
    await rm(this.#journal(id), { force: true });
  }

  async #open(id: string): Promise<TakenProgram | undefined> {
    const key = await this.#readKey();
    const opened = openBytes(key, await readFile(this.#file(id)), id);
    if (opened === undefined) return undefined;
    const journal: JournalEntry[] = [];
    const bytes = await readFile(this.#journal(id)).catch(() => Buffer.alloc(0));
    for (let at = 0; at + LENGTH_BYTES <= bytes.length; ) {
      const end = at + LENGTH_BYTES + bytes.readUInt32LE(at);
      const entry = openBytes(key, bytes.subarray(at + LENGTH_BYTES, end), `${id} journal`);
      // The process died while it wrote the last entry.
      if (entry === undefined) break;
      journal.push(deserialize(entry) as JournalEntry); // sealed by us
      at = end;
    }
    return { program: deserialize(opened) as FrozenProgram, journal }; // sealed by us
  }

  /** The second attempt follows the removal of what a dead process left. */
  async #hold(id: string): Promise<Release | undefined> {
    await makeFolder(this.#locks, FOLDER_MODE);
    const lock = join(this.#locks, id);
    return (await tryHold(lock)) ?? (await tryHold(lock));
  }

  #readKey(): Promise<Uint8Array> {
    this.#key ??= readKeyFile(this.#keyFile, this.#locks);
    return this.#key;
  }

  #file(id: string): string {
    return join(this.#folder, `${id}${FROZEN}`);
  }

  #journal(id: string): string {
    return join(this.#folder, `${id}.journal`);
  }

  /** Deletes expired programs, and those that end first if there are too many. */
  async #sweep(): Promise<void> {
    const names = (await readdir(this.#folder).catch(() => [])).filter((name) => name.endsWith(FROZEN));
    const dated = await Promise.all(
      names.map(async (name) => ({
        id: name.slice(0, -FROZEN.length),
        endsAt: (await stat(join(this.#folder, name)).catch(() => undefined))?.mtimeMs ?? 0,
      })),
    );
    const now = this.#clock.now();
    const old = dated
      .sort((a, b) => b.endsAt - a.endsAt)
      .filter(({ id, endsAt }, place) => !this.#held.has(id) && (place >= MAX_PROGRAMS || endsAt <= now));
    await Promise.all(old.map(({ id }) => this.remove(id)));
  }
}
