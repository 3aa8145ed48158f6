/** What people get from npm: packed once, checked as a tarball, installed into an empty folder and used there. */

import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { nodes } from '../scripts/install-nodes.mjs';
import { bundleWholeProduct, EVERYTHING, runWholeProduct } from '../scripts/whole-product.mjs';
import { resultOf, WebClient } from './kit/web-client.ts';
import { startProgram } from './testing/program.ts';
import { attwReport, type Packed, pack, publintRemarks, run } from './world/packed.ts';

const INSTALL_TIMEOUT_MS = 300_000;

const root = fileURLToPath(new URL('..', import.meta.url));

/** What each entry point must hold, by the contract; more is fine. */
const ENTRY_POINTS: Readonly<Record<string, readonly string[]>> = {
  plugboard: ['createHost', 'workspaceServer'],
  'plugboard/adapters': ['toAiSdk', 'toOpenAI', 'toAnthropic', 'toGemini', 'toLangChain', 'toPi'],
  'plugboard/kit': ['defineServer', 'tool', 'resource', 'resourceTemplate', 'prompt', 'stdio', 'http'],
  'plugboard/remote-only': ['createHost', 'PlugboardError'],
  'plugboard/serve': ['serveHttp', 'serveStdio'],
  'plugboard/testing': ['createTestHost', 'fakeClock', 'memoryPair', 'scriptedServer'],
};

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly exports: Readonly<Record<string, unknown>>;
  readonly peerDependencies: Readonly<Record<string, string>>;
  readonly peerDependenciesMeta: Readonly<Record<string, { readonly optional: boolean }>>;
}

const GREETING = [{ type: 'text', text: 'Hello, Ada!' }];

/** Starts a server over HTTP, calls it, and ends it as a container's host does. */
async function deployed(file: string): Promise<Readonly<Record<string, unknown>>> {
  const program = await startProgram(file, [], { HOST: '127.0.0.1', PORT: '0', MCP_TOKEN: 'secret' });
  try {
    const url = program.firstLine.replace('Listening at ', '');
    const client = new WebClient(url, fetch, { authorization: 'Bearer secret' });
    const greet = { name: 'greet', arguments: { name: 'Ada' } };
    const opened = await client.initialize();
    const session = opened.headers.get('mcp-session-id') ?? undefined;
    const health = (await fetch(new URL('/health', url))).status;
    const withoutToken = (await new WebClient(url).initialize()).status;
    const legacy = resultOf(await client.legacy('tools/call', greet, session))['content'];
    const modern = resultOf(await client.modern('tools/call', greet))['content'];
    await program.stop();
    return { health, withoutToken, legacy, modern, exitCode: program.child.exitCode };
  } finally {
    program.child.kill('SIGKILL');
  }
}

