/** The agent of `test/fixtures/bundled-agent.mjs` in everything that people ship agents in. */

import { execFile } from 'node:child_process';
import { chmodSync, copyFileSync, cpSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  bun,
  bundlerPackages,
  deno,
  installBundlers,
  jest,
  postject,
} from '../../scripts/install-bundlers.mjs';
import { installNodes, nodes } from '../../scripts/install-nodes.mjs';
import { createHost, textOf } from '../../src/index.ts';
import { AGENT, ANSWERS, ECHO, fixture, NOTE, Place, type Said } from './agents.ts';

const INSTALL_MS = 600_000;
const BUILD_MS = 300_000;
/** The app's own copy: another one would have another React. */
const NEXT = 'node_modules/next/dist/bin/next';
const SENTINEL = 'NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2';

const root = fileURLToPath(new URL('../..', import.meta.url));
const exec = promisify(execFile);

describe('an agent runs, answers as it does under Node, and leaves no server when it is killed', () => {
  const place = new Place();

  beforeAll(async () => {
    expect([await installBundlers(), await installNodes()]).toEqual([0, 0]);
  }, INSTALL_MS);
  afterAll(() => place.close(), INSTALL_MS);

  async function works(command: string, args: readonly string[]): Promise<void> {
    const running = await place.run(command, args);
    expect(running.said).toMatchObject(ANSWERS);
    expect(running.said.workspace).toMatch(NOTE);
    await place.killed(running);
  }

  it('under Bun', () => works(bun, [AGENT]), BUILD_MS);

  it('under Deno', () => works(deno, ['run', '--allow-all', AGENT]), BUILD_MS);

  it(
    'with servers of the kit that run under Bun and Deno',
    async () => {
      const host = await createHost({
        home: place.home(),
        cwd: place.folder,
        approve: () => 'allow',
        servers: {
          bun: { command: bun, args: [fixture('kit-echo.mjs')] },
          deno: { command: deno, args: ['run', '--allow-all', fixture('kit-echo.mjs')] },
        },
      });
      expect(await host.ready()).toEqual({ connected: ['bun', 'deno'], failed: [] });
      for (const name of ['bun', 'deno'])
        expect(textOf(await host.call(`mcp__${name}__echo`, { message: name }))).toBe(name);
      await host.close();
    },
    BUILD_MS,
  );

  it(
    'compiled by Bun',
    async () => {
      const file = place.path('agent-bun');
      await exec(bun, ['build', '--compile', AGENT, '--outfile', file], { cwd: root });
      await works(file, []);
    },
    BUILD_MS,
  );

  it(
    'as a single executable of Node 22',
    async () => {
      const node = nodes.get(22) ?? '';
      const [main, output, program] = ['sea.cjs', 'sea.blob', 'sea'].map((name) => place.path(name));
      if (main === undefined || output === undefined || program === undefined) throw new Error('no path');
      const options = { bundle: true, platform: 'node', format: 'cjs', logLevel: 'error' } as const;
      await build({ entryPoints: [AGENT], outfile: main, ...options });
      const config = place.path('sea.json');
      writeFileSync(config, JSON.stringify({ main, output, disableExperimentalSEAWarning: true }));
      await exec(node, ['--experimental-sea-config', config]);
      copyFileSync(node, program);
      chmodSync(program, 0o755);
      await exec(process.execPath, [postject, program, 'NODE_SEA_BLOB', output, '--sentinel-fuse', SENTINEL]);
      await works(program, []);
    },
    BUILD_MS,
  );

  it(
    'in a folder that cannot be written, as the archive of an app is',
    async () => {
      const folder = place.path('app');
      const options = { bundle: true, platform: 'node', format: 'esm', logLevel: 'error' } as const;
      await build({ entryPoints: [AGENT], outfile: join(folder, 'agent.mjs'), ...options });
      chmodSync(folder, 0o555);
      await works(process.execPath, [join(folder, 'agent.mjs')]);
    },
    BUILD_MS,
  );

  it(
    'under Jest, which requires it',
    async () => {
      const folder = place.path('jest');
      mkdirSync(join(folder, 'node_modules'), { recursive: true });
      symlinkSync(root, join(folder, 'node_modules', 'plugboard'));
      writeFileSync(join(folder, 'package.json'), '{ "private": true }');
      copyFileSync(fixture('bundled-jest.cjs'), join(folder, 'agent.test.js'));
      const env = {
        ...process.env,
        AGENT_HOME: place.home(),
        AGENT_SERVER: ECHO,
        AGENT_URL: await place.url(),
      };
      const { stderr } = await exec(process.execPath, [jest], { cwd: folder, env });
      expect(stderr).toContain('1 passed, 1 total');
    },
    BUILD_MS,
  );

  describe('in Next', () => {
    const app = place.path('next');

    beforeAll(async () => {
      cpSync(fixture('bundled-next'), app, { recursive: true });
      writeFileSync(join(app, 'package.json'), '{ "private": true }');
      const pack = ['pack', '--json', '--ignore-scripts', '--pack-destination', place.folder];
      const [packed] = JSON.parse((await exec('npm', pack, { cwd: root, maxBuffer: 64e6 })).stdout);
      const flags = ['--no-audit', '--no-fund', '--prefer-offline', '--ignore-scripts', '--omit=optional'];
      await exec('npm', ['install', ...flags, place.path(packed.filename)], { cwd: app });
      // The packages of the bundlers, of which Next and React are used.
      cpSync(bundlerPackages, join(app, 'node_modules'), { recursive: true, force: false });
    }, INSTALL_MS);

    it.each(['', 'yes'])(
      'as a standalone server, with serverExternalPackages: %j',
      async (external) => {
        const env = {
          ...process.env,
          NEXT_TELEMETRY_DISABLED: '1',
          NODE_ENV: 'production',
          AGENT_EXTERNAL: external,
        };
        await exec(process.execPath, [join(app, NEXT), 'build'], { cwd: app, env, maxBuffer: 64e6 });
        const standalone = place.path(`standalone-${external}`);
        cpSync(join(app, '.next', 'standalone'), standalone, { recursive: true });
        const port = await freePort();
        const agent = place.start(process.execPath, [join(standalone, 'server.js')], {
          ...process.env,
          PORT: String(port),
          HOSTNAME: '127.0.0.1',
          AGENT_HOME: place.home(),
          AGENT_SERVER: ECHO,
          AGENT_URL: await place.url(),
        });
        const said = (await answered(`http://127.0.0.1:${port}/agent`)) as Said;
        expect(said).toMatchObject(ANSWERS);
        expect(said.log.filter((line) => line.includes('Tool search'))).toEqual([]);
        await place.killed({ said, agent });
      },
      BUILD_MS,
    );
  });
});

/** Asks until the server listens; the time limit of the test is the bound. */
async function answered(url: string): Promise<unknown> {
  for (;;) {
    const response = await fetch(url).catch(() => undefined);
    if (response !== undefined) return response.json();
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() =>
        typeof address === 'object' && address !== null ? resolve(address.port) : reject(),
      );
    });
  });
}
