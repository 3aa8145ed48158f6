/** CON-15: servers behind `npx` are started without it when their package is installed. */

import { execFile } from 'node:child_process';
import { once } from 'node:events';
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { StdioEntry } from '../../src/config/entry.ts';
import { createHost, type Host, jsonOf } from '../../src/index.ts';
import { attempt } from '../../src/lib/attempt.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { parseRecord } from '../../src/lib/json.ts';
import { npxPackage } from '../../src/transport/npx-package.ts';
import type { LaunchPlan } from '../../src/transport/plan-launch.ts';
import { type About, type Registry, startRegistry } from '../world/npm-registry.ts';
import { until } from '../world/until.ts';

const run = promisify(execFile);
const HOUR_MS = 3_600_000;
const NAMES = { plain: 'packed-plain', scoped: '@packed/scoped', many: 'packed-many' } as const;
const SPECS = [
  NAMES.plain,
  `${NAMES.plain}@1.0.0`,
  `${NAMES.plain}@^1.0.0`,
  `${NAMES.plain}@latest`,
  NAMES.scoped,
  NAMES.many,
];

let registry: Registry;
/** A cache of npm in which every spec is installed in version 1.0.0. */
let seeded: string;
let dir: string;
let cache: string;
let hosts: Host[];

beforeAll(async () => {
  registry = await startRegistry();
  registry.publish(NAMES.plain, '1.0.0', ['packed-plain']);
  registry.publish(NAMES.scoped, '1.0.0', ['other-name']);
  registry.publish(NAMES.many, '1.0.0', ['first', 'packed-many', 'third']);
  seeded = mkdtempSync(join(tmpdir(), 'npm-seed-'));
  const env = { ...process.env, npm_config_cache: seeded, npm_config_registry: registry.url };
  const install = (spec: string): Promise<unknown> =>
    run('npx', ['--yes', '--prefix', seeded, '--package', spec, '--call', 'exit 0'], { env });
  await Promise.all(SPECS.map(install));
  registry.publish(NAMES.plain, '1.1.0', ['packed-plain']);
  registry.publish(NAMES.plain, '2.0.0', ['packed-plain']);
});

afterAll(() => registry.close());

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'direct-'));
  cache = join(dir, 'npm');
  cpSync(seeded, cache, { recursive: true, verbatimSymlinks: true });
  hosts = [];
  registry.requests.length = 0;
});

afterEach(async () => {
  await Promise.all(hosts.map((host) => host.close()));
  rmSync(dir, { recursive: true, force: true });
});

interface Start {
  readonly entry?: Partial<StdioEntry>;
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  /** The time, in milliseconds from now. */
  readonly in?: number;
}

/** Creates a host of this test's home with one server for each list of arguments of npx. */
async function hostOf(all: readonly (readonly string[])[], given: Start = {}): Promise<Host> {
  const { entry = {}, env = {}, cwd = dir, in: later = 0 } = given;
  const set = { npm_config_cache: cache, npm_config_registry: registry.url, ...env };
  const servers = all.map((args, at) => [
    `s${at}`,
    { command: 'npx', args, env: set, trusted: true, ...entry },
  ]);
  const host = await createHost({
    cwd,
    home: join(dir, 'home'),
    clock: { ...systemClock, now: () => Date.now() + later },
    servers: Object.fromEntries(servers),
  });
  hosts.push(host);
  return host;
}

/** Starts one server for each list of arguments; returns how each was started. */
async function started(all: readonly (readonly string[])[], given?: Start): Promise<readonly About[]> {
  const host = await hostOf(all, given);
  const calls = all.map(async (_, at) => jsonOf<About>(await host.call(`mcp__s${at}__about`)));
  return Promise.all(calls);
}

async function startedOne(args: readonly string[], given?: Start): Promise<About> {
  const [about] = await started([args], given);
  return about ?? expect.fail('no server');
}

