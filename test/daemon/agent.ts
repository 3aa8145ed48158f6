/** A real `plugboard serve --stdio`, as an agent starts it, and the agent's side of the conversation. */

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { DaemonWorld } from '../world/daemon-world.ts';

type Message = Record<string, unknown>;

export interface Question {
  readonly method: string;
  readonly params: Message;
  answer(result: unknown): void;
}

export class Agent {
  readonly child: ChildProcess;
  readonly notifications: Message[] = [];
  readonly exited: Promise<unknown[]>;
  readonly #pending = new Map<unknown, (message: Message) => void>();
  readonly #questions: Question[] = [];
  readonly #wakers = new Set<() => void>();
  #nextId = 1;

  /** Its stderr, where that is kept. */
  said = '';

  constructor(
    world: Pick<DaemonWorld, 'project'>,
    command: readonly string[],
    env: NodeJS.ProcessEnv,
    keepStderr = false,
  ) {
    const [program = '', ...args] = command;
    const stderr = keepStderr ? 'pipe' : 'inherit';
    this.child = spawn(program, args, { cwd: world.project, env, stdio: ['pipe', 'pipe', stderr] });
    this.child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.said += text;
    });
    this.exited = once(this.child, 'close');
    if (this.child.stdout === null) throw new Error('no stdout');
    createInterface({ input: this.child.stdout }).on('line', (line) => this.#received(JSON.parse(line)));
  }

  async open(capabilities: Message = {}): Promise<this> {
    const clientInfo = { name: 'agent', version: '1' };
    await this.request('initialize', { protocolVersion: '2025-11-25', capabilities, clientInfo });
    this.send({ method: 'notifications/initialized' });
    return this;
  }

  /** The result; an error of the protocol rejects with its error object. */
  async request(method: string, params: Message = {}): Promise<Message> {
    const answer = await this.answerTo(method, params);
    if (answer['error'] !== undefined) throw answer['error'];
    return answer['result'] as Message;
  }

  answerTo(method: string, params: Message): Promise<Message> {
    const id = this.#nextId++;
    return new Promise((resolve) => {
      this.#pending.set(id, resolve);
      this.send({ id, method, params });
    });
  }

  /** What a tool of the server called `s` says. */
  async call(tool: string, args: Message = {}, server = 's'): Promise<string> {
    const result = await this.request('tools/call', { name: `${server}__${tool}`, arguments: args });
    return (result['content'] as { text: string }[])[0]?.text ?? '';
  }

  /** The next question that the agent's person is asked. */
  async question(): Promise<Question> {
    for (;;) {
      const question = this.#questions.shift();
      if (question !== undefined) return question;
      await new Promise<void>((resolve) => this.#wakers.add(resolve));
    }
  }

  get unanswered(): number {
    return this.#questions.length;
  }

  async heard(method: string): Promise<Message> {
    for (;;) {
      const found = this.notifications.find((message) => message['method'] === method);
      if (found !== undefined) return found;
      await new Promise<void>((resolve) => this.#wakers.add(resolve));
    }
  }

  send(message: Message): void {
    this.child.stdin?.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  }

  /** Closes its side, as an agent that ends does; answers with the exit status. */
  async leave(): Promise<unknown> {
    this.child.stdin?.end();
    return (await this.exited)[0];
  }

  #received(message: Message): void {
    const { id, method } = message;
    if (typeof method !== 'string') this.#pending.get(id)?.(message);
    else if (id === undefined) this.notifications.push(message);
    else {
      this.#questions.push({
        method,
        params: message['params'] as Message,
        answer: (result) => this.send({ id, result }),
      });
    }
    for (const wake of this.#wakers) wake();
    this.#wakers.clear();
  }
}
