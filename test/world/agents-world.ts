/** One person's machine: a home with three agents and Plugboard in it, a project, servers, and every process of them. */

import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { type AgentRun, RealAgent, type Step, type Turn } from '../agents/agent.ts';
import { type AgentId, PROGRAMS, type ServerEntry } from '../agents/programs.ts';

import { browse } from './login-world.ts';
import { environmentOf, processes } from './processes.ts';
import { until } from './until.ts';

const exec = promisify(execFile);
const at = (path: string): string => fileURLToPath(new URL(path, import.meta.url));
const ROOT = at('../..');
const FIXTURES = at('../fixtures');

/** Tools of `AgentsWorld.server`. */
export const SERVER_TOOLS: readonly string[] = [
  'pid',
  'env',
  'wait',
  'ask',
  'sample',
  'roots',
  'log',
  'echo',
  'fail',
  'crash',
  'steps',
  'grow',
  'touch',
];

/** Tools of `AgentsWorld.httpServer`. */
export const ECHO_TOOLS: readonly string[] = ['echo', 'add', 'fail', 'wait', 'crash'];

/** Agents take a while to start, on a machine that does other things too. */
export const AGENT_MS = 180_000;

export class AgentsWorld {
  readonly root: string = realpathSync(mkdtempSync(join(tmpdir(), 'pb-agents-')));
  readonly userHome: string = join(this.root, 'user');
  readonly project: string = join(this.root, 'project');
  readonly agents: readonly RealAgent[];
  readonly #started: ChildProcess[] = [];
  #command: string = join(ROOT, 'dist', 'bin', 'plugboard.cjs');

  private constructor(agents: readonly RealAgent[]) {
    this.agents = agents;
    for (const folder of [this.plugboardHome, join(this.project, '.git'), join(this.root, 'tmp')])
      mkdirSync(folder, { recursive: true });
  }

  /** Agents that know their model and have these servers configured. */
  static async create(servers: Readonly<Record<string, ServerEntry>> = {}): Promise<AgentsWorld> {
    const world = new AgentsWorld(await Promise.all(PROGRAMS.map(RealAgent.create)));
    world.configureAgents(servers);
    return world;
  }

  get plugboardHome(): string {
    return join(this.userHome, '.config', 'plugboard');
  }

  /** The person's shell, from which the agents and the command are started. */
  get env(): Record<string, string> {
    return {
      HOME: this.userHome,
      USER: 'ann',
      SHELL: '/bin/sh',
      LANG: 'C.UTF-8',
      TERM: 'xterm',
      PATH: process.env['PATH'] ?? '',
      // Codex refuses to put its programs below the system's own temporary folder.
      TMPDIR: join(this.root, 'tmp'),
    };
  }

  agent(id: AgentId): RealAgent {
    const found = this.agents.find((agent) => agent.id === id);
    if (found === undefined) throw new Error(`no agent ${id}`);
    return found;
  }

  /** Writes every agent's configuration; unless patient, agents wait for servers as they do by default. */
  configureAgents(servers: Readonly<Record<string, ServerEntry>>, isPatient = true): void {
    for (const { id } of this.agents) this.configureAgent(id, servers, isPatient);
  }

