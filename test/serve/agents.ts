/** Real clients from npm: the SDKs', and Claude Code and Codex, each in a home of its own. */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { sdkV1 } from '../../scripts/install-real-clients.mjs';

const AGENTS = fileURLToPath(new URL('../../.cache/real-servers/node_modules', import.meta.url));
const CLAUDE = join(AGENTS, '@anthropic-ai/claude-code/cli.js');
const CODEX = join(AGENTS, '@openai/codex/bin/codex.js');

const v2 = {
  client: '@modelcontextprotocol/client',
  http: '@modelcontextprotocol/client',
  stdio: '@modelcontextprotocol/client/stdio',
};

/** Where test/fixtures/client-tour.mjs finds each client of an SDK. */
export const sdkClients: Readonly<Record<'v1' | 'legacy' | 'modern', object>> = {
  v1: {
    client: join(sdkV1, 'client/index.js'),
    http: join(sdkV1, 'client/streamableHttp.js'),
    stdio: join(sdkV1, 'client/stdio.js'),
    types: join(sdkV1, 'types.js'),
  },
  legacy: v2,
  modern: { ...v2, options: { versionNegotiation: { mode: 'auto' } } },
};

export interface Where {
  readonly cwd: string;
  readonly env: Record<string, string>;
}

/** Nothing of this machine's user: agents read what they find at home. */
export function isolated(home: string, name: string): Where {
  const folder = join(home, name);
  const cwd = join(folder, 'project');
  const bin = join(folder, 'bin');
  for (const made of [cwd, bin]) mkdirSync(made, { recursive: true });
  const program = (file: string): string => `#!/bin/sh\nexec '${process.execPath}' '${file}' "$@"\n`;
  writeFileSync(join(bin, 'claude'), program(CLAUDE), { mode: 0o755 });
  writeFileSync(join(bin, 'codex'), program(CODEX), { mode: 0o755 });
  const env = {
    HOME: folder,
    PATH: `${bin}${delimiter}${process.env['PATH'] ?? ''}`,
    DISABLE_AUTOUPDATER: '1',
    OPENCODE_DISABLE_AUTOUPDATE: '1',
  };
  return { cwd, env };
}

/** Runs these lines, which add a server to Codex, and resolves to its list of servers once connected. */
export async function codexServers(where: Where, lines: readonly string[]): Promise<unknown> {
  // `mcp list` of Codex never connects; its app server does.
  const script = [...lines, 'exec codex app-server'].join('\n');
  const codex = spawn('sh', ['-c', script], { ...where, stdio: ['pipe', 'pipe', 'ignore'] });
  try {
    const send = (message: object): boolean => codex.stdin.write(`${JSON.stringify(message)}\n`);
    send({ id: 0, method: 'initialize', params: { clientInfo: { name: 'test', version: '1' } } });
    for await (const line of createInterface({ input: codex.stdout })) {
      if (!line.startsWith('{')) continue;
      const { id, result } = JSON.parse(line);
      if (id === 0) {
        send({ method: 'initialized' });
        send({ id: 1, method: 'mcpServerStatus/list', params: {} });
      }
      if (id === 1) return result.data;
    }
    throw new Error('Codex ended without a word about its servers.');
  } finally {
    codex.stdin.end();
    codex.kill();
    await once(codex, 'close');
  }
}
