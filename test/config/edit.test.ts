import { execFile, spawnSync } from 'node:child_process';
import { existsSync, lstatSync, mkdirSync, readdirSync, statSync, symlinkSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import {
  editTarget,
  removeServer,
  setEnabled,
  setServer,
  setValue,
  targetOf,
} from '../../src/config/edit-config.ts';
import { loadConfig } from '../../src/config/load.ts';
import { PlugboardError } from '../../src/errors.ts';
import { failureJson } from '../world/failure.ts';
import { scratch } from '../world/scratch.ts';

const run = promisify(execFile);
const WRITER = fileURLToPath(new URL('../fixtures/config-writer.mjs', import.meta.url));

describe('edits: CFG-5', () => {
  it.each(['local', 'project', 'user'] as const)(
    'adds, reads, switches and removes a server in %s scope',
    async (scope) => {
      const { root, home } = scratch();
      const where = { home, projectRoot: root };
      const target = editTarget(scope, where);
      await setServer(target, 'a', { command: 'x', args: ['${KEEP}'] }, { home });
      const { servers } = await loadConfig({ cwd: root, home });
      expect(servers).toEqual([
        {
          name: 'a',
          scope,
          file: target.file,
          baseDir: root,
          entry: { command: 'x', args: ['${KEEP}'] },
          raw: { command: 'x', args: ['${KEEP}'] },
        },
      ]);
      expect(servers.map((spec) => targetOf(spec, where))).toEqual([target]);

      expect(await setEnabled(target, 'a', false, { home })).toBe(true);
      expect((await loadConfig({ cwd: root, home })).servers[0]?.entry.enabled).toBe(false);
      expect(await setEnabled(target, 'a', true, { home })).toBe(true);
      expect((await loadConfig({ cwd: root, home })).servers[0]?.entry.enabled).toBeUndefined();
      expect(await removeServer(target, 'a', { home })).toBe(true);
      expect((await loadConfig({ cwd: root, home })).servers).toEqual([]);
      expect([
        await removeServer(target, 'a', { home }),
        await setEnabled(target, 'a', true, { home }),
      ]).toEqual([false, false]);
    },
  );

  it('a new config.json is private, a new .mcp.json is not, and no other file is left', async () => {
    const { root, home } = scratch();
    const where = { home, projectRoot: root };
    await setServer(editTarget('user', where), 'a', { command: 'x' }, { home });
    await setServer(editTarget('project', where), 'a', { command: 'x' }, { home });
    const mode = (path: string): number => statSync(path).mode & 0o777;
    expect({
      modes: [
        mode(home.dir),
        mode(home.config),
        mode(join(home.run, 'locks')),
        mode(join(root, '.mcp.json')),
      ],
      home: readdirSync(home.dir).sort(),
      project: readdirSync(root).sort(),
    }).toEqual({
      modes: [0o700, 0o600, 0o700, 0o666 & ~process.umask()],
      home: ['config.json', 'run'],
      project: ['.git', '.mcp.json'],
    });
  });

  it('refuses a name that exists, explains how to replace it, and replaces it when asked to', async () => {
    const { root, home, read, write } = scratch();
    const target = editTarget('project', { home, projectRoot: root });
    const before = '{\n  "mcpServers": {\n    "a": {\n      "command": "x" // mine\n    }\n  }\n}\n';
    write('.mcp.json', before);
    expect(await failureJson(setServer(target, 'a', { command: 'y' }, { home }))).toEqual({
      code: 'USAGE',
      server: 'a',
      message: `Server "a" exists already in project scope (${target.file})`,
      hint: 'Use --force to replace it, or choose another name.',
    });
    expect(read('.mcp.json')).toBe(before);
    await setServer(target, 'a', { command: 'y' }, { home, replace: true });
    expect(read('.mcp.json')).toBe(before.replace('"x"', '"y"'));
  });

  it('refuses a name that cannot be one before it touches anything', async () => {
    const { root, home } = scratch();
    const target = editTarget('user', { home, projectRoot: root });
    expect(await failureJson(setServer(target, '-a', { command: 'y' }, { home }))).toMatchObject({
      code: 'USAGE',
    });
    expect(existsSync(home.dir)).toBe(false);
  });

  it('__proto__ is a name like any other', async () => {
    const { root, home, read } = scratch();
    const target = editTarget('user', { home, projectRoot: root });
    await setServer(target, '__proto__', { command: 'x' }, { home });
    await setServer(target, 'constructor', { command: 'y' }, { home });
    const { servers } = await loadConfig({ cwd: root, home });
    expect(servers.map(({ name }) => name)).toEqual(['__proto__', 'constructor']);
    expect(await removeServer(target, '__proto__', { home })).toBe(true);
    expect(JSON.parse(read(home.config))).toEqual({ mcpServers: { constructor: { command: 'y' } } });
  });

  it('writes the real file behind a link', async () => {
    const { root, home, read, write } = scratch();
    write('shared/mcp.json', '{}\n');
    symlinkSync('shared/mcp.json', join(root, '.mcp.json'));
    await setServer(editTarget('project', { home, projectRoot: root }), 'a', { command: 'x' }, { home });
    expect({
      link: lstatSync(join(root, '.mcp.json')).isSymbolicLink(),
      real: JSON.parse(read('shared/mcp.json')),
    }).toEqual({
      link: true,
      real: { mcpServers: { a: { command: 'x' } } },
    });
  });

  it('keeps the spelling of a project that the file has already', async () => {
    const { root, home, read, write } = scratch();
    write(home.config, JSON.stringify({ projects: { [`${root}/`]: { mcpServers: {} } } }));
    await setServer(editTarget('local', { home, projectRoot: root }), 'a', { command: 'x' }, { home });
    expect(JSON.parse(read(home.config))).toEqual({
      projects: { [`${root}/`]: { mcpServers: { a: { command: 'x' } } } },
    });
  });

  it('sets and removes any value', async () => {
    const { home, read, write } = scratch();
    write(home.config, '{\n  // rules\n  "permissions": { "allow": ["a"] }\n}\n');
    await setValue(home.config, ['permissions', 'allow'], ['a', 'b'], { home });
    expect(read(home.config)).toBe('{\n  // rules\n  "permissions": { "allow": ["a", "b"] }\n}\n');
    await setValue(home.config, ['permissions'], undefined, { home });
    expect(read(home.config)).toBe('{\n  // rules\n}\n');
  });

  it('an entry given in code is not written anywhere', () => {
    const { root, home } = scratch();
    const spec = { name: 'a', scope: 'code', entry: { command: 'x' }, raw: {}, baseDir: root } as const;
    expect(() => targetOf(spec, { home, projectRoot: root })).toThrow(
      new PlugboardError('USAGE', 'Server "a" is in code scope, which commands do not write', {
        server: 'a',
      }),
    );
  });
});

describe('F53: a file that does not parse is never overwritten', () => {
  it.each([
    [
      'truncated',
      '{\n  "mcpServers": {\n    "a": {',
      ':3:11: The file is not valid JSON: unexpected end of file: a closing brace is missing here',
    ],
    ['not JSON', 'a: b', ':1:1: The file is not valid JSON: this is not JSON'],
  ])('%s', async (_, text, message) => {
    const { root, home, read, write } = scratch();
    const file = write('.mcp.json', text);
    const target = editTarget('project', { home, projectRoot: root });
    const refusal = {
      code: 'CONFIG_UNWRITABLE',
      message: file + message,
      hint: 'Fix the file first; nothing was changed.',
    };
    expect([
      await failureJson(setServer(target, 'a', { command: 'x' }, { home, replace: true })),
      await failureJson(removeServer(target, 'a', { home })),
      await failureJson(setEnabled(target, 'a', false, { home })),
      await failureJson(setValue(file, ['x'], 1, { home })),
    ]).toEqual([refusal, refusal, refusal, refusal]);
    expect(read('.mcp.json')).toBe(text);
  });

  it.each([
    [
      'a list where servers belong',
      '{ "mcpServers": [] }',
      ' cannot be changed: "mcpServers" is not an object',
    ],
    ['a list', '[]', ' cannot be changed: it does not hold a JSON object'],
  ])('%s', async (_, text, message) => {
    const { root, home, read, write } = scratch();
    const file = write('.mcp.json', text);
    const target = editTarget('project', { home, projectRoot: root });
    expect(await failureJson(setServer(target, 'a', { command: 'x' }, { home }))).toMatchObject({
      code: 'CONFIG_UNWRITABLE',
      message: file + message,
    });
    expect(read('.mcp.json')).toBe(text);
  });

  it('a folder in its place', async () => {
    const { root, home } = scratch();
    mkdirSync(join(root, '.mcp.json'));
    const target = editTarget('project', { home, projectRoot: root });
    expect(await failureJson(setServer(target, 'a', { command: 'x' }, { home }))).toEqual({
      code: 'CONFIG_UNWRITABLE',
      message: `${target.file} cannot be written: it is a folder`,
      hint: 'Nothing was changed; try again when that is fixed.',
    });
  });
});

describe('several processes', () => {
  const START =
    '// mine\n{\n  "mcpServers": {\n    // first\n    "first": { "command": "x", "x-own": [1, 2] } // kept\n  },\n  "x-unknown": { "a": 1 }\n}\n';

  it('F51: twenty writers on one file lose nothing, comments and unknown keys kept', async () => {
    const { home, read, write } = scratch();
    write(home.config, START);
    const writers = Array.from({ length: 20 }, (_, writer) =>
      run(process.execPath, [WRITER, home.dir, home.config, `w${writer}`, '3']),
    );
    expect((await Promise.all(writers)).map(({ stdout }) => stdout.trim())).toEqual(Array(20).fill('{}'));

    const text = read(home.config);
    const config = JSON.parse(text.replaceAll(/\/\/.*$/gm, ''));
    const names = Array.from({ length: 20 }, (_, writer) =>
      [0, 1, 2].map((index) => `w${writer}-${index}`),
    ).flat();
    expect(Object.keys(config.mcpServers).sort()).toEqual(['first', ...names].sort());
    expect({
      first: config.mcpServers.first,
      unknown: config['x-unknown'],
      comments: text.match(/\/\/.*$/gm),
    }).toEqual({
      first: { command: 'x', 'x-own': [1, 2] },
      unknown: { a: 1 },
      comments: ['// mine', '// first', '// kept'],
    });
    expect(readdirSync(home.dir).sort()).toEqual(['config.json', 'run']);
  });

  it('F52: killed before the rename, the old file is intact and the next writer goes on and cleans up', async () => {
    const { home, read, write } = scratch();
    write(home.config, START);
    const killed = spawnSync(process.execPath, [WRITER, home.dir, home.config, 'killed', '1', 'die']);
    expect({ signal: killed.signal, text: read(home.config) }).toEqual({ signal: 'SIGKILL', text: START });
    const left = readdirSync(home.dir).filter((name) => name.endsWith('.tmp'));
    expect(left).toHaveLength(1);
    for (const name of left) utimesSync(join(home.dir, name), 0, 0);

    expect((await run(process.execPath, [WRITER, home.dir, home.config, 'next', '1'])).stdout.trim()).toBe(
      '{}',
    );
    expect(read(home.config)).toBe(
      START.replace(
        '} // kept',
        '}, // kept\n    "next-0": {\n      "command": "run",\n      "args": ["0"]\n    }',
      ),
    );
    expect(readdirSync(home.dir).sort()).toEqual(['config.json', 'run']);
  });

  it('F52: on a full disk (a real one, of 64 kB) the old file is intact and the error reports it', () => {
    const { root, home } = scratch();
    const disk = join(root, 'disk');
    mkdirSync(disk);
    const script = `
      mount -t tmpfs -o size=64k none "$1" || exit 99
      printf '%s' "$2" > "$1/config.json"
      "$3" "$4" "$5" "$1/config.json" big 1 big
      cat "$1/config.json"; ls -A "$1"`;
    const args = ['-rm', 'sh', '-c', script, 'sh', disk, START, process.execPath, WRITER, home.dir];
    const { status, stdout, stderr } = spawnSync('unshare', args, { encoding: 'utf8' });
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    const [report = '', ...rest] = stdout.split('\n');
    expect({ error: JSON.parse(report), rest: rest.join('\n') }).toEqual({
      error: {
        code: 'CONFIG_UNWRITABLE',
        message: `${join(disk, 'config.json')} cannot be written: the disk is full`,
        hint: 'Nothing was changed; try again when that is fixed.',
      },
      rest: `${START}config.json\n`,
    });
  });

  it('F52: beyond the size that the system lets a process write, the same', () => {
    const { home, read, write } = scratch();
    write(home.config, START);
    // `ulimit -f` counts blocks of 512 bytes in some shells and of 1024 in others; both are below 200 kB.
    const { stdout } = spawnSync(
      'sh',
      [
        '-c',
        'ulimit -f 16; exec "$@"',
        'sh',
        process.execPath,
        WRITER,
        home.dir,
        home.config,
        'big',
        '1',
        'big',
      ],
      { encoding: 'utf8' },
    );
    expect(JSON.parse(stdout)).toMatchObject({
      code: 'CONFIG_UNWRITABLE',
      message: `${home.config} cannot be written: it would be larger than the system allows`,
    });
    expect({ text: read(home.config), files: readdirSync(home.dir).sort() }).toEqual({
      text: START,
      files: ['config.json', 'run'],
    });
  });
});
