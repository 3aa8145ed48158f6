/** Sums up the audit log: calls and sizes of results by server and tool. */

import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import { getOrMake } from '../lib/get-or-make.ts';
import { parseRecord } from '../lib/json.ts';

/** Rotated files that the log keeps. */
const OLD_FILES = 5;

export interface ToolUsage {
  calls: number;
  /** Of the text of results. */
  chars: number;
  /** When it was last called, in milliseconds since the epoch. */
  lastAt: number;
}

export interface AuditUsage {
  /** By server, then by tool. */
  readonly servers: ReadonlyMap<string, ReadonlyMap<string, ToolUsage>>;
  /** When the oldest call of the log was made; undefined for an empty log. */
  readonly since: number | undefined;
}

/** Reads the log with its rotated files; calls before `from` are not counted. */
export async function readUsage(file: string, from: number): Promise<AuditUsage> {
  const servers = new Map<string, Map<string, ToolUsage>>();
  let since: number | undefined;
  for (let age = OLD_FILES; age >= 0; age -= 1) {
    for await (const line of linesOf(age === 0 ? file : `${file}.${age}`)) {
      const { time, server, tool, bytes } = parseRecord(line) ?? {};
      const at = typeof time === 'string' ? Date.parse(time) : Number.NaN;
      if (Number.isNaN(at) || typeof server !== 'string' || typeof tool !== 'string') continue;
      since = since === undefined ? at : Math.min(since, at);
      if (at < from) continue;
      const tools = getOrMake(servers, server, () => new Map<string, ToolUsage>());
      const usage = getOrMake(tools, tool, () => ({ calls: 0, chars: 0, lastAt: 0 }));
      usage.calls += 1;
      usage.chars += typeof bytes === 'number' ? bytes : 0;
      usage.lastAt = Math.max(usage.lastAt, at);
    }
  }
  return { servers, since };
}

async function* linesOf(file: string): AsyncGenerator<string> {
  const stream = createReadStream(file, 'utf8');
  try {
    yield* createInterface({ input: stream, crlfDelay: Number.POSITIVE_INFINITY });
  } catch {
    // It does not exist, or was rotated away.
  } finally {
    stream.destroy();
  }
}
