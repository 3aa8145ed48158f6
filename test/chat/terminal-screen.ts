/** A real terminal for a test: tmux, on a server of its own. */

import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'vitest';
import { until } from '../world/until.ts';

const run = promisify(execFile);

let opened = 0;

/** True while a process belongs to the session that this one leads. */
function isSession(leader: string): boolean {
  return readdirSync('/proc').some((pid) => {
    if (!/^\d+$/.test(pid)) return false;
    try {
      // After the name in parentheses: state, parent, group, session.
      const [state, , , session] = (readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1) ?? '').split(
        ' ',
      );
      return session === leader && state !== 'Z';
    } catch {
      return false;
    }
  });
}

export interface Size {
  readonly columns: number;
  readonly rows: number;
}

interface TerminalOptions {
  readonly env: Readonly<Record<string, string>>;
  readonly size?: Size;
}

export class TerminalScreen {
  readonly #socket: string;

  private constructor(socket: string) {
    this.#socket = socket;
  }

  /** Runs a shell command in a terminal, of 100 × 40 unless a size is given. */
  static async open(
    dir: string,
    command: string,
    { env, size = { columns: 100, rows: 40 } }: TerminalOptions,
  ): Promise<TerminalScreen> {
    // A server of its own for each: the one before may still be ending.
    opened += 1;
    const screen = new TerminalScreen(join(dir, `tmux${opened}`));
    const { TMUX: _, NO_COLOR: __, CI: ___, ...inherited } = process.env;
    const args = [
      '-S',
      screen.#socket,
      '-f',
      '/dev/null',
      'new-session',
      '-d',
      '-x',
      String(size.columns),
      '-y',
      String(size.rows),
      command,
    ];
    await run('tmux', args, { cwd: dir, env: { ...inherited, ...env } });
    return screen;
  }

  async type(text: string): Promise<void> {
    await this.#tmux('send-keys', '-l', text);
  }

  /** A key by tmux's name for it: Enter, C-c, Tab, Down. */
  async press(...keys: readonly string[]): Promise<void> {
    await this.#tmux('send-keys', ...keys);
  }

  async text(): Promise<string> {
    return (await this.#tmux('capture-pane', '-p', '-S', '-200')).replace(/\s+$/, '');
  }

  /** The rows that can be seen now, without the scrollback. */
  async visible(): Promise<string> {
    return (await this.#tmux('capture-pane', '-p')).replace(/\s+$/, '');
  }

  /** Lines that have left the screen at the top. */
  async historySize(): Promise<number> {
    return Number(await this.#tmux('display-message', '-p', '#{history_size}'));
  }

  async resize({ columns, rows }: Size): Promise<void> {
    await this.#tmux('resize-window', '-x', String(columns), '-y', String(rows));
  }

  /** Waits until the screen shows it. */
  async shows(what: string | RegExp): Promise<void> {
    const matching = typeof what === 'string' ? expect.stringContaining(what) : expect.stringMatching(what);
    await expect.poll(() => this.text()).toEqual(matching);
  }

  /** Waits until the person can type: what is pressed before belongs to the turn that runs. */
  async isWaiting(): Promise<void> {
    await this.shows(/›$/);
  }

  /** Resolves when every program in it has ended: one that ends may still write into its home. */
  async close(): Promise<void> {
    // It ends by itself when the last program in it has ended.
    const leader = await this.#tmux('display-message', '-p', '#{pane_pid}').catch(() => '');
    await this.#tmux('kill-server').catch(() => {});
    if (leader !== '') await until('the end of the programs in a terminal', () => !isSession(leader.trim()));
  }

  async #tmux(...args: readonly string[]): Promise<string> {
    return (await run('tmux', ['-S', this.#socket, ...args])).stdout;
  }
}
