/** One temporary folder for everything that a run of the tests writes: removed at the end, whatever a test left. */

import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

let outer: string | undefined;
let folder: string | undefined;

/** Short: the sockets of daemons are below it, and their paths have at most 108 bytes. */
export function setup(): void {
  outer = tmpdir();
  folder = mkdtempSync(join(outer, 'pb-'));
  // Tests of permissions run programs as another user, which has to reach what they are given.
  chmodSync(folder, 0o755);
  process.env.TMPDIR = folder;
}

export function teardown(): void {
  process.env.TMPDIR = outer;
  if (folder !== undefined) rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
}
