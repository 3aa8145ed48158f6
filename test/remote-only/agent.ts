/** The agent of `test/fixtures/remote-only-agent.mjs` as one bundle, the servers that it uses, and its answers. */

import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const folder = fileURLToPath(new URL('../fixtures/', import.meta.url));

/** Everything but the log. */
export const ANSWERS: Readonly<Record<string, unknown>> = {
  servers: [
    ['legacy', 'connected', 'legacy'],
    ['modern', 'connected', 'modern'],
  ],
  legacy: 'old',
  modern: 'new',
  invalid: [true, 'INVALID_ARGUMENTS'],
  denied: [true, 'DENIED'],
  greeted: 'Hello Ada',
  found: ['add'],
  declared: 7,
  read: [{ type: 'text', text: 'Be kind.' }],
  process: [true, 'CONFIG_INVALID'],
  approved: ['mcp__legacy__echo', 'mcp__modern__echo', 'mcp__modern__greet'],
  asked: ['Who is there?'],
  ended: 6,
};

/** The text of one ES module, made as for a browser: it fails if a module of Node is left. */
export async function bundleOf(contents: string): Promise<string> {
  const { outputFiles } = await build({
    stdin: { contents, resolveDir: folder },
    bundle: true,
    write: false,
    format: 'esm',
    platform: 'browser',
    logLevel: 'error',
  });
  return outputFiles[0]?.text ?? '';
}

export interface Servers {
  readonly legacy: string;
  readonly modern: string;
  close(): void;
}

export async function startServers(): Promise<Servers> {
  const children = ['echo-http.mjs', 'remote-only-server.mjs'].map((file) =>
    spawn(process.execPath, [`${folder}${file}`], { stdio: ['ignore', 'pipe', 'inherit'] }),
  );
  const [legacy = '', modern = ''] = await Promise.all(children.map(firstLine));
  return {
    legacy,
    modern,
    close: () => {
      for (const child of children) child.kill('SIGKILL');
    },
  };
}

async function firstLine(child: ChildProcess): Promise<string> {
  if (child.stdout === null) throw new Error('no output to read');
  for await (const line of createInterface(child.stdout)) return line;
  throw new Error('ended without a line');
}
