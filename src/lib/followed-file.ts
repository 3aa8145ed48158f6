/** Reads a file of lines: those that it has, then lines as they are added, across rotation. */

import { closeSync, fstatSync, openSync, readFileSync, readSync } from 'node:fs';
import { attempt } from './attempt.ts';

const NEWLINE = 0x0a;

export class FollowedFile {
  readonly file: string;
  /** Offset of the next line in the file with this inode. */
  #at = 0;
  #inode: number | undefined;

  /** `cursor`: of an earlier reader of the file, after whose lines this one begins. */
  constructor(file: string, cursor?: string) {
    this.file = file;
    const [, inode, at] = /^(\d{1,20})-(\d{1,15})$/.exec(cursor ?? '') ?? [];
    if (inode === undefined) return;
    this.#inode = Number(inode);
    this.#at = Number(at);
  }

  /** The place after the last line that was read; undefined before the file exists. */
  get cursor(): string | undefined {
    return this.#inode === undefined ? undefined : `${this.#inode}-${this.#at}`;
  }

  /** True once the file was read. */
  get exists(): boolean {
    return this.#inode !== undefined;
  }

  /** Returns the lines of an older file: 1 is the one that was rotated last. */
  rotated(age: number): readonly string[] {
    return linesOf(textOf(`${this.file}.${age}`));
  }

  /** Returns the lines added since the last call of this function. */
  next(): readonly string[] {
    let file: number | undefined;
    try {
      file = openSync(this.file, 'r');
      const { ino, size } = fstatSync(file);
      const rest = this.#inode === undefined || this.#inode === ino ? [] : this.#restOfOld();
      if (this.#inode !== ino || size < this.#at) this.#at = 0;
      this.#inode = ino;
      const bytes = Buffer.alloc(Math.max(0, size - this.#at));
      const got = readSync(file, bytes, 0, bytes.length, this.#at);
      // An incomplete line is read completely the next time.
      const end = bytes.subarray(0, got).lastIndexOf(NEWLINE) + 1;
      this.#at += end;
      return [...rest, ...linesOf(bytes.toString('utf8', 0, end))];
    } catch {
      return [];
    } finally {
      if (file !== undefined) closeSync(file);
    }
  }

  #restOfOld(): readonly string[] {
    return linesOf(Buffer.from(textOf(`${this.file}.1`)).toString('utf8', this.#at));
  }
}

function linesOf(text: string): readonly string[] {
  return text.split('\n').filter((line) => line !== '');
}

function textOf(file: string): string {
  return attempt(() => readFileSync(file, 'utf8'), '');
}
