/** A client that believes everybody: each attack is first shown to work on it, so that its failure means something. */

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

export const FIXTURE: (name: string) => string = (name) =>
  fileURLToPath(new URL(`../fixtures/${name}`, import.meta.url));

export interface NaiveEntry {
  readonly command: string;
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

export interface NaiveTool {
  readonly name: string;
  readonly description?: string;
  readonly annotations?: Readonly<Record<string, unknown>>;
}

/** What many clients did: everything in the project's file is started at once, with all of our environment. */
export async function naiveOpen(
  project: string,
  env: NodeJS.ProcessEnv = process.env,
): Promise<NaiveServer[]> {
  const { mcpServers } = JSON.parse(readFileSync(join(project, '.mcp.json'), 'utf8')) as {
    mcpServers: Record<string, NaiveEntry>;
  };
  return Promise.all(Object.values(mcpServers).map((entry) => naiveServer(entry, env)));
}

export async function naiveServer(
  entry: NaiveEntry,
  env: NodeJS.ProcessEnv = process.env,
  answer?: Answer,
): Promise<NaiveServer> {
  const server = new NaiveServer(entry, env, answer);
  await server.request('initialize', {
    protocolVersion: '2025-06-18',
    capabilities: answer === undefined ? {} : { elicitation: { form: {}, url: {} } },
    clientInfo: { name: 'naive', version: '1' },
  });
  return server;
}

/** What the client says to a question of the server. */
export type Answer = (method: string, params: Readonly<Record<string, unknown>>) => unknown;

export class NaiveServer {
  readonly #child: ChildProcess;
  readonly #answers = new Map<number, (result: unknown) => void>();
  #id = 0;

  constructor({ command, args = [], env: own }: NaiveEntry, env: NodeJS.ProcessEnv, answer?: Answer) {
    this.#child = spawn(command, [...args], { env: { ...env, ...own }, stdio: ['pipe', 'pipe', 'inherit'] });
    const output = this.#child.stdout;
    if (output === null) throw new Error('the child has no output');
    createInterface(output).on('line', (line) => {
      const { id, method, params, result } = JSON.parse(line) as {
        id: number;
        method?: string;
        params?: Record<string, unknown>;
        result: unknown;
      };
      if (method === undefined) this.#answers.get(id)?.(result);
      else if (answer !== undefined && id !== undefined)
        this.#send({ jsonrpc: '2.0', id, result: answer(method, params ?? {}) });
    });
  }

  request(method: string, params: object): Promise<unknown> {
    const id = ++this.#id;
    this.#send({ jsonrpc: '2.0', id, method, params });
    return new Promise((resolve) => this.#answers.set(id, resolve));
  }

  #send(message: object): void {
    this.#child.stdin?.write(`${JSON.stringify(message)}\n`);
  }

  async tools(): Promise<readonly NaiveTool[]> {
    return ((await this.request('tools/list', {})) as { tools: NaiveTool[] }).tools;
  }

  async close(): Promise<void> {
    this.#child.stdin?.end();
    if (this.#child.exitCode === null) await once(this.#child, 'exit');
  }
}
