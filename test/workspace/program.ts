/** The workspace server as the program it is, with the official SDK's client at its other end. */

import { execFileSync } from 'node:child_process';
import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';

export const COMMAND: string = fileURLToPath(new URL('../../dist/bin/plugboard.cjs', import.meta.url));

export interface Answered {
  readonly text: string;
  readonly data: unknown;
  readonly isError: boolean;
}

export interface CallOptions {
  readonly signal?: AbortSignal;
  readonly onprogress?: (step: unknown) => void;
}

export class Program {
  readonly client: Client;
  readonly #transport: StdioClientTransport;

  private constructor(client: Client, transport: StdioClientTransport) {
    this.client = client;
    this.#transport = transport;
  }

  static async start(
    root: string,
    flags: readonly string[] = [],
    env: Record<string, string> = {},
  ): Promise<Program> {
    const client = new Client({ name: 'referee', version: '1' }, { versionNegotiation: { mode: 'auto' } });
    const transport = new StdioClientTransport({
      command: process.execPath,
      args: [COMMAND, 'workspace', root, ...flags],
      env: { PATH: process.env['PATH'] ?? '', HOME: root, GIT_CONFIG_NOSYSTEM: '1', ...PERSON, ...env },
    });
    await client.connect(transport);
    return new Program(client, transport);
  }

  get pid(): number {
    return this.#transport.pid ?? 0;
  }

  async call(name: string, args: Record<string, unknown> = {}, options: CallOptions = {}): Promise<Answered> {
    const { content, structuredContent, isError } = await this.client.callTool(
      { name, arguments: args },
      options,
    );
    const text = content.map((block) => (block.type === 'text' ? block.text : block.type)).join('\n');
    return { text, data: structuredContent, isError: isError === true };
  }

  /** The text of an answer, marked when it is an error: what most tests compare. */
  async say(name: string, args: Record<string, unknown> = {}): Promise<string> {
    const { text, isError } = await this.call(name, args);
    return isError ? `error: ${text}` : text;
  }

  close(): Promise<void> {
    return this.client.close();
  }
}

/** The author of commits; no real configuration is read. */
const PERSON = {
  GIT_AUTHOR_NAME: 'Ada',
  GIT_AUTHOR_EMAIL: 'ada@example.com',
  GIT_COMMITTER_NAME: 'Ada',
  GIT_COMMITTER_EMAIL: 'ada@example.com',
  GIT_CONFIG_GLOBAL: '/dev/null',
};

export function git(folder: string, ...args: readonly string[]): string {
  const env = { ...process.env, ...PERSON, GIT_CONFIG_NOSYSTEM: '1' };
  return execFileSync('git', args, { cwd: folder, env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
}

/** A search path with these programs and no others. */
export function pathWith(folder: string, programs: readonly string[]): string {
  const bin = join(folder, 'bin');
  mkdirSync(bin);
  for (const program of programs) {
    symlinkSync(execFileSync('which', [program], { encoding: 'utf8' }).trim(), join(bin, program));
  }
  return bin;
}