  /** Writes one agent's configuration. */
  configureAgent(id: AgentId, servers: Readonly<Record<string, ServerEntry>>, isPatient = true): void {
    const agent = this.agent(id);
    const { program, model } = agent;
    agent.isPatient = isPatient;
    const file = join(this.userHome, program.file);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, program.configuration(model.url, servers, isPatient));
  }

  /** Plugboard's own configuration of this person. */
  configure(mcpServers: Readonly<Record<string, object>>, more: object = {}): void {
    writeFileSync(join(this.plugboardHome, 'config.json'), JSON.stringify({ ...more, mcpServers }, null, 2));
  }

  /** A server that reports which process it is; its processes carry the name in their command line. */
  server(name: string, ...args: string[]): { command: string; args: string[] } {
    return this.fixture('daemon-server.mjs', this.#mark(name), ...args);
  }

  fixture(file: string, ...args: string[]): { command: string; args: string[] } {
    return { command: process.execPath, args: [join(FIXTURES, file), ...args] };
  }

  /** A server over HTTP that runs for as long as the world. */
  async httpServer(): Promise<{ url: string }> {
    const child = spawn(process.execPath, [join(FIXTURES, 'echo-http.mjs')], {
      env: this.env,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    this.#started.push(child);
    const [line] = await once(child.stdout, 'data');
    return { url: String(line).trim() };
  }

  /** Starts `serve --http`, which runs for as long as the world; resolves to its address. */
  async serveHttp(): Promise<string> {
    const child = spawn(process.execPath, [this.#command, 'serve', '--http', '0'], {
      cwd: this.project,
      env: this.env,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.#started.push(child);
    let printed = '';
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text: string) => {
        printed += text;
      });
    const isReady = (): boolean => printed.includes('Press Ctrl-C to stop.');
    await until('serve is ready', () => isReady() || child.exitCode !== null);
    const [, url] = /Serving at (\S+)/.exec(printed) ?? [];
    if (!isReady() || url === undefined) throw new Error(`serve --http prints no address:\n${printed}`);
    return url;
  }

  /** Adds a named token for a client of `serve --http`. */
  async addToken(name: string, profile: string): Promise<string> {
    const added = await this.plugboardJson<{ token: string }>('token', 'add', name, '--profile', profile);
    return added.token;
  }

  /** Processes of one server of this world. */
  serverProcesses(name: string): number[] {
    return processes((args) => args.includes(this.#mark(name)));
  }

  /** Starts every agent in the project, at the same time. */
  startAgents(stepsOf: (id: AgentId) => readonly Step[]): readonly AgentRun[] {
    return this.agents.map((agent) => agent.start(stepsOf(agent.id), { cwd: this.project, env: this.env }));
  }

  /** The model's turns of every agent, once all have ended. */
  async turnsOf(runs: readonly AgentRun[]): Promise<Record<string, readonly Turn[]>> {
    const all = await Promise.allSettled(runs.map(({ ended }) => ended));
    const failed = all.flatMap((run) => (run.status === 'rejected' ? [String(run.reason)] : []));
    if (failed.length > 0) throw new Error(failed.join('\n'));
    return Object.fromEntries(runs.map(({ agent, turns }) => [agent.id, turns]));
  }

  /** Resolves with the event; rejects when an agent ends before. */
  async reached<T>(event: Promise<T>, runs: readonly AgentRun[]): Promise<T> {
    const early = runs.map(async ({ agent, ended }): Promise<never> => {
      await ended;
      throw new Error(`${agent.id} ended early`);
    });
    return Promise.race([event, ...early]);
  }

  /** One value for every agent. */
  perAgent<T>(value: (id: AgentId) => T): Record<string, T> {
    return Object.fromEntries(this.agents.map(({ id }) => [id, value(id)]));
  }

  /** Moves in with all agents; resolves to the address of the page that is printed at the end. */
  async moveIn(): Promise<string> {
    const printed = await this.plugboard(['up', '--yes']);
    const [page] = /http:\S+#token=\S+/.exec(printed) ?? [];
    if (page === undefined) throw new Error(`up prints no address of the page:\n${printed}`);
    return page;
  }

  /** Logs in to a server, with a browser that follows the redirect. */
  async logIn(server: string): Promise<void> {
    const child = spawn(process.execPath, [this.#command, 'login', server, '--no-browser'], {
      cwd: this.project,
      env: this.env,
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    this.#started.push(child);
    const ended = once(child, 'close');
    let printed = '';
    let isOpen = false;
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      printed += text;
      const address = /(http:\S+)\s*\n\n/.exec(printed)?.[1];
      if (address === undefined || isOpen) return;
      isOpen = true;
      void browse(address);
    });
    const [status] = await ended;
    if (status !== 0) throw new Error(`login ended with ${status}:\n${printed}`);
  }

  /** Runs the command as the person would type it. */
  async plugboard(args: readonly string[]): Promise<string> {
    const { stdout } = await exec(process.execPath, [this.#command, ...args], {
      cwd: this.project,
      env: this.env,
    });
    return stdout;
  }

  async plugboardJson<T>(...args: string[]): Promise<T> {
    return JSON.parse(await this.plugboard(['--json', ...args])) as T;
  }

  /** What `daemon status` prints for people. */
  daemonStatus(): Promise<string> {
    return this.plugboard(['daemon', 'status']);
  }

  /** Process ids of the daemons that the command knows. */
  async daemons(): Promise<readonly number[]> {
    const { daemons } = await this.plugboardJson<{ daemons: readonly { pid: number }[] }>('daemon', 'status');
    return daemons.map(({ pid }) => pid);
  }

  /** Installs the command into the world, as npm does; again: replaces it under everything that runs. */
  install(): void {
    const folder = join(this.root, 'installed');
    rmSync(folder, { recursive: true, force: true });
    for (const name of ['dist', 'assets', 'schemas', 'package.json'])
      cpSync(join(ROOT, name), join(folder, name), { recursive: true });
    symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
    this.#command = join(folder, 'dist', 'bin', 'plugboard.cjs');
  }

  /** Ends everything; rejects if a process is left. */
  async close(): Promise<void> {
    await Promise.all(this.agents.map((agent) => agent.close()));
    await this.plugboard(['daemon', 'stop']);
    for (const child of this.#started) child.kill('SIGTERM');
    try {
      await until('no process of this world is left', () => this.processes().length === 0);
    } finally {
      for (const pid of this.processes()) process.kill(pid, 'SIGKILL');
      rmSync(this.root, { recursive: true, force: true });
    }
  }

  #mark(name: string): string {
    return join(this.root, 'servers', name);
  }

  /** Every process of this world: agents, servers, Plugboard. */
  processes(): number[] {
    const isOurs = (text: string): boolean => text.includes(this.root);
    return processes((args, pid) => args.some(isOurs) || environmentOf(pid).some(isOurs));
  }
}