const DIRECT = { version: '1.0.0', bin: 'packed-plain', args: [], byNpx: false, hasBins: true };
const BY_NPX = { ...DIRECT, byNpx: true };

/** The number of folders of the cache whose packages were checked. */
function checkedFolders(): number {
  const text = attempt(() => readFileSync(join(dir, 'home', 'cache', 'npx-checks.json'), 'utf8'), '');
  return Object.keys(parseRecord(text) ?? {}).length;
}

describe('CON-15: starts the installed program', () => {
  it('of an exact version, a range, a tag and a bare name, with the arguments of the entry', async () => {
    const versions = ['@1.0.0', '@^1.0.0', '@latest', ''];
    const all = versions.map((version) => ['-y', `${NAMES.plain}${version}`, '--root', 'a b']);
    expect(await started(all)).toEqual(all.map(() => ({ ...DIRECT, args: ['--root', 'a b'] })));
  });

  it('of a scoped package, of a package with several programs, and the one that follows -p', async () => {
    const many = { ...DIRECT, bin: 'packed-many' };
    expect(
      await started([
        ['-y', NAMES.scoped],
        ['-y', NAMES.many],
        ['-y', '-p', NAMES.many, 'third', '-y'],
        ['--yes', `--package=${NAMES.many}`, '--', 'first'],
      ]),
    ).toEqual([
      { ...DIRECT, bin: 'other-name' },
      many,
      { ...many, bin: 'third', args: ['-y'] },
      { ...many, bin: 'first' },
    ]);
  });

  it('without a network', async () => {
    const env = { npm_config_registry: 'http://127.0.0.1:9/' };
    expect(await startedOne(['-y', NAMES.plain], { env })).toEqual(DIRECT);
  });

  it('without asking the registry for an exact version, however old it is', async () => {
    expect(await startedOne(['-y', `${NAMES.plain}@1.0.0`], { in: 100 * HOUR_MS })).toEqual(DIRECT);
    await hosts[0]?.close();
    expect(registry.requests).toEqual([]);
  });

  it('and writes it to the log of the server', async () => {
    const lines: string[] = [];
    const host = await hostOf([['-y', NAMES.plain]]);
    host.on('log', ({ message }) => lines.push(message));
    await host.call('mcp__s0__about');
    expect(lines).toContain(`Started ${NAMES.plain} 1.0.0 from the cache of npx, without npx.`);
  });
});

describe('CON-15: asks the registry', () => {
  const versions = ['', '@^1.0.0', '@latest'];
  const all = versions.map((version) => ['-y', `${NAMES.plain}${version}`]);

  it('in the background, and starts the newer versions from then on; within the hour it does not ask', async () => {
    expect(await started(all)).toEqual(all.map(() => DIRECT));
    await until('every version is checked', () => checkedFolders() === all.length);
    await hosts[0]?.close();
    const found = ['2.0.0', '1.1.0', '2.0.0'].map((version) => ({ ...DIRECT, version }));
    registry.requests.length = 0;
    expect(await started(all, { in: HOUR_MS / 2 })).toEqual(found);
    await hosts[1]?.close();
    expect(registry.requests).toEqual([]);
  });

  it('before every start with npxCheckMs 0', async () => {
    const [bare = []] = all;
    expect(await startedOne(bare, { entry: { npxCheckMs: 0 } })).toEqual({ ...BY_NPX, version: '2.0.0' });
    expect(registry.requests).toContain(NAMES.plain);
  });

  it('in a process that ends with the host', async () => {
    const [bare = []] = all;
    const stuck = createServer(() => {});
    await new Promise<void>((resolve) => stuck.listen(0, '127.0.0.1', resolve));
    const asked = once(stuck, 'request');
    const env = { npm_config_registry: `http://127.0.0.1:${(stuck.address() as AddressInfo).port}/` };
    expect(await startedOne(bare, { env })).toEqual(DIRECT);
    await asked;
    await hosts[0]?.close();
    expect(processesWith(dir)).toEqual([]);
    stuck.closeAllConnections();
    stuck.close();
    expect(await startedOne(bare)).toEqual(DIRECT);
  });
});