describe('the packed package', () => {
  const temp = mkdtempSync(join(tmpdir(), 'plugboard-package-'));
  const consumer = join(temp, 'consumer');
  const manifest: Manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  let packed: Packed;
  let tarball: string;
  /** The output of `chat` before the packages for models were installed. */
  let withoutModels: string;

  beforeAll(async () => {
    packed = await pack(root, temp);
    tarball = join(temp, packed.filename);
    mkdirSync(consumer);
    writeFileSync(join(consumer, 'package.json'), '{ "private": true, "type": "module" }');
    await run('npm', ['install', '--no-audit', '--no-fund', '--prefer-offline', tarball], consumer);
    const command = join(consumer, 'node_modules', '.bin', 'plugboard');
    const chat = ['chat', '-p', 'hi', '--model', 'http://127.0.0.1:1/v1#none', '--json'];
    const env = { PLUGBOARD_HOME: join(temp, 'home'), PLUGBOARD_CREDENTIALS: 'file' };
    withoutModels = await run(command, chat, consumer, env).catch(({ stdout }) => stdout);
    const models = (/npm install ([^"]+)/.exec(withoutModels)?.[1] ?? '').split(' ');
    await run('npm', ['install', '--no-audit', '--no-fund', '--prefer-offline', ...models], consumer);
    console.info(
      `${manifest.name} ${manifest.version}: ${packed.files.length} files, Node ${process.version}`,
    );
  }, INSTALL_TIMEOUT_MS);

  afterAll(() => rmSync(temp, { recursive: true, force: true }), INSTALL_TIMEOUT_MS);

  it('holds the build, the licence and the documents, and nothing of the workshop', () => {
    const paths = packed.files.map(({ path }) => path);
    expect(paths).toEqual(expect.arrayContaining(['LICENSE', 'README.md', 'CHANGELOG.md', 'package.json']));
    expect(
      paths.filter(
        (path) =>
          !/^((dist|assets|schemas)\/|docs\/(attacks\/)?([a-z-]+|README)\.md$|[A-Z]+(\.md)?$|package\.json$)/.test(
            path,
          ),
      ),
    ).toEqual([]);
    // Pages for people who change the package.
    expect(paths.filter((path) => /^docs\/(?:numbers|protocol|seeds)\.md$|^docs\/api\//.test(path))).toEqual(
      [],
    );
    expect(
      paths.filter((path) => /\.test\.[jt]s$|(^|[^d])\.ts$|\.map$/.test(path.replace(/\.d\.ts$/, ''))),
    ).toEqual([]);
  });

  it('passes publint without a remark', async () => {
    expect(await publintRemarks(tarball)).toEqual([]);
  });

  it('gives types that resolve for import and for require (attw)', {
    timeout: INSTALL_TIMEOUT_MS,
  }, async () => {
    // The first is no code, the second is for bundles of ES modules.
    const code = ['./tool-search.bin', './remote-only'];
    const { entryPoints, problems } = await attwReport(tarball, { exclude: code });
    expect(problems).toEqual([]);
    const declared = Object.keys(manifest.exports).filter((key) => !code.includes(key));
    expect(entryPoints).toEqual(declared);
  });

  it('names the line that installs the packages for models, all of them peers', () => {
    const { peerDependencies, peerDependenciesMeta } = manifest;
    const models = Object.keys(peerDependencies).filter((name) => /^(?:ai$|@ai-sdk\/)/.test(name));
    expect(models).toHaveLength(5);
    for (const name of models) {
      expect(withoutModels).toContain(` ${name}@`);
      expect(peerDependenciesMeta[name]).toEqual({ optional: true });
    }
  });

  it('declares the entry points that the contract names, and no other', () => {
    const declared = Object.keys(manifest.exports).filter((key) => !/\.(?:json|bin)$/.test(key));
    expect(declared.map((key) => key.replace('.', 'plugboard'))).toEqual(Object.keys(ENTRY_POINTS));
  });

  it.each(Object.entries(ENTRY_POINTS))(
    'can be imported as %s from a folder that installed it',
    async (name, needed) => {
      const script = `console.log(JSON.stringify(Object.keys(await import(${JSON.stringify(name)}))))`;
      const names: unknown = JSON.parse(
        await run(process.execPath, ['--input-type=module', '-e', script], consumer),
      );
      expect(names).toEqual(expect.arrayContaining([...needed]));
    },
  );

  it('can be required, with the values of the ES modules and one error class for both', async () => {
    const script = `
      const names = ${JSON.stringify(Object.keys(ENTRY_POINTS))};
      (async () => {
        const same = [];
        for (const name of names) {
          const [required, imported] = [require(name), await import(name)];
          same.push(Object.keys(required).filter((key) => key !== 'default').sort().join() === Object.keys(imported).sort().join());
        }
        const [required, imported] = [require('plugboard'), await import('plugboard')];
        const error = new required.PlugboardError('DENIED', 'no');
        same.push(error instanceof imported.PlugboardError, new Error('no') instanceof imported.PlugboardError);
        console.log(JSON.stringify(same));
      })();`;
    const same: unknown = JSON.parse(await run(process.execPath, ['-e', script], consumer));
    expect(same).toEqual([...Object.keys(ENTRY_POINTS).map(() => true), true, false]);
  });

  it('type-checks from CommonJS with module node16', async () => {
    writeFileSync(
      join(consumer, 'common.cts'),
      `import { createHost, PlugboardError, type Host } from 'plugboard';
       import { toOpenAI } from 'plugboard/adapters';
       import { defineServer } from 'plugboard/kit';
       export async function work(): Promise<number> {
         const host: Host = await createHost({ servers: { x: { url: 'https://example.com/mcp' } } });
         const error: PlugboardError | undefined = undefined;
         return toOpenAI(host).tools.length + (error === undefined ? 1 : 0);
       }
       export const make: typeof defineServer = defineServer;
      `,
    );
    const tsc = join(root, 'node_modules', 'typescript', 'bin', 'tsc');
    const typeRoots = join(root, 'node_modules', '@types');
    const flags = ['--noEmit', '--strict', '--module', 'node16', '--target', 'es2022'];
    flags.push('--types', 'node', '--typeRoots', typeRoots);
    expect(await run(process.execPath, [tsc, ...flags, 'common.cts'], consumer)).toBe('');
  });

  it('has types that need no optional package, checked with the library files', async () => {
    const bare = join(temp, 'bare');
    // As `npm install --omit=optional` leaves it; the links are not followed, so nothing of the consumer is found.
    mkdirSync(join(bare, 'node_modules', '@types'), { recursive: true });
    for (const name of readdirSync(join(consumer, 'node_modules'))) {
      if (/^(?:\.|ai$|@ai-sdk|@opentelemetry|@types)/.test(name)) continue;
      symlinkSync(join(consumer, 'node_modules', name), join(bare, 'node_modules', name));
    }
    for (const name of ['node', 'undici-types']) {
      const to = name === 'node' ? join('@types', name) : name;
      symlinkSync(join(root, 'node_modules', to), join(bare, 'node_modules', to));
    }
    const imports = Object.keys(ENTRY_POINTS).map((name, i) => `export * as e${i} from '${name}';`);
    writeFileSync(join(bare, 'package.json'), '{ "type": "module" }');
    writeFileSync(join(bare, 'all.ts'), imports.join('\n'));
    const tsc = join(root, 'node_modules', 'typescript', 'bin', 'tsc');
    const flags = ['--noEmit', '--strict', '--preserveSymlinks', '--skipLibCheck', 'false'];
    flags.push('--module', 'nodenext', '--target', 'es2023', '--types', 'node');
    expect(await run(process.execPath, [tsc, ...flags, 'all.ts'], bare)).toBe('');
  });

  it('does what the README shows of the library', async () => {
    const readme = readFileSync(join(root, 'README.md'), 'utf8');
    const [, program = '', printed] = /```js\n(.*?)```\n\n```text\n(.*?)```/s.exec(readme) ?? [];
    writeFileSync(join(consumer, 'readme.js'), program);
    const env = { PLUGBOARD_HOME: join(temp, 'home') };
    expect(await run(process.execPath, ['readme.js'], consumer, env)).toBe(printed);
  });

  it('runs the examples from a folder that has nothing, with nothing on the PATH', async () => {
    const elsewhere = join(temp, 'elsewhere');
    mkdirSync(elsewhere);
    const printed: string[] = [];
    for (const story of ['approve-by-rule/approve', 'search-500-tools/search', 'gateway/gateway']) {
      const program = join(consumer, `${story.replace('/', '-')}.mjs`);
      writeFileSync(program, readFileSync(join(root, 'examples', `${story}.mjs`), 'utf8'));
      const env = { PLUGBOARD_HOME: join(temp, 'home'), PATH: '/usr/bin:/bin' };
      printed.push(
        (await run(process.execPath, [program], elsewhere, env)).trimEnd().split('\n').at(-1) ?? '',
      );
    }
    expect(printed).toEqual([
      'notes/../package.json: DENIED',
      'found mcp__github__merge_pull_request: merge pull request: done',
      'files__write',
    ]);
  });

  it(
    'KIT-1: init server makes a project that builds, tests itself, and serves over stdio and HTTP',
    async () => {
      const command = join(consumer, 'node_modules', '.bin', 'plugboard');
      const folder = join(temp, 'weather');
      const env = { PLUGBOARD_HOME: join(temp, 'home'), PLUGBOARD_CREDENTIALS: 'file' };
      expect(JSON.parse(await run(command, ['init', 'server', 'weather', '--json'], temp))).toMatchObject({
        name: 'weather',
        files: [
          'package.json',
          '.dockerignore',
          '.gitignore',
          'Dockerfile',
          'README.md',
          'src/http.ts',
          'src/main.ts',
          'src/server.test.ts',
          'src/server.ts',
          'tsconfig.json',
        ],
      });
      // In place of the registry's: this very version.
      const made = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
      const range = `^${manifest.version}`;
      expect([made.dependencies['@plugboard/kit'], made.devDependencies.plugboard]).toEqual([range, range]);
      const kit = await pack(join(root, 'packages', 'kit'), temp);
      made.dependencies['@plugboard/kit'] = `file:${join(temp, kit.filename)}`;
      made.devDependencies.plugboard = `file:${tarball}`;
      writeFileSync(join(folder, 'package.json'), JSON.stringify(made));
      await run('npm', ['install', '--no-audit', '--no-fund', '--prefer-offline'], folder);
      const tests = await run('npm', ['test'], folder, { ...env, NODE_OPTIONS: '' });
      expect(tests).toMatch(/# pass 3\n# fail 0|ℹ pass 3\nℹ fail 0/);
      const tried: unknown = JSON.parse(
        await run('npm', ['run', '--silent', 'try', '--', '--json'], folder, env),
      );
      expect(tried).toMatchObject({ server: { name: 'weather', status: 'connected', tools: 2 } });

      // The steps of its Dockerfile.
      const image = join(temp, 'image');
      for (const each of ['package.json', 'package-lock.json', 'dist']) {
        cpSync(join(folder, each), join(image, each), { recursive: true });
      }
      await run('npm', ['ci', '--omit=dev', '--no-audit', '--no-fund', '--prefer-offline'], image);
      const left = readdirSync(join(image, 'node_modules')).filter((name) => !name.startsWith('.'));
      expect(left).toEqual(['@plugboard', 'zod']);
      const call = ['--server', 'weather=node dist/main.js', 'call', 'weather', 'greet', 'name=Ada'];
      expect(await run(command, call, image, env)).toBe('Hello, Ada!');
      expect(await deployed(join(image, 'dist', 'http.js'))).toEqual({
        health: 200,
        withoutToken: 401,
        legacy: GREETING,
        modern: GREETING,
        exitCode: 0,
      });
      const open = { HOST: '0.0.0.0', PORT: '0', MCP_TOKEN: '' };
      const refused = run(process.execPath, ['dist/http.js'], image, open);
      await expect(refused).rejects.toMatchObject({ stderr: expect.stringContaining('a token') });
    },
    INSTALL_TIMEOUT_MS,
  );

  it.each([...nodes])(
    'works from end to end on Node %s',
    async (_major, node) => {
      expect(await runWholeProduct(node, await bundleWholeProduct(consumer))).toEqual(EVERYTHING);
    },
    INSTALL_TIMEOUT_MS,
  );

  it('UI-1: brings the command along', async () => {
    const command = join(consumer, 'node_modules', '.bin', 'plugboard');
    expect((await run(command, ['--version'], consumer)).trim()).toBe(manifest.version);
  });
});
