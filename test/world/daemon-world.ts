/** A home and a project of a test's own, agents in it, and a look at the processes that they have caused. */

import { execFile, spawn } from 'node:child_process';
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { DaemonReport } from '../../src/daemon/protocol/daemon-messages.ts';
import { Agent } from '../daemon/agent.ts';
import { environmentOf, processes } from './processes.ts';

const exec = promisify(execFile);
const COMMAND = fileURLToPath(new URL('../../dist/bin/plugboard.cjs', import.meta.url));
const BUILD = fileURLToPath(new URL('../../dist', import.meta.url));
const SERVER = fileURLToPath(new URL('../fixtures/daemon-server.mjs', import.meta.url));

export interface AgentOptions {
  readonly words?: readonly string[];
  readonly env?: NodeJS.ProcessEnv;
  /** Another build of the command. */
  readonly program?: string;
  /** Whether its stderr is kept. */
  readonly stderr?: boolean;
}

export class DaemonWorld {
  readonly home: string;
  readonly project: string;
  readonly agents: Agent[] = [];

  constructor(prefix = 'plugboard-daemon-') {
    const root = realpathSync(mkdtempSync(join(tmpdir(), prefix)));
    this.home = join(root, 'home');
    this.project = join(root, 'project');
    mkdirSync(this.home);
    mkdirSync(join(this.project, '.git'), { recursive: true });
  }

  get env(): NodeJS.ProcessEnv {
    const { PLUGBOARD_DAEMON: _asked, ...env } = process.env;
    return { ...env, PLUGBOARD_HOME: this.home, PLUGBOARD_CREDENTIALS: 'file' };
  }

  /** One that says who it is; every process of it carries the home in its command line. */
  server(more: object = {}, ...words: string[]): object {
    return { command: process.execPath, args: [SERVER, this.home, ...words], ...more };
  }

  configure(mcpServers: object, more: object = {}): void {
    writeFileSync(join(this.home, 'config.json'), JSON.stringify({ ...more, mcpServers }));
  }

  agent(options: AgentOptions = {}): Agent {
    const command = [
      process.execPath,
      options.program ?? COMMAND,
      'serve',
      ...(options.words ?? ['--stdio']),
    ];
    const agent = new Agent(this, command, { ...this.env, ...options.env }, options.stderr);
    this.agents.push(agent);
    return agent;
  }

  /** What a command prints with `--json`. */
  async command<T>(...words: string[]): Promise<T> {
    const { stdout } = await this.run(['--json', ...words]);
    return JSON.parse(stdout);
  }

  run(
    words: readonly string[],
    env: NodeJS.ProcessEnv = {},
    program: string = COMMAND,
  ): Promise<{ stdout: string; stderr: string }> {
    return exec(process.execPath, [program, ...words], { cwd: this.project, env: { ...this.env, ...env } });
  }

  /** A command of which nothing is waited for. */
  start(...words: string[]): ReturnType<typeof spawn> {
    return spawn(process.execPath, [COMMAND, ...words], { cwd: this.project, env: this.env });
  }

  /** The same command as another build of it. */
  otherBuild(): string {
    const folder = join(this.home, '..', 'other');
    cpSync(BUILD, join(folder, 'dist'), { recursive: true });
    cpSync(join(BUILD, '..', 'package.json'), join(folder, 'package.json'));
    symlinkSync(join(BUILD, '..', 'node_modules'), join(folder, 'node_modules'));
    return join(folder, 'dist', 'bin', 'plugboard.cjs');
  }

  async daemons(): Promise<readonly DaemonReport[]> {
    return (await this.command<{ daemons: DaemonReport[] }>('daemon', 'status')).daemons;
  }

  /** The pid of the only daemon. */
  async daemon(): Promise<number> {
    const [daemon, ...others] = await this.daemons();
    if (daemon === undefined || others.length > 0) throw new Error(`${others.length + 1} daemons`);
    return daemon.pid;
  }

  /** Processes of the servers of this world. */
  servers(): number[] {
    return processes((words) => words.includes(SERVER) && words.includes(this.home));
  }

  /** Daemons of this world, whether or not they can be found by their clients. */
  daemonProcesses(): number[] {
    return processes((words, pid) => {
      const isDaemon = words.some((word) => /plugboard daemon|daemon\.cjs$/.test(word));
      return isDaemon && environmentOf(pid).includes(`PLUGBOARD_HOME=${this.home}`);
    });
  }

  log(): string {
    return readFileSync(join(this.home, 'run', 'daemon.log'), 'utf8');
  }

  async close(): Promise<void> {
    for (const { child } of this.agents) if (child.exitCode === null) child.kill('SIGKILL');
    await Promise.all(this.agents.map(({ exited }) => exited));
    await this.command('daemon', 'stop');
    rmSync(join(this.home, '..'), { recursive: true, force: true });
  }
}
