/** Kills durable programs at random points, lets another process continue them, and counts what their calls did. */

import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { built, SERVER } from './programs-world.ts';

const RUNNER = fileURLToPath(new URL('../fixtures/programs-runner.mjs', import.meta.url));
const FROZEN = '.frozen';

export interface Survival {
  /** Programs that were killed before they ended, and continued. */
  readonly continued: number;
  /** Programs that could not be continued. */
  readonly lost: number;
  /** Lines that were written twice. */
  readonly repeated: number;
  /** Calls that were in flight and reported to their program as failed. */
  readonly inFlight: number;
}

/** Writes in parallel and in a row, with lines that are different in each run. */
function program(file: string): string {
  return `
    const file = ${JSON.stringify(file)};
    const run = Math.random().toString(36).slice(2);
    let failed = 0;
    const write = (line) => tools.demo.write({ file, line: run + ' ' + line }).catch(() => { failed += 1; });
    for (let at = 0; at < 4; at += 1) {
      await Promise.all([0, 1, 2].map((n) => write('p' + at + '.' + n)));
      await write('s' + at);
    }
    return { failed, run };`;
}

/** Runs one program in a process that is killed after `lines` lines of its output. */
async function killedAfter(lines: number, home: string, code: string): Promise<void> {
  const child = spawn(process.execPath, [RUNNER, home, JSON.stringify(code)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let seen = 0;
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    seen += text.split('\n').length - 1;
    if (seen >= lines) child.kill('SIGKILL');
  });
  await new Promise((resolve) => child.once('close', resolve));
}

/** One line for the program, and one for each of its sixteen calls. */
const MAX_LINES = 17;

export async function survive(programs: number, random: () => number): Promise<Survival> {
  const { createHost } = await built();
  let [continued, lost, repeated, inFlight] = [0, 0, 0, 0];
  for (let at = 0; at < programs; at += 1) {
    const home = mkdtempSync(join(tmpdir(), 'plugboard-killed-'));
    const file = join(home, 'lines');
    try {
      await killedAfter(2 + Math.floor(random() * (MAX_LINES - 2)), home, program(file));
      const folder = join(home, 'programs');
      const [name] = existsSync(folder) ? readdirSync(folder).filter((each) => each.endsWith(FROZEN)) : [];
      if (name !== undefined) {
        const host = await createHost({
          home,
          cwd: home,
          configuration: false,
          codeMode: { durable: true },
          servers: { demo: { command: process.execPath, args: [SERVER], approval: 'approve' } },
        });
        try {
          await host.ready();
          const { content } = await host.call('run', { resume: name.slice(0, -FROZEN.length) });
          const [first] = content;
          const { failed } = JSON.parse(first?.type === 'text' ? first.text : '{}') as {
            readonly failed: number;
          };
          continued += 1;
          inFlight += failed;
        } catch {
          lost += 1;
        } finally {
          await host.close();
        }
      }
      const lines = existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : [];
      repeated += lines.length - new Set(lines).size;
    } finally {
      rmSync(home, { recursive: true, force: true });
    }
  }
  return { continued, lost, repeated, inFlight };
}
