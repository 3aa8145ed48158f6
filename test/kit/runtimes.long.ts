/** A server of `@plugboard/kit` in Bun, Deno and workerd, called in both eras. */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { afterEach, beforeAll, expect, it } from 'vitest';
import { bun, deno, installBundlers, miniflare } from '../../scripts/install-bundlers.mjs';
import { BOTH_ERAS, bothEras } from './web-client.ts';

const INSTALL_MS = 600_000;
const closers: (() => unknown)[] = [];

beforeAll(async () => {
  expect(await installBundlers()).toBe(0);
}, INSTALL_MS);
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

const fixture = (name: string): string => fileURLToPath(new URL(`../fixtures/${name}`, import.meta.url));

it.each([
  ['Bun', bun, ['deployable-bun.mjs']],
  ['Deno', deno, ['run', '--allow-all', 'deployable-deno.mjs']],
])('KIT-4: %s serves it', async (_name, command, args) => {
  const given = args.map((arg) => (arg.endsWith('.mjs') ? fixture(arg) : arg));
  const program = spawn(command, given, { stdio: ['ignore', 'pipe', 'inherit'] });
  closers.push(() => program.kill());
  const [port] = await once(program.stdout, 'data');
  expect(await bothEras(`http://127.0.0.1:${String(port).trim()}/mcp`)).toEqual(BOTH_ERAS);
});

interface MiniflareModule {
  readonly Miniflare: new (
    options: object,
  ) => {
    readonly ready: Promise<URL>;
    dispose(): Promise<void>;
  };
}

it('KIT-4: workerd serves it, without compatibility flags', async () => {
  const { outputFiles } = await build({
    stdin: {
      contents: `import { mcp } from './deployable.mjs'; export default { fetch: mcp.fetch };`,
      resolveDir: fixture('.'),
    },
    bundle: true,
    format: 'esm',
    target: 'es2022',
    conditions: ['workerd'],
    external: ['zod', 'zod/*', '@opentelemetry/api'],
    write: false,
    logLevel: 'error',
  });
  const { Miniflare } = (await import(pathToFileURL(miniflare).href)) as MiniflareModule;
  const contents = outputFiles[0]?.text ?? '';
  const worker = new Miniflare({
    modules: [{ type: 'ESModule', path: 'worker.mjs', contents }],
    compatibilityDate: '2026-03-01',
  });
  closers.push(() => worker.dispose());
  // A request of workerd cannot be continued by another one, so nothing can be asked.
  const { answered: _answered, ...rest } = BOTH_ERAS;
  expect(await bothEras(new URL('/mcp', await worker.ready).href, undefined, {}, false)).toEqual(rest);
});
