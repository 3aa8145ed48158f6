/** Runs agents that were bundled from `test/fixtures/bundled-agent.mjs`, next to a stdio server and a remote one. */

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { isRunning } from '../world/processes.ts';

export const AGENT: string = fixture('bundled-agent.mjs');
/** The stdio server. */
export const ECHO: string = fixture('echo.mjs');

/** What the agent prints. */
export interface Said {
  readonly local: string;
  readonly remote: string;
  readonly refused: readonly [boolean, string];
  readonly found: readonly string[];
  readonly declared: number;
  readonly pid: number;
  readonly log: readonly string[];
  /** A file that the workspace server read, in agents that have one. */
  readonly workspace?: string;
}

/** In what the workspace server answers. */
export const NOTE: RegExp = /a note/;

/** As an agent that was not bundled answers. */
export const ANSWERS: Omit<Said, 'pid' | 'log'> = {
  local: 'by a process',
  remote: 'by an address',
  refused: [true, 'INVALID_ARGUMENTS'],
  found: ['add'],
  declared: 10,
};

export class Place {
  readonly folder: string = realpathSync(mkdtempSync(join(tmpdir(), 'plugboard-bundle-')));
  readonly #children: ChildProcess[] = [];
  readonly #url: Promise<string>;
  #homes = 0;

  constructor() {
    this.#url = firstLine(this.start(process.execPath, [fixture('echo-http.mjs')], process.env));
  }

  path(name: string): string {
    return join(this.folder, name);
  }

  /** An empty home for one agent. */
  home(): string {
    this.#homes += 1;
    const home = this.path(`home-${this.#homes}`);
    mkdirSync(home);
    return home;
  }

  /** Of the remote server. */
  url(): Promise<string> {
    return this.#url;
  }

  /** The agent's answers; it keeps running. */
  async run(
    command: string,
    args: readonly string[],
    env: NodeJS.ProcessEnv = {},
  ): Promise<{ readonly said: Said; readonly agent: ChildProcess }> {
    const given = [process.execPath, ECHO, await this.url(), this.home()];
    const agent = this.start(command, [...args, ...given], { ...process.env, ...env });
    return { said: JSON.parse(await firstLine(agent)) as Said, agent };
  }

  /** Kills an agent and resolves when its server is gone too. */
  async killed({ said, agent }: { readonly said: Said; readonly agent: ChildProcess }): Promise<void> {
    agent.kill('SIGKILL');
    await once(agent, 'exit');
    while (isRunning(said.pid)) await new Promise((resolve) => setTimeout(resolve, 20));
  }

  close(): void {
    for (const child of this.#children) child.kill('SIGKILL');
    rmSync(this.folder, { recursive: true, force: true });
  }

  /** A program that ends with this place. */
  start(command: string, args: readonly string[], env: NodeJS.ProcessEnv): ChildProcess {
    const child = spawn(command, args, { cwd: this.folder, env, stdio: ['ignore', 'pipe', 'inherit'] });
    this.#children.push(child);
    return child;
  }
}

async function firstLine(child: ChildProcess): Promise<string> {
  if (child.stdout === null) throw new Error('no output to read');
  for await (const line of createInterface(child.stdout)) return line;
  throw new Error('ended without a line');
}

export function fixture(name: string): string {
  return fileURLToPath(new URL(`../fixtures/${name}`, import.meta.url));
}
