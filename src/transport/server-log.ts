/**
 * Writes the log of one server: a file of limited size with its stderr, its log messages, and its starts and ends. The
 * process that owns the connection writes it, so it exists in every mode: for a command, for `serve`, in the daemon.
 */

import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { ServerSpec } from '../config/entry.ts';
import type { Home } from '../config/home.ts';
import { isPerFolder } from '../config/scopes.ts';
import { canonicalJson } from '../lib/canonical-json.ts';
import { makeFolderSync } from '../lib/make-folder.ts';
import { quickHash } from '../lib/quick-hash.ts';
import { appendRotating } from '../lib/rotating-file.ts';
import { clean } from '../policy/clean.ts';

/** For each of the two files of a log: the current one, and `<file>.1`. */
const MAX_BYTES: number = 512 * 1024;
const MAX_LINE_CHARS = 4_096;
/** Lines that are buffered before they are written; further ones are counted and dropped. */
const MAX_GATHERED = 200;
const GATHER_MS = 100;
/** Files in the log folder; the oldest are deleted. */
const MAX_FILES = 400;
const MAX_NAME_CHARS = 64;
const HASH_CHARS = 8;

/** `stderr`, `plugboard` for lifecycle events, or the level of a log message. */
export type LogKind = string;

export interface LogLine {
  /** ISO 8601. */
  readonly time: string;
  /** Process id of the server; undefined for a remote server. */
  readonly pid?: number;
  readonly kind: LogKind;
  readonly message: string;
}

/** Returns the log file; servers of the same name in different projects have different files. */
export function serverLogFile(home: Home, { name, scope, baseDir }: ServerSpec): string {
  const hash = quickHash(canonicalJson([name, scope, isPerFolder({ scope }) ? baseDir : ''])).slice(
    0,
    HASH_CHARS,
  );
  const plain = name.replace(/[^\w.-]/g, '_').slice(0, MAX_NAME_CHARS);
  return join(home.logs, `${plain}-${hash}.log`);
}

/** Parses a line of a log; undefined if it is not one. */
export function readLogLine(line: string): LogLine | undefined {
  const [, time, pid, kind, message] = LINE.exec(line) ?? [];
  if (time === undefined || kind === undefined || message === undefined) return undefined;
  return { time, ...(pid === '-' ? {} : { pid: Number(pid) }), kind, message };
}

const LINE = /^(\d{4}-\S+Z) (\d+|-) (\S+) (.*)$/;

export class ServerLog {
  readonly #file: string;
  readonly #now: () => number;
  #lines: string[] = [];
  #leftOut = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(file: string, now: () => number) {
    this.#file = file;
    this.#now = now;
  }

  /** Adds a line, which must be redacted already; it is written after a short delay. */
  add(kind: LogKind, pid: number | undefined, message: string): void {
    if (this.#lines.length >= MAX_GATHERED) {
      this.#leftOut += 1;
      return;
    }
    this.#lines.push(this.#line(kind, pid, message));
    this.#timer ??= setTimeout(() => this.flush(), GATHER_MS).unref();
  }

  flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#lines.length === 0) return;
    if (this.#leftOut > 0)
      this.#lines.push(this.#line('plugboard', undefined, `${this.#leftOut} lines were left out`));
    const text = this.#lines.join('');
    this.#lines = [];
    this.#leftOut = 0;
    try {
      if (!existsSync(this.#file)) this.#begin();
      appendRotating(this.#file, text, MAX_BYTES);
    } catch {
      // The home folder is gone, or the disk is full: a failed log must not affect the server.
    }
  }

  #begin(): void {
    const folder = dirname(this.#file);
    makeFolderSync(folder, 0o700);
    // Loaded here, because its file locks would delay the start of a server.
    import('../lib/keep-newest.ts').then(({ keepNewest }) => keepNewest(folder, MAX_FILES)).catch(() => {});
  }

  #line(kind: LogKind, pid: number | undefined, message: string): string {
    const text = clean(message, { multiline: false, max: MAX_LINE_CHARS });
    return `${new Date(this.#now()).toISOString()} ${pid ?? '-'} ${kind} ${text}\n`;
  }
}
