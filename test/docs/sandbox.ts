/** Where the snippets of one page run: a home, an empty project, one shell from the first to the last, servers at hand. */

import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import type { Readable } from 'node:stream';
import { agreed } from './shown.ts';
import { ROOT } from './snippets.ts';

/** The port that pages speak of; each sandbox has another. */
const PAGES_PORT = '7420';
/** How long something in the background may take to print what the page shows. */
const BACKGROUND_MS = 20_000;
const POLL_MS = 20;
/** The longest that one command may take; one that waits for a person or serves for ever is a fault of the page. */
const STEP_MS = 30_000;

/** Programs of other agents, as scripts/install-real-servers.mjs has put them there. */
const REAL_AGENTS = join(ROOT, '.cache', 'real-servers', 'node_modules', '.bin');

export interface Printed {
  readonly status: number;
  readonly text: string;
}

export class Sandbox {
  readonly project: string;
  readonly #dir: string;
  readonly #shell: ChildProcess;
  readonly #port: string;
  #steps = 0;

  private constructor(dir: string, port: string, env: Readonly<Record<string, string>>) {
    this.#dir = dir;
    this.#port = port;
    const home = join(dir, 'home', 'you');
    this.project = join(home, 'project');
    mkdirSync(this.project, { recursive: true });
    mkdirSync(join(dir, 'steps'));
    const bin = join(dir, 'bin');
    mkdirSync(bin);
    symlinkSync(join(ROOT, 'dist', 'bin', 'plugboard.cjs'), join(bin, 'plugboard'));
    for (const name of ['npm', 'npx']) {
      symlinkSync(join(ROOT, 'test', 'fixtures', `docs-${name}.mjs`), join(bin, name));
    }
    this.#shell = spawn('bash', ['--noprofile', '--norc'], {
      cwd: this.project,
      // A group of its own: what is left in the background ends with it.
      detached: true,
      stdio: ['pipe', 'ignore', 'inherit', 'pipe'],
      env: {
        PATH: [bin, dirname(process.execPath), REAL_AGENTS, '/usr/local/bin', '/usr/bin', '/bin'].join(':'),
        HOME: home,
        LANG: 'C.UTF-8',
        NO_COLOR: '1',
        npm_config_update_notifier: 'false',
        PLUGBOARD_CREDENTIALS: 'file',
        FIXTURES: join(ROOT, 'test', 'fixtures'),
        ...env,
      },
    });
  }

  static async open(dir: string, env: Readonly<Record<string, string>> = {}): Promise<Sandbox> {
    mkdirSync(dir, { recursive: true });
    return new Sandbox(dir, await freePort(), env);
  }

  /** Runs lines in the page's shell and gives all that they printed. */
  async run(lines: string): Promise<Printed> {
    const step = join(this.#dir, 'steps', String(++this.#steps));
    writeFileSync(step, lines.replaceAll(PAGES_PORT, this.#port));
    const { stdin, stdio } = this.#shell;
    if (stdin === null) throw new Error('The shell has no stdin.');
    const ended = new Promise<number>((resolve, reject) => {
      // The fourth of the pipes is open for reading, as it was asked for above.
      (stdio[3] as Readable).once('data', (status: Buffer) => resolve(Number(status)));
      const lost = (): void => reject(new Error(`The shell ended in:\n${lines}`));
      if (this.#hasEnded()) lost();
      this.#shell.once('exit', lost);
    });
    const alarm = setTimeout(() => this.#end(), STEP_MS);
    stdin.write(`. ${step} </dev/null >${step}.out 2>&1; echo $? >&3\n`);
    const status = await ended.finally(() => clearTimeout(alarm));
    return { status, text: this.#printedBy(step) };
  }

  /** The same for what goes on in the background: waits until it has printed what is shown, or for long enough. */
  async runOn(lines: string, shown: string): Promise<Printed> {
    const until = Date.now() + BACKGROUND_MS;
    const first = await this.run(lines);
    const step = join(this.#dir, 'steps', String(this.#steps));
    let text = first.text;
    while (agreed(shown, text) !== shown && Date.now() < until) {
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
      text = this.#printedBy(step);
    }
    return { status: first.status, text };
  }

  save(file: string, text: string): string {
    const path = join(this.project, file);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text.replaceAll(PAGES_PORT, this.#port));
    return path;
  }

  async close(): Promise<void> {
    if (this.#hasEnded()) return;
    await this.run('[ ! -d ~/.config/plugboard/run ] || plugboard daemon stop');
    const ended = new Promise((resolve) => this.#shell.once('exit', resolve));
    this.#end();
    await ended;
  }

  #hasEnded(): boolean {
    return this.#shell.exitCode !== null || this.#shell.signalCode !== null;
  }

  #end(): void {
    if (this.#shell.pid !== undefined) process.kill(-this.#shell.pid, 'SIGKILL');
  }

  #printedBy(step: string): string {
    return readFileSync(`${step}.out`, 'utf8').replaceAll(this.#dir, '').replaceAll(this.#port, PAGES_PORT);
  }
}

async function freePort(): Promise<string> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (address === null || typeof address === 'string') throw new Error('There is no port.');
  return String(address.port);
}
