/** A37: a confined server moves the folders above a protected place, so that git finds a planted one there. */

import { execFile, execFileSync } from 'node:child_process';
import {
  chmodSync,
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
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createHost, type Sandbox } from '../../src/index.ts';
import { FIXTURE } from './naive.ts';

const PROBER = FIXTURE('attack-prober.mjs');
const LIBRARY = new URL('../../dist/index.js', import.meta.url).href;
const OWN = process.getuid?.() ?? 0;
/** Any user that is not root. */
const SOMEONE = 65_534;

let dir: string;
let project: string;
let person: string;

beforeEach(() => {
  dir = realpathSync(mkdtempSync('/tmp/plugboard-nested-'));
  project = join(dir, 'project');
  person = join(dir, 'person');
  for (const folder of [project, person]) mkdirSync(folder);
  git('init', '--quiet');
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

/** Git as a person uses it later, outside of the sandbox. */
function git(...args: readonly string[]): string {
  const identity = ['-c', 'user.name=a', '-c', 'user.email=a@example.com', '-c', 'safe.directory=*'];
  const env = { PATH: process.env['PATH'] ?? '', HOME: person };
  return execFileSync('git', [...identity, ...args], { cwd: project, env, encoding: 'utf8' });
}

function write(name: string, text = ''): void {
  mkdirSync(dirname(join(project, name)), { recursive: true });
  writeFileSync(join(project, name), text, { mode: 0o755 });
}

function nested(): void {
  git('config', 'core.hooksPath', 'tools/git/hooks');
  write('tools/git/hooks/pre-commit', '#!/bin/sh\n');
  const submodule = (name: string): string => `[submodule "${name}"]\n\tpath = ${name}\n\turl = ./x\n`;
  write('.gitmodules', submodule('libs/foo') + submodule('libs/later/bar'));
  write('libs/foo/.git/config', '[core]\n\thooksPath = dev/hooks\n');
  write('libs/foo/.gitmodules', submodule('deep/er'));
  write('libs/foo/deep/er/.git/config');
  git('config', 'include.path', '../dev/settings/git');
  write('dev/settings/git');
}

interface Outcome {
  readonly user?: number;
  readonly said?: string;
  readonly message?: string;
}

/** Lets a confined server run a script in the project. */
async function confined(script: string, sandbox: Sandbox): Promise<Outcome> {
  const host = await createHost({
    cwd: project,
    home: join(dir, 'home'),
    env: { PATH: process.env['PATH'] ?? '', HOME: person, PLUGBOARD_HOME: join(dir, 'home') },
    watch: false,
    connect: 'none',
    approve: () => 'allow',
    servers: { s: { command: process.execPath, args: [PROBER], cwd: project, sandbox } },
  });
  try {
    await host.connect('s');
    const { content } = await host.call('mcp__s__try', { script });
    return { said: content[0]?.type === 'text' ? content[0].text : '' };
  } catch (error) {
    return { message: error instanceof Error ? error.message : '' };
  } finally {
    await host.close();
  }
}

/** The same as another user than root. */
async function confinedFor(user: number, script: string, sandbox: Sandbox): Promise<Outcome> {
  const program = `
    import { createHost } from ${JSON.stringify(LIBRARY)};
    const [home, cwd, script, sandbox] = ${JSON.stringify([join(dir, 'home'), project, script, sandbox])};
    const s = { command: process.execPath, args: [${JSON.stringify(PROBER)}], cwd, sandbox };
    const host = await createHost({ home, cwd, watch: false, connect: 'none', approve: () => 'allow', servers: { s } });
    await host.connect('s');
    const { content } = await host.call('mcp__s__try', { script });
    await host.close();
    process.stdout.write(JSON.stringify({ user: process.getuid(), said: content[0].text }));`;
  const drop = ['setpriv', `--reuid=${user}`, `--regid=${user}`, '--clear-groups'];
  const [command = '', ...args] = [
    ...(OWN === 0 ? drop : []),
    ...[process.execPath, '--input-type=module', '-e', program],
  ];
  if (OWN === 0) execFileSync('chown', ['-R', `${user}:${user}`, dir]);
  chmodSync(dir, 0o755);
  const env = { PATH: process.env['PATH'] ?? '', HOME: person };
  return JSON.parse((await promisify(execFile)(command, args, { cwd: project, env })).stdout);
}

const PLANT = 'mkdir -p tools/git/hooks && printf "#!/bin/sh\\ntouch ran\\n" > tools/git/hooks/pre-commit';
const MOVE = `mv tools tools.old && ${PLANT} && chmod +x tools/git/hooks/pre-commit && echo moved`;

/** Each says its name if it worked. */
const ATTACKS = [
  MOVE,
  `mv tools/git tools/old && ${PLANT} && echo inner`,
  'mv tools/git/hooks hooks && echo itself',
  'mkdir evil; rm -rf tools; ln -sT ../evil tools && echo link',
  'rm -rf tools/git; rmdir tools/git && echo removed',
  'rm -rf tools/git/hooks; [ -e tools/git/hooks/pre-commit ] || echo emptied',
  'ln tools/git/hooks/pre-commit hard && echo hard link',
  'touch own && ln -f own tools/git/hooks/own && echo hard link inside',
  'mv libs libs.old && echo submodules',
  'mv libs/foo libs/old && echo submodule',
  'mv libs/foo/deep libs/foo/old && echo submodule of submodule',
  'echo x > libs/foo/.gitmodules && echo list of submodules',
  'mkdir -p libs/foo/dev/hooks && echo x > libs/foo/dev/hooks/pre-commit && echo hooks of submodule',
  'mkdir -p libs/later/bar/.git && echo submodule that is missing',
  'mv libs/later later && echo folder of it',
  'echo x > dev/settings/git && echo included settings',
  'mv dev dev.old && echo folder of included settings',
  'cd .. && mv project project.old && echo project',
];
const WORK =
  'mkdir -p tools/new libs/x && echo x > tools/plain && mv tools/plain tools/new/plain && echo work';
const script = (): string =>
  `${ATTACKS.map((each) => `(cd ${project}; ${each})`).join('\n')}\ncd ${project}; ${WORK}`;

describe('A37: folders above a protected place', () => {
  it('can be moved in a sandbox that only makes the place itself read-only', () => {
    nested();
    const hooks = join(project, 'tools/git/hooks');
    const binds = ['--ro-bind', '/', '/', '--bind', project, project, '--ro-bind', hooks, hooks];
    const rights = ['--unshare-user', '--cap-drop', 'ALL', '--chdir', project];
    expect(execFileSync('bwrap', [...binds, ...rights, 'sh', '-c', MOVE], { encoding: 'utf8' })).toBe(
      'moved\n',
    );
    git('commit', '--quiet', '--allow-empty', '-m', 'x');
    expect(existsSync(join(project, 'ran'))).toBe(true);
  });

  it('stay where they are, for root and for another user, and can be written otherwise', async () => {
    nested();
    const listing: Sandbox = { filesystem: { write: ['.', 'tools'] } };
    for (const sandbox of [{ filesystem: 'project' as const }, listing]) {
      expect(await confined(script(), sandbox)).toEqual({ said: 'work\n' });
    }
    const user = OWN === 0 ? SOMEONE : OWN;
    expect(await confinedFor(user, script(), { filesystem: 'project' })).toEqual({ user, said: 'work\n' });
    git('commit', '--quiet', '--allow-empty', '-m', 'x');
    expect(existsSync(join(project, 'ran'))).toBe(false);
    expect(readFileSync(join(project, 'tools/git/hooks/pre-commit'), 'utf8')).toBe('#!/bin/sh\n');
    // Folders that existed for the server alone are gone.
    expect(readdirSync(join(project, 'libs')).sort()).toEqual(['foo', 'x']);
    expect(readdirSync(join(project, 'libs/foo')).sort()).toEqual(['.git', '.gitmodules', 'deep']);
  });

  it.each([
    ['that is missing', () => git('config', 'core.hooksPath', 'tools/git/hooks')],
    ['with an absolute path', () => git('config', 'core.hooksPath', join(project, 'tools/git/hooks'))],
    [
      'that your own settings name',
      () => writeFileSync(join(person, '.gitconfig'), '[core]\nhooksPath=tools/git/hooks\n'),
    ],
    [
      'below a file',
      () => {
        git('config', 'core.hooksPath', 'tools/git/hooks');
        write('tools', 'a file');
      },
    ],
  ])('hold for a folder of hooks %s', async (_name, prepare) => {
    prepare();
    const before = readdirSync(project);
    const attack = `cd ${project}; ${PLANT} && echo planted; rm -f tools; ${MOVE}; echo tried`;
    expect(await confined(attack, { filesystem: 'project' })).toEqual({ said: 'tried\n' });
    expect(readdirSync(project)).toEqual(before);
  });

  it('hold for included settings that are missing, and git works while the server runs', async () => {
    git('config', 'include.path', '../dev/settings/git');
    const attack = `cd ${project}; mkdir -p dev/settings; echo x > dev/settings/git && echo planted; mv dev x && echo moved; git config --list > /dev/null && echo git`;
    expect(await confined(attack, { filesystem: 'project' })).toEqual({ said: 'git\n' });
    expect(readdirSync(project)).toEqual(['.git']);
  });

  it('hold in a part of a repository, in a worktree, and behind another name of the folder', async () => {
    nested();
    const attack = `${PLANT}; mv tools/git tools/old && echo moved; echo x > .git && echo git; echo tried`;
    // A part: hooks of the repository that are in the one folder that can be written.
    const part = `cd ${join(project, 'tools')}; mv git old && echo moved; echo x > git/hooks/pre-commit && echo planted; echo tried`;
    expect(await confined(part, { filesystem: { write: ['tools'] } })).toEqual({ said: 'tried\n' });
    symlinkSync(project, join(person, 'alias'));
    const alias = `cd ${join(person, 'alias')}; ${attack}; echo x > .git/config && echo config`;
    const write = ['~/alias'];
    expect(await confined(alias, { filesystem: { write } })).toEqual({ said: 'tried\n' });
    git('commit', '--quiet', '--allow-empty', '-m', 'x');
    git('worktree', 'add', '--quiet', '../worktree');
    project = join(dir, 'worktree');
    expect(await confined(`cd ${project}; ${attack}`, { filesystem: 'project' })).toEqual({
      said: 'tried\n',
    });
  });

  it('a path that is listed is writable, and nothing around it', async () => {
    nested();
    const attack = `cd ${project}; touch .git/objects/x && echo objects; touch .git/x && echo git; touch tools/git/hooks/x && echo hooks; true`;
    const said = (...write: readonly string[]): Promise<Outcome> =>
      confined(attack, { filesystem: { write } });
    expect(await said('.', '.git/objects')).toEqual({ said: 'objects\n' });
    expect(await said('.', '.git')).toEqual({ said: 'objects\ngit\n' });
    expect(await said('.', 'tools/git/hooks')).toEqual({ said: 'hooks\n' });
  });

  it('are a failed start where one is a link, the project itself, or one of too many', async () => {
    const failure = async (): Promise<string | undefined> =>
      (await confined('true', { filesystem: 'project' })).message?.split(': ')[1];
    mkdirSync(join(dir, 'elsewhere'));
    symlinkSync('../elsewhere', join(project, 'tools'));
    git('config', 'core.hooksPath', 'tools/hooks');
    expect(await failure()).toBe(`${project}/tools is a link, which cannot be protected`);
    expect(readdirSync(join(dir, 'elsewhere'))).toEqual([]);
    git('config', 'core.hooksPath', '.');
    expect(await failure()).toBe(`${project} is itself a folder of git hooks, which cannot be protected`);
    git('config', '--unset', 'core.hooksPath');
    const many = Array.from({ length: 200 }, (_none, at) => `[submodule "${at}"]\n\tpath = libs/${at}/x\n`);
    write('.gitmodules', many.join(''));
    expect(await failure()).toBe(
      `${project} has more than 256 places to protect (submodules, folders of hooks, and the folders above them)`,
    );
    expect(readdirSync(project).sort()).toEqual(['.git', '.gitmodules', 'tools']);
  });
});
