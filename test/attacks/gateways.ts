/** The gateways that an agent attacks: a naive one, and the real command with a person's own token next to it. */

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { COMMAND, type Place } from '../cli/command.ts';
import { send } from '../world/managed-gateway.ts';
import { FIXTURE } from './naive.ts';

const ACCEPT = 'application/json, text/event-stream';

export interface Reply {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
}

/** A gateway that runs, and requests to it. */
export class Running {
  readonly child: ChildProcess;
  readonly origin: string;
  /** Everything it has printed. */
  readonly printed: string;

  constructor(child: ChildProcess, origin: string, printed: string) {
    this.child = child;
    this.origin = origin;
    this.printed = printed;
  }

  async ask(
    token: string,
    method: string,
    path: string,
    body?: object,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<Reply> {
    const answer = await send(`${this.origin}${path}`, method, body, {
      accept: ACCEPT,
      authorization: `Bearer ${token}`,
      ...headers,
    });
    // The answer comes last; log messages may come before it.
    const event = [...answer.text.matchAll(/^data: (.*)$/gm)].at(-1)?.[1];
    const text = event ?? answer.text;
    const isJson = /^\s*[[{]/.test(text);
    return { status: answer.status, body: isJson ? JSON.parse(text) : {}, headers: answer.headers };
  }

  mcp(
    token: string,
    method: string,
    params: object = {},
    headers: Readonly<Record<string, string>> = {},
  ): Promise<Reply> {
    return this.ask(token, 'POST', '/mcp', { jsonrpc: '2.0', id: 1, method, params }, headers);
  }

  /** Opens a session; gives the headers of its further requests. */
  async session(token: string): Promise<Record<string, string>> {
    const params = {
      protocolVersion: '2025-11-25',
      capabilities: {},
      clientInfo: { name: 'agent', version: '1' },
    };
    const { headers } = await this.mcp(token, 'initialize', params);
    return { 'mcp-session-id': String(headers['mcp-session-id']), 'mcp-protocol-version': '2025-11-25' };
  }

  async end(): Promise<void> {
    if (this.child.exitCode !== null || this.child.signalCode !== null) return;
    const gone = once(this.child, 'close');
    this.child.kill('SIGTERM');
    await gone;
  }
}

export async function startNaive(token: string): Promise<Running> {
  const child = spawn(process.execPath, [FIXTURE('naive-gateway.mjs'), '--token', token], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const printed = await outputUntil(child, 'claude mcp add');
  return new Running(child, /http:\/\/[\d.:]+/.exec(printed)?.[0] ?? '', printed);
}

/** `plugboard serve --http`, as a person starts it. */
export async function startPlugboard(
  place: Place,
  flags: readonly string[],
  env: NodeJS.ProcessEnv = {},
): Promise<Running> {
  const child = spawn(process.execPath, [COMMAND, 'serve', '--http', '0', ...flags], {
    cwd: place.project,
    env: { ...process.env, PLUGBOARD_HOME: place.home, PLUGBOARD_CREDENTIALS: 'file', ...env },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const printed = await outputUntil(child, 'Press Ctrl-C to stop.');
  const url = /Serving at (\S+)/.exec(printed)?.[1] ?? '';
  return new Running(child, new URL(url).origin, printed);
}

async function outputUntil(child: ChildProcess, end: string): Promise<string> {
  let printed = '';
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    printed += text;
  });
  while (!printed.includes(end)) await once(child.stdout ?? child, 'data');
  return printed;
}

/** True if the arguments of some process have this text, which every user of a machine can see. */
export function isInProcessList(pids: readonly (number | undefined)[], text: string): boolean {
  return pids.some((pid) => readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(text));
}
