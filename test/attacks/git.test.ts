/** What a repository can try when git is used in it: A35 (programs of repositories inside it), A48 (other stores). */

import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { git, Program } from '../workspace/program.ts';
import { SECRET, Tree } from '../workspace/tree.ts';

let tree: Tree;
let mark: string;
let evil: string;
const running: Program[] = [];

beforeEach(() => {
  tree = new Tree({ 'a.txt': 'one\n', 'sub/b.txt': 'b\n' });
  mark = join(tree.dir, 'ran');
  evil = join(tree.dir, 'evil.sh');
  writeFileSync(evil, `#!/bin/sh\necho x >> ${mark}\ncat\n`, { mode: 0o755 });
});
afterEach(async () => {
  await Promise.all(running.splice(0).map((program) => program.close()));
  tree.remove();
});

async function start(root = tree.root, env: Record<string, string> = {}): Promise<Program> {
  const program = await Program.start(root, [], env);
  running.push(program);
  return program;
}

/** A repository in `sub` whose settings name a program for everything that git would run there. */
function embed(tracked: boolean): void {
  git(tree.at('sub'), 'init', '-q', '-b', 'main');
  git(tree.at('sub'), 'add', '.');
  git(tree.at('sub'), 'commit', '-q', '-m', 'inner');
  git(tree.root, 'init', '-q', '-b', 'main');
  if (tracked) git(tree.root, 'add', '.');
  else git(tree.root, 'add', 'a.txt');
  git(tree.root, 'commit', '-q', '-m', 'first');
  // Settings that git cannot have brought by a clone, but an archive can.
  for (const key of ['filter.evil.clean', 'filter.evil.process', 'core.fsmonitor']) {
    git(tree.at('sub'), 'config', key, evil);
  }
  writeFileSync(tree.at('sub/.git/info/attributes'), '* filter=evil\n');
  writeFileSync(tree.at('.gitmodules'), '[submodule "sub"]\n\tpath = sub\n\turl = ./x\n\tignore = none\n');
  git(tree.root, 'config', 'submodule.sub.ignore', 'none');
  tree.write('sub/b.txt', 'c\n');
  tree.write('a.txt', 'two\n');
}

/** Ends with an error or not: what matters is what ran. */
function bare(...args: string[]): void {
  try {
    git(tree.root, ...args);
  } catch {
    // nothing to commit
  }
}

describe('A35: a repository inside the repository', () => {
  it('runs its programs with bare git', () => {
    embed(true);
    const ran = [
      ['add', '--all', '.'],
      ['commit', '-m', 'x', '--', '.'],
      ['status'],
      ['commit', '-m', 'y'],
    ].map((args) => {
      rmSync(mark, { force: true });
      tree.write('sub/b.txt', `${args.join()}\n`);
      bare(...args);
      return existsSync(mark);
    });
    expect(ran).toEqual([true, false, true, true]);
  });

  it.each([
    ['tracked as a submodule', true],
    ['not known to git', false],
  ])('runs nothing here: %s', async (_how, tracked) => {
    embed(tracked);
    rmSync(mark, { force: true });
    const program = await start();
    const answers = [
      await program.call('git_status'),
      await program.call('git_diff', { from: 'HEAD' }),
      await program.call('git_log'),
      await program.call('git_commit', { message: 'all', paths: ['.'] }),
      await program.call('git_commit', { message: 'nothing', paths: ['sub', 'a.txt'] }),
      await program.call('git_commit', { message: 'nothing' }),
    ];
    expect([answers.map(({ isError }) => isError), existsSync(mark)]).toEqual([
      [false, false, false, false, true, true],
      false,
    ]);
    const [, , , all, , nothing] = answers;
    expect([all?.data, nothing?.text]).toEqual([
      { hash: expect.any(String), files: ['.gitmodules', 'a.txt'] },
      'git made no commit: nothing to commit',
    ]);
  });

  it('a .git that leads elsewhere is not entered either, and a new commit of a submodule is committed', async () => {
    embed(true);
    renameSync(tree.at('sub/.git'), join(tree.outside, 'inner.git'));
    writeFileSync(tree.at('sub/.git'), `gitdir: ${join(tree.outside, 'inner.git')}\n`);
    git(tree.at('sub'), '-c', 'core.fsmonitor=false', 'commit', '-q', '--allow-empty', '-m', 'newer');
    rmSync(mark, { force: true });
    const program = await start();
    const { data } = await program.call('git_commit', { message: 'all', paths: ['.'] });
    expect([(data as { files: string[] }).files, existsSync(mark)]).toEqual([
      ['.gitmodules', 'a.txt', 'sub'],
      false,
    ]);
  });

  it('a commit starts neither gc nor maintenance, and no program of the project from the search path', async () => {
    embed(false);
    git(tree.root, 'config', 'gc.auto', '1');
    git(tree.root, 'config', 'gc.autoDetach', 'false');
    git(tree.root, 'config', 'gc.recentObjectsHook', evil);
    git(tree.root, 'config', 'commit.gpgSign', 'true');
    git(tree.root, 'config', 'hook.evil.command', evil);
    git(tree.root, 'config', 'hook.evil.event', 'pre-commit');
    mkdirSync(tree.at('node_modules/.bin'), { recursive: true });
    symlinkSync(evil, tree.at('node_modules/.bin/gpg'));
    const program = await start(tree.root, {
      PATH: `${tree.at('node_modules/.bin')}:node_modules/.bin:${process.env['PATH'] ?? ''}`,
    });
    await program.call('git_commit', { message: 'signed', paths: ['a.txt'] });
    git(tree.root, 'config', 'commit.gpgSign', 'false');
    const { isError } = await program.call('git_commit', { message: 'x', paths: ['.gitmodules'] });
    const packs = readdirSync(tree.at('.git/objects/pack'));
    expect([isError, existsSync(mark), packs]).toEqual([false, false, []]);
  });
});

