/** What a confined server tries to get out: A29 (rights) and A37 (files and sockets that other programs use). */

import { execFile, execFileSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createHost, type Host, type Sandbox } from '../../src/index.ts';
import { FIXTURE, naiveServer } from './naive.ts';

const PROBER = FIXTURE('attack-prober.mjs');
const LIBRARY = new URL('../../dist/index.js', import.meta.url).href;
/** Any user that is not root. */
const SOMEONE = 65_534;

let dir: string;
let project: string;
let person: string;
const hosts: Host[] = [];
const listeners: Server[] = [];

beforeEach(() => {
  dir = realpathSync(mkdtempSync('/tmp/plugboard-walls-'));
  project = join(dir, 'project');
  person = join(dir, 'person');
  for (const folder of [project, join(person, '.ssh'), join(person, '.claude'), join(person, '.config/x')]) {
    mkdirSync(folder, { recursive: true });
  }
  const secrets = ['.ssh/id_rsa', '.claude/.credentials.json', '.npmrc', '.config/x/token', '.unheard-of'];
  for (const name of secrets) writeFileSync(join(person, name), 'SECRET');
});
afterEach(async () => {
  await Promise.all(hosts.splice(0).map((host) => host.close()));
  for (const listener of listeners.splice(0)) listener.close();
  rmSync(dir, { recursive: true, force: true });
});

async function open(sandbox: Sandbox, more: Readonly<Record<string, unknown>> = {}): Promise<Host> {
  const host = await createHost({
    cwd: project,
    home: join(dir, 'home'),
    env: { PATH: process.env['PATH'] ?? '', HOME: person, PLUGBOARD_HOME: join(dir, 'home') },
    watch: false,
    connect: 'none',
    approve: () => 'allow',
    servers: { s: { command: process.execPath, args: [PROBER], cwd: project, sandbox, ...more } },
  });
  hosts.push(host);
  await host.connect('s');
  return host;
}

async function tries(host: Host, what: Readonly<Record<string, unknown>>): Promise<string> {
  const { content } = await host.call('mcp__s__try', what);
  const [first] = content;
  return first?.type === 'text' ? first.text : '';
}

async function naively(what: Readonly<Record<string, unknown>>): Promise<string> {
  const server = await naiveServer({ command: process.execPath, args: [PROBER] });
  const { content } = (await server.request('tools/call', { name: 'try', arguments: what })) as {
    content: { text: string }[];
  };
  await server.close();
  return content[0]?.text ?? '';
}

/** Says what worked. */
const BREAK_OUT = (hidden: string, outside: string): string => `
  grep -q '^CapEff:.*[1-9a-f]' /proc/self/status && echo capabilities
  mount -o remount,rw,bind / && echo remounted
  umount ${hidden} && echo uncovered
  mkdir -p ${outside} && echo written
  [ -w /proc/sys/kernel/core_pattern ] && echo kernel settings
  [ -w /sys/kernel/uevent_helper ] && echo kernel helper
  unshare --user --map-root-user --mount sh -c 'mount -o remount,rw,bind / || umount ${hidden}' && echo nested
  true`;

