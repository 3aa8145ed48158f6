/** Runs the real command from dist/ in folders of its own, as a person would type it. */

import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { constants, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { removeHome } from '../remove-home.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const { bin } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
  bin: { plugboard: string };
};

export const COMMAND: string = join(ROOT, bin.plugboard);
export const FIXTURES: string = join(ROOT, 'test', 'fixtures');

export interface Ended {
  /** Exit status; for a process that a signal ended, what a shell would say. */
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Extra {
  readonly input?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
}

/** A home and a project of one test. Their paths appear as `<home>` and `<project>` in what is printed. */
export class Place {
  readonly dir: string = realpathSync(mkdtempSync(join(tmpdir(), 'plugboard-cli-')));
  readonly home: string = join(this.dir, 'home');
  readonly project: string = join(this.dir, 'project');
  readonly userFile: string = join(this.home, 'config.json');
  readonly projectFile: string = join(this.project, '.mcp.json');

  constructor() {
    mkdirSync(join(this.project, '.git'), { recursive: true });
  }

  write(file: string, content: unknown): void {
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content, null, 2));
  }

  read(file: string): unknown {
    return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : undefined;
  }

  async run(args: readonly string[], extra: Extra = {}): Promise<Ended> {
    const { ended } = this.start(args, extra);
    return ended;
  }

  /** The one JSON document that stdout must be. */
  async json(args: readonly string[], extra: Extra = {}): Promise<{ status: number | null; value: unknown }> {
    const { status, stdout, stderr } = await this.run(['--json', ...args], extra);
    try {
      return { status, value: JSON.parse(stdout) };
    } catch (cause) {
      throw new Error(`stdout is not one JSON document:\n${stdout}\nstderr:\n${stderr}`, { cause });
    }
  }

  start(
    args: readonly string[],
    extra: Extra = {},
  ): { child: ReturnType<typeof spawn>; ended: Promise<Ended> } {
    const { NODE_EXTRA_CA_CERTS: _, NO_COLOR: __, CI: ___, ...inherited } = process.env;
    const child = spawn(process.execPath, [COMMAND, ...args], {
      cwd: extra.cwd ?? this.project,
      env: { ...inherited, PLUGBOARD_HOME: this.home, PLUGBOARD_CREDENTIALS: 'file', ...extra.env },
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    let stdout = '';
    let stderr = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      stdout += text;
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      stderr += text;
    });
    child.stdin.on('error', () => {});
    child.stdin.end(extra.input ?? '');
    const ended = new Promise<Ended>((resolve, reject) => {
      child.once('error', reject);
      child.once('close', (code, signal) => {
        const status = signal === null ? code : 128 + constants.signals[signal];
        resolve({ status, stdout: this.placeless(stdout), stderr: this.placeless(stderr) });
      });
    });
    return { child, ended };
  }

  placeless(text: string): string {
    return text.replaceAll(this.home, '<home>').replaceAll(this.project, '<project>');
  }

  remove(): void {
    removeHome(this.dir);
  }
}