describe('A48: objects of another repository', () => {
  let hash: string;
  beforeEach(() => {
    git(tree.outside, 'init', '-q');
    git(tree.outside, 'add', '.');
    git(tree.outside, 'commit', '-q', '-m', SECRET);
    hash = git(tree.outside, 'rev-parse', 'HEAD').trim();
    git(tree.outside, 'repack', '-q', '-a', '-d');
    git(tree.root, 'init', '-q', '-b', 'main');
    git(tree.root, 'add', '.');
    git(tree.root, 'commit', '-q', '-m', 'first');
  });

  const WAYS: readonly (readonly [string, () => void])[] = [
    [
      'a list of stores',
      () => writeFileSync(tree.at('.git/objects/info/alternates'), `${tree.outside}/.git/objects\n`),
    ],
    [
      'a list behind another store',
      () => {
        mkdirSync(tree.at('store/info'), { recursive: true });
        writeFileSync(tree.at('store/info/alternates'), `${tree.outside}/.git/objects\n`);
        writeFileSync(tree.at('.git/objects/info/alternates'), '../../store\n');
      },
    ],
    [
      'a list in quotes',
      () => writeFileSync(tree.at('.git/objects/info/alternates'), `"${tree.outside}/.git/objects"\n`),
    ],
    [
      'a folder of packs that is a link',
      () => {
        rmSync(tree.at('.git/objects/pack'), { recursive: true });
        symlinkSync(join(tree.outside, '.git/objects/pack'), tree.at('.git/objects/pack'));
      },
    ],
    [
      'packs that are links',
      () => {
        const from = join(tree.outside, '.git/objects/pack');
        for (const name of readdirSync(from))
          symlinkSync(join(from, name), tree.at(`.git/objects/pack/${name}`));
      },
    ],
  ];

  it.each(WAYS)('%s: shown by bare git, refused here', async (_how, lead) => {
    lead();
    expect(git(tree.root, 'log', '--format=%s', hash)).toContain(SECRET);
    const program = await start();
    for (const [tool, args] of [
      ['git_log', { revision: hash }],
      ['git_diff', { from: hash, to: 'HEAD' }],
      ['git_status', {}],
    ] as const) {
      const { text, isError } = await program.call(tool, args);
      expect([isError, text.includes(SECRET), text.includes('leads out of the project')]).toEqual([
        true,
        false,
        true,
      ]);
    }
  });

  it('a working tree that a setting moves to a folder above is refused', async () => {
    writeFileSync(join(tree.dir, 'private.txt'), SECRET);
    git(tree.root, 'config', 'core.worktree', tree.dir);
    const seen = execFileSync('git', ['status', '--short', '-uall'], { cwd: tree.root, encoding: 'utf8' });
    expect(seen).toContain('../private.txt');
    const program = await start();
    expect((await program.call('git_status')).text).toContain('leads out of the project');
  });
});