describe('A29: a confined server that is root', () => {
  it('leaves a sandbox that bubblewrap makes without dropping rights', () => {
    const said = execFileSync(
      'bwrap',
      // Started by root, it has them anyway; like this, a normal user sees the same.
      [
        '--unshare-user',
        '--cap-add',
        'ALL',
        '--ro-bind',
        '/',
        '/',
        '--dev',
        '/dev',
        '--proc',
        '/proc',
      ].concat([
        '--tmpfs',
        join(person, '.ssh'),
        'sh',
        '-c',
        BREAK_OUT(join(person, '.ssh'), join(dir, 'outside')),
      ]),
      { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] },
    );
    expect(said.split('\n').slice(0, 4)).toEqual(['capabilities', 'remounted', 'uncovered', 'written']);
    expect(existsSync(join(dir, 'outside'))).toBe(true);
  });

  it.each<Sandbox>(['strict', { filesystem: 'project', network: 'full' }])(
    'has no rights in it: %j',
    async (sandbox) => {
      const host = await open(sandbox);
      expect(await tries(host, { script: BREAK_OUT('/run', '/usr/plugboard-outside') })).toBe('');
      expect(await tries(host, { read: join(person, '.ssh', 'id_rsa') })).toBe('ENOENT');
    },
  );

  it('with all files it has no rights either, and no switches of the kernel', async () => {
    const host = await open({ filesystem: 'all', network: 'full' });
    const said = await tries(host, { script: BREAK_OUT(join(person, '.ssh'), join(dir, 'outside')) });
    expect(said).toBe('written\n');
    expect(await tries(host, { script: 'ls -A /run /tmp' })).not.toContain('SECRET');
    expect(await tries(host, { read: join(person, '.ssh', 'id_rsa') })).toBe('ENOENT');
  });

  it('does not start where the probe gets out', async () => {
    const bin = join(dir, 'bin');
    mkdirSync(bin);
    // A helper that confines nothing, at a place where the real one would be looked for on another machine.
    const fake = '#!/bin/sh\nwhile [ "$1" != -- ]; do shift; done; shift\nexec "$@"\n';
    writeFileSync(join(bin, 'bwrap'), fake, { mode: 0o755 });
    const program = `
      import { createHost } from ${JSON.stringify(LIBRARY)};
      const entry = { command: process.execPath, args: [${JSON.stringify(PROBER)}], sandbox: 'strict' };
      const host = await createHost({ home: ${JSON.stringify(join(dir, 'home'))}, watch: false, connect: 'none', servers: { s: entry } });
      const { code, message } = await host.connect('s').then(() => ({}), (error) => error);
      process.stdout.write(JSON.stringify([code, message]));
      await host.close();`;
    const { stdout } = await promisify(execFile)(
      'bwrap',
      // prettier-ignore
      [
        '--dev-bind',
        '/',
        '/',
        '--unshare-user',
        '--cap-add',
        'ALL',
        '--ro-bind',
        join(bin, 'bwrap'),
        realpathSync('/usr/bin/bwrap'),
      ].concat(['--proc', '/proc', '--', process.execPath, '--input-type=module', '-e', program]),
      { cwd: project },
    );
    expect(JSON.parse(stdout)).toEqual([
      'START_FAILED',
      'The sandbox that its entry asks for is not available: bubblewrap does not confine here: it keeps capabilities',
    ]);
  });
});

