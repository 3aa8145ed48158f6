/** A real terminal for a test: tmux, on a server of its own. */

import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'vitest';

const run = promisify(execFile);
const WAIT_MS = 20_000;

export class TerminalScreen {
  readonly #socket: string;

  private constructor(socket: string) {
    this.#socket = socket;
  }

  /** Runs a shell command in a terminal of 100 × 40. */
  static async open(
    dir: string,
    command: string,
    env: Readonly<Record<string, string>>,
  ): Promise<TerminalScreen> {
    const screen = new TerminalScreen(join(dir, 'tmux'));
    const { TMUX: _, NO_COLOR: __, CI: ___, ...inherited } = process.env;
    const args = [
      '-S',
      screen.#socket,
      '-f',
      '/dev/null',
      'new-session',
      '-d',
      '-x',
      '100',
      '-y',
      '40',
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

  /** Waits until the screen shows it. */
  async shows(what: string | RegExp): Promise<void> {
    const matching = typeof what === 'string' ? expect.stringContaining(what) : expect.stringMatching(what);
    await expect.poll(() => this.text(), { timeout: WAIT_MS }).toEqual(matching);
  }

  /** Waits until the person can type: what is pressed before belongs to the turn that runs. */
  async isWaiting(): Promise<void> {
    await this.shows(/›$/);
  }

  async close(): Promise<void> {
    // It ends by itself when the last program in it has ended.
    await this.#tmux('kill-server').catch(() => {});
  }

  async #tmux(...args: readonly string[]): Promise<string> {
    return (await run('tmux', ['-S', this.#socket, ...args])).stdout;
  }
}
