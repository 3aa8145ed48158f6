/** The saved state of one running program: its newest frozen version and the journal of that, written in order. */

import type { FrozenProgram, FrozenPrograms, JournalEntry } from './frozen-programs.ts';

type Entry = JournalEntry extends infer Each
  ? Each extends JournalEntry
    ? Omit<Each, 'version'>
    : never
  : never;

export class ProgramRecord {
  readonly #store: FrozenPrograms;
  readonly #id: string;
  #version: number;
  #isSaved: boolean;
  #isSaving = false;
  #writing: Promise<void> = Promise.resolve();

  /** `version`: of the program that is continued; 0 for a new one. */
  constructor(store: FrozenPrograms, id: string, version: number) {
    this.#store = store;
    this.#id = id;
    this.#version = version;
    this.#isSaved = version > 0;
  }

  /** Whether another process could continue the program as it is. */
  get isSaved(): boolean {
    return this.#isSaved;
  }

  /** Whether it is saved, or being saved now. */
  get willBeSaved(): boolean {
    return this.#isSaved || this.#isSaving;
  }

  /** Saves the program as it is when the writes before it are done. */
  save(program: () => Omit<FrozenProgram, 'version'>): Promise<void> {
    this.#isSaving = true;
    return this.#write(async () => {
      this.#version += 1;
      await this.#store.save(this.#id, { ...program(), version: this.#version });
      this.#isSaved = true;
    }).finally(() => {
      this.#isSaving = false;
    });
  }

  /** Records what happened to a call of the saved program; does nothing without one. */
  note(entry: Entry): Promise<void> {
    if (!this.willBeSaved) return Promise.resolve();
    return this.#write(() =>
      this.#store.note(this.#id, { ...entry, version: this.#version } as JournalEntry),
    );
  }

  /** Deletes the saved program: the running one does things that it does not contain. */
  async forget(): Promise<void> {
    if (!this.willBeSaved) return;
    await this.#write(async () => {
      this.#isSaved = false;
      await this.#store.remove(this.#id);
    });
  }

  /** Lets another process continue the saved program, if there is one. */
  async release(): Promise<void> {
    await this.#writing;
    await this.#store.release(this.#id);
  }

  #write(act: () => Promise<void>): Promise<void> {
    const written = this.#writing.then(act);
    this.#writing = written.catch(() => {});
    return written;
  }
}