describe('A37: a confined server of a normal user', () => {
  const attack = {
    hook: 'mkdir -p .git/hooks && echo "touch ../ran" > .git/hooks/post-commit && echo hook',
    config: 'git config core.fsmonitor "touch ../ran" && echo config',
    moved: 'mv .git .git-old && echo moved',
    mcp: 'echo "{}" > .mcp.json && echo mcp',
    claude: 'mkdir -p .claude && echo "{}" > .claude/settings.json && echo claude',
    vscode: 'mkdir -p .vscode && echo "{}" > .vscode/tasks.json && echo vscode',
    hooksPath: 'echo x > hooks/pre-commit && echo hooksPath',
    submodule: 'mkdir -p sub/.git/hooks && echo submodule',
  };
  const all = {
    script: `cd ${'$PROJECT'}; ${Object.values(attack).join('; ')}; echo x > plain && echo plain`,
  };
  const script = (): { script: string } => ({ script: all.script.replace('$PROJECT', project) });
  const repository = (): void => {
    execFileSync('git', ['init', '--quiet'], { cwd: project });
    execFileSync('git', ['config', 'core.hooksPath', 'hooks'], { cwd: project });
    for (const folder of ['hooks', 'sub']) mkdirSync(join(project, folder));
    writeFileSync(join(project, '.gitmodules'), '[submodule "sub"]\n\tpath = sub\n\turl = ./x\n');
  };

  it('plants programs for git and agents in a plain project', async () => {
    repository();
    expect((await naively(script())).split('\n').filter(Boolean)).toEqual([...Object.keys(attack), 'plain']);
  });

  it('can write to the project and not to what runs later, whether it exists or not', async () => {
    repository();
    writeFileSync(join(project, '.mcp.json'), '{}');
    const host = await open({ filesystem: 'project' });
    expect(await tries(host, script())).toBe('plain\n');
    expect(await tries(host, { script: `cd ${project}; git status --short | wc -l` })).not.toBe('0\n');
    await host.disconnect('s');
    // Names that were reserved while it ran are gone.
    expect(readdirSync(project).sort()).toEqual([
      '.git',
      '.gitmodules',
      '.mcp.json',
      'hooks',
      'plain',
      'sub',
    ]);
  });

  it('cannot create them in a folder that has none, also while another server ends', async () => {
    for (const folder of ['hooks', 'sub']) mkdirSync(join(project, folder));
    const [first, second] = [
      await open({ filesystem: 'project' }),
      await open({ filesystem: { write: ['.'] } }),
    ];
    await first.disconnect('s');
    const reserved =
      'mkdir -p .git/hooks .claude/x .vscode/x; echo x > .mcp.json; ls -A .git .claude .vscode';
    expect(await tries(second, { script: `cd ${project}; ${reserved} | grep -v ':$'` })).toBe('\n\n');
    expect(readFileSync(join(project, '.mcp.json'), 'utf8')).toBe('{ "mcpServers": {} }\n');
    await second.disconnect('s');
    expect(readdirSync(project).sort()).toEqual(['hooks', 'sub']);
  });

  it('does not start where a protected name is a link, or the project is the home', async () => {
    symlinkSync(person, join(project, '.vscode'));
    await expect(open({ filesystem: 'project' })).rejects.toMatchObject({
      code: 'START_FAILED',
      message: expect.stringContaining('.vscode is a link, which cannot be protected'),
    });
    await expect(open({ filesystem: { write: [person] } })).rejects.toMatchObject({
      message: expect.stringContaining('all of your home folder'),
    });
    expect(readdirSync(project)).toEqual(['.vscode']);
  });

  it('strict shows places by a list: nothing of the home, no file of the system that is not needed', async () => {
    const places = '.ssh/id_rsa .claude/.credentials.json .npmrc .config/x/token .unheard-of';
    const look = { script: `cd ${person} && cat ${places} 2>/dev/null; ls -A / | sort | tr '\\n' ' '` };
    expect(await naively(look)).toContain('SECRETSECRETSECRETSECRETSECRET');
    const host = await open('strict');
    const seen = (await tries(host, look)).trim().split(' ');
    expect(seen).not.toContain('SECRET');
    const known = /^(bin|dev|etc|gnu|lib\w*|nix|opt|proc|run|sbin|snap|tmp|usr|var)$/;
    // What the server is made of may lie below any folder of the root: Node itself, and this checkout with its packages.
    const packages = realpathSync('node_modules');
    const needed = [process.execPath, import.meta.filename, packages, person, project].map(
      (path) => path.split('/')[1],
    );
    expect(seen.filter((name) => !known.test(name) && !needed.includes(name))).toEqual([]);
    expect(await tries(host, { read: '/etc/shadow' })).toBe('ENOENT');
    expect(await tries(host, { script: 'ls -A /sys /home/* /mnt /srv 2>/dev/null' })).toBe('');
  });

  it('reaches no socket of another program', async () => {
    const addresses = [join(person, 'agent.sock'), join(dir, 'agent.sock'), `\0${dir}/agent`];
    for (const address of addresses) {
      const listener = createServer((socket) => socket.destroy());
      listeners.push(listener);
      await new Promise<void>((resolve) => listener.listen(address, resolve));
    }
    expect(await Promise.all(addresses.map((connect) => naively({ connect })))).toEqual(
      addresses.map(() => 'connected'),
    );
    const [atHome, temporary, unnamed] = addresses;
    const reach = async (sandbox: Sandbox, ...each: unknown[]): Promise<readonly string[]> => {
      const host = await open(sandbox);
      const codes = await Promise.all(each.map((connect) => tries(host, { connect })));
      return [...codes, await tries(host, { script: 'ls -A /run' })];
    };
    const refused = expect.stringMatching(/^(ENOENT|ECONNREFUSED)$/);
    const outcomes = await Promise.all([
      reach('strict', atHome, unnamed),
      reach({ filesystem: 'project', network: 'full' }, atHome, temporary),
      reach({ filesystem: 'all', network: 'none' }, temporary, unnamed),
    ]);
    expect(outcomes).toEqual(outcomes.map(() => [refused, refused, '']));
  });

  it('holds for another user than root', async () => {
    repository();
    const own = process.getuid?.() ?? 0;
    const user = own === 0 ? SOMEONE : own;
    execFileSync('chown', ['-R', `${user}:${user}`, dir]);
    chmodSync(dir, 0o755);
    const program = `
      import { createHost } from ${JSON.stringify(LIBRARY)};
      const entry = (sandbox) => ({ command: process.execPath, args: [${JSON.stringify(PROBER)}], cwd: ${JSON.stringify(project)}, sandbox });
      const servers = { strict: entry('strict'), s: entry({ filesystem: 'project' }) };
      const host = await createHost({ home: ${JSON.stringify(join(dir, 'home'))}, cwd: ${JSON.stringify(project)}, watch: false, connect: 'none', approve: () => 'allow', servers });
      const run = async (server, script) => {
        await host.connect(server);
        const { content } = await host.call('mcp__' + server + '__try', { script });
        return content[0].text;
      };
      const said = [process.getuid(), await run('strict', ${JSON.stringify(BREAK_OUT('/run', '/usr/x'))}), await run('s', ${JSON.stringify(script().script)})];
      await host.close();
      process.stdout.write(JSON.stringify(said));`;
    const drop = ['setpriv', `--reuid=${user}`, `--regid=${user}`, '--clear-groups'];
    const [command = '', ...args] = [
      ...(own === 0 ? drop : []),
      ...[process.execPath, '--input-type=module', '-e', program],
    ];
    const env = { PATH: process.env['PATH'] ?? '', HOME: person };
    const { stdout } = await promisify(execFile)(command, args, { cwd: project, env });
    expect(JSON.parse(stdout)).toEqual([user, '', 'plain\n']);
    if (own === 0) chownSync(dir, 0, 0);
  });
});