describe('CON-15: starts npx', () => {
  it('if directStart is false, and if the cache was cleaned', async () => {
    const exact = ['-y', `${NAMES.plain}@1.0.0`];
    expect(await startedOne(exact, { entry: { directStart: false } })).toEqual(BY_NPX);
    rmSync(join(cache, '_npx'), { recursive: true });
    expect(await startedOne(exact)).toEqual(BY_NPX);
    expect(await startedOne(exact)).toEqual(DIRECT);
  });

  const launch = (args: readonly string[], env: Readonly<Record<string, string>> = {}): LaunchPlan => ({
    command: 'npx',
    args,
    cwd: dir,
    env: { PATH: process.env['PATH'] ?? '', HOME: join(dir, 'person'), npm_config_cache: cache, ...env },
  });
  const program = (...given: Parameters<typeof launch>): string | undefined =>
    npxPackage(launch(...given))?.program?.what;
  const exact = ['-y', `${NAMES.plain}@1.0.0`];
  const found = `${NAMES.plain} 1.0.0`;

  it.each([
    ['an option of npx with another meaning', ['-y', '--call', 'packed-plain']],
    ['a repository', ['-y', 'github:packed/plain']],
    ['a path', ['-y', './packed-plain']],
    ['an alias', ['-y', 'plain@npm:packed-plain@1.0.0']],
    ['a program that is not in the package', ['-y', '-p', NAMES.plain, 'node']],
    ['no package', ['-y']],
    ['a version that is not installed', ['-y', `${NAMES.plain}@1.1.0`]],
  ])('for %s', (_, args) => {
    expect(program(exact)).toBe(found);
    expect(program(args)).toBeUndefined();
  });

  it.each<[string, (folder: string) => void]>([
    ['while npm changes the folder', (folder) => mkdirSync(join(folder, 'concurrency.lock'))],
    [
      'after an installation that was interrupted',
      (folder) => rmSync(join(folder, 'node_modules', '.package-lock.json')),
    ],
    [
      'if the program is missing',
      (folder) => rmSync(join(folder, 'node_modules', NAMES.plain, 'packed-plain.mjs')),
    ],
    [
      'if the project has the package',
      () => mkdirSync(join(dir, 'node_modules', NAMES.plain), { recursive: true }),
    ],
    [
      'if the project has a program of this name',
      () => writeFileSync(join(dir, 'package.json'), '{ "bin": { "packed-plain": "x.mjs" } }'),
    ],
    [
      'if the settings of npm change how programs run',
      () => writeFileSync(join(dir, '.npmrc'), 'node-options=-r x\n'),
    ],
  ])('%s', (_, change) => {
    const { folder = '' } = npxPackage(launch(exact)) ?? {};
    change(folder);
    expect(program(exact)).toBeUndefined();
  });

  it('if the package is installed for all projects', () => {
    const prefix = join(dir, 'global');
    const env = { npm_config_prefix: prefix };
    expect(program(exact, env)).toBe(found);
    mkdirSync(join(prefix, 'lib', 'node_modules', NAMES.plain), { recursive: true });
    expect(program(exact, env)).toBeUndefined();
  });

  it('but finds a cache that the settings of the person name', () => {
    const person = join(dir, 'person');
    mkdirSync(person);
    renameSync(cache, join(person, 'moved'));
    writeFileSync(join(person, '.npmrc'), 'cache = "~/moved"\nfund=false\n');
    const { npm_config_cache: _, ...env } = launch(exact).env;
    expect(npxPackage({ ...launch(exact), env })?.program?.what).toBe(found);
  });
});

function processesWith(text: string): readonly string[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .filter((pid) => attempt(() => readFileSync(`/proc/${pid}/environ`, 'utf8'), '').includes(text));
}
