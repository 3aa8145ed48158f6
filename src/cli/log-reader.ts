/** Reads the log of one server: its last lines, then lines as they are added, across log rotation. */

import { closeSync, fstatSync, openSync, readFileSync, readSync } from 'node:fs';
import { type LogLine, readLogLine } from '../transport/server-log.ts';

export interface ServerLine extends LogLine {
  readonly server: string;
}

export class LogReader {
  readonly server: string;
  readonly file: string;
  /** Offset of the next line in the file with this inode. */
  #at = 0;
  #inode: number | undefined;

  constructor(server: string, file: string) {
    this.server = server;
    this.file = file;
  }

  get exists(): boolean {
    return this.#inode !== undefined;
  }

  /** Returns the last lines, including those of the rotated file if this one has fewer; `next` continues from there. */
  last(count: number): readonly ServerLine[] {
    const now = this.#read();
    const before = now.length < count ? this.#parse(textOf(`${this.file}.1`)) : [];
    return count === 0 ? [] : [...before, ...now].slice(-count);
  }

  /** Returns the lines added since the last read. */
  next(): readonly ServerLine[] {
    return this.#read();
  }

  #read(): ServerLine[] {
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
      return [...rest, ...this.#parse(bytes.toString('utf8', 0, end))];
    } catch {
      return [];
    } finally {
      if (file !== undefined) closeSync(file);
    }
  }

  #restOfOld(): ServerLine[] {
    return this.#parse(Buffer.from(textOf(`${this.file}.1`)).toString('utf8', this.#at));
  }

  #parse(text: string): ServerLine[] {
    return text.split('\n').flatMap((line) => {
      const read = readLogLine(line);
      return read === undefined ? [] : [{ ...read, server: this.server }];
    });
  }
}

const NEWLINE = 0x0a;

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