describe('a confined server', () => {
  it('runs with its program in the home, from a package that npx has prepared, and from its private folder', async () => {
    // As a version manager installs Node, and npx its packages.
    const version = join(person, '.nvm', 'versions', 'node', 'v1');
    mkdirSync(join(version, 'bin'), { recursive: true });
    symlinkSync(process.execPath, join(version, 'bin', 'node'));
    writeFileSync(join(version, 'bin', 'npx'), '#!/usr/bin/env node\nprocess.exit(1);\n', { mode: 0o755 });
    const tree = join(person, '.npm', '_npx', '0123');
    const installed = join(tree, 'node_modules', '@corp', 'server');
    mkdirSync(join(installed, 'bin'), { recursive: true });
    writeFileSync(
      join(tree, 'package.json'),
      JSON.stringify({ dependencies: { '@corp/server': '^1.0.0' }, _npx: { packages: ['@corp/server'] } }),
    );
    writeFileSync(join(installed, 'package.json'), JSON.stringify({ type: 'module', bin: 'bin/cli.js' }));
    const script = `#!/usr/bin/env node\n${readFileSync(PROBER, 'utf8')}`;
    writeFileSync(join(installed, 'bin', 'cli.js'), script, { mode: 0o755 });
    const cwd = join(dir, 'home', 'folders', 's');
    mkdirSync(cwd, { recursive: true });
    const env = { PATH: `${join(version, 'bin')}:${process.env['PATH'] ?? ''}` };
    const entry = { command: 'npx', args: ['-y', '@corp/server'], cwd, env };
    const strict = await open('strict', entry);
    expect(await tries(strict, { script: `pwd; ls ${dir}/home; touch x && echo written; node -p 1` })).toBe(
      `${cwd}\nfolders\n1\n`,
    );
    const writing = await open({ filesystem: 'project' }, entry);
    expect(await tries(writing, { script: `touch x && echo written; touch ${project}/y && echo too` })).toBe(
      'written\ntoo\n',
    );
    const all = await open({ filesystem: 'all' }, entry);
    expect(await tries(all, { script: `touch x && echo written; ls ${dir}/home` })).toBe(
      'written\nfolders\n',
    );
  });
});
