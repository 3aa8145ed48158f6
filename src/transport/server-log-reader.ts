/** Reads the log of one server: its last lines, then lines as they are added. */

import { FollowedFile } from '../lib/followed-file.ts';
import { type LogLine, readLogLine } from './server-log.ts';

/** A line of a server's log, with the server. */
export interface ServerLine extends LogLine {
  readonly server: string;
}

export class LogReader {
  readonly server: string;
  readonly #followed: FollowedFile;

  /** `cursor`: where an earlier reader stopped. */
  constructor(server: string, file: string, cursor?: string) {
    this.server = server;
    this.#followed = new FollowedFile(file, cursor);
  }

  /** The place after the last line; undefined if there is no log yet. */
  get cursor(): string | undefined {
    return this.#followed.cursor;
  }

  get file(): string {
    return this.#followed.file;
  }

  get exists(): boolean {
    return this.#followed.exists;
  }

  /** Returns the last lines, including those of the rotated file if this one has fewer; `next` continues from there. */
  last(count: number): readonly ServerLine[] {
    const now = this.next();
    const before = now.length < count ? this.#parse(this.#followed.rotated(1)) : [];
    return count === 0 ? [] : [...before, ...now].slice(-count);
  }

  /** Returns the lines added since the last read. */
  next(): readonly ServerLine[] {
    return this.#parse(this.#followed.next());
  }

  #parse(lines: readonly string[]): ServerLine[] {
    return lines.flatMap((line) => {
      const read = readLogLine(line);
      return read === undefined ? [] : [{ ...read, server: this.server }];
    });
  }
}
