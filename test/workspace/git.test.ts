import { chmodSync, existsSync, mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { git, Program } from './program.ts';
import { SECRET, Tree } from './tree.ts';

let tree: Tree;
const running: Program[] = [];

beforeEach(() => {
  tree = new Tree({ 'a.txt': 'one\n', 'sub/b.txt': 'b\n' });
  git(tree.root, 'init', '-q', '-b', 'main');
  git(tree.root, 'add', '.');
  git(tree.root, 'commit', '-q', '-m', 'first');
});
afterEach(async () => {
  await Promise.all(running.splice(0).map((program) => program.close()));
  tree.remove();
});

async function start(...flags: string[]): Promise<Program> {
  const program = await Program.start(tree.root, flags);
  running.push(program);
  return program;
}

it('SRV-3: git_status lists staged, changed and new files', async () => {
  tree.write('a.txt', 'two\n');
  tree.write('new file.txt', '');
  git(tree.root, 'mv', 'sub/b.txt', 'sub/c.txt');
  const program = await start();
  expect((await program.call('git_status')).data).toEqual({
    branch: 'main',
    ahead: 0,
    behind: 0,
    staged: [{ path: 'sub/c.txt', from: 'sub/b.txt', change: 'R' }],
    unstaged: [{ path: 'a.txt', change: 'M' }],
    untracked: ['new file.txt'],
    conflicted: [],
    truncated: false,
  });
  expect(await program.say('git_status')).toBe(
    'On main\nStaged:\n  R sub/b.txt -> sub/c.txt\nNot staged:\n  M a.txt\nUntracked:\n  new file.txt',
  );
});

it('SRV-3: git_diff shows changes of the tree, of the index and between commits', async () => {
  const first = git(tree.root, 'rev-parse', 'HEAD').trim();
  tree.write('a.txt', 'two\n');
  git(tree.root, 'add', 'a.txt');
  const program = await start();
  const hunk = '@@ -1 +1 @@\n-one\n+two\n';
  const [unstaged, staged, stat] = [
    await program.say('git_diff'),
    await program.say('git_diff', { staged: true }),
    await program.say('git_diff', { staged: true, stat: true }),
  ];
  git(tree.root, 'commit', '-q', '-m', 'second');
  const between = await program.say('git_diff', { from: first, to: 'HEAD', paths: ['a.txt'] });
  const elsewhere = await program.say('git_diff', { from: first, paths: ['sub'] });
  expect([
    unstaged,
    staged.endsWith(hunk),
    stat.includes('a.txt | 2 +-'),
    between.endsWith(hunk),
    elsewhere,
  ]).toEqual(['Nothing differs.', true, true, true, 'Nothing differs.']);
});

it('SRV-3: git_commit commits staged or named files; git_log shows it', async () => {
  tree.write('a.txt', 'two\n');
  tree.write('new.txt', 'new\n');
  tree.write('other.txt', 'other\n');
  git(tree.root, 'add', 'other.txt');
  rmSync(tree.at('sub/b.txt'));
  const program = await start();
  const named = await program.call('git_commit', {
    message: '# not a comment\n\nbody',
    paths: ['a.txt', 'new.txt', 'sub'],
  });
  const staged = await program.call('git_commit', { message: 'other' });
  const nothing = await program.call('git_commit', { message: 'nothing' });
  const log = (await program.call('git_log', { max: 2 })).data as { commits: Record<string, string>[] };
  const byPath = (await program.call('git_log', { path: 'sub' })).data as {
    commits: Record<string, string>[];
  };
  expect({
    named: (named.data as { files: string[] }).files,
    staged: (staged.data as { files: string[] }).files,
    nothing: nothing.isError,
    log: log.commits.map(({ subject, body, author }) => [subject, body, author]),
    byPath: byPath.commits.map(({ subject }) => subject),
  }).toEqual({
    named: ['a.txt', 'new.txt', 'sub/b.txt'],
    staged: ['other.txt'],
    nothing: true,
    log: [
      ['other', '', 'Ada'],
      ['# not a comment', 'body', 'Ada'],
    ],
    byPath: ['# not a comment', 'first'],
  });
});

it('A20: in a project that is part of a repository, git stays in the project', async () => {
  tree.write('a.txt', 'changed outside\n');
  tree.write('sub/b.txt', 'changed inside\n');
  git(tree.root, 'add', 'a.txt');
  const program = await Program.start(tree.at('sub'));
  running.push(program);
  const status = (await program.call('git_status')).data as { staged: unknown[]; unstaged: unknown[] };
  const diff = await program.say('git_diff', { from: 'HEAD' });
  const commit = (await program.call('git_commit', { message: 'inside' })).data as { files: string[] };
  expect([
    status.staged,
    status.unstaged,
    diff.includes('outside'),
    diff.includes('inside'),
    commit.files,
  ]).toEqual([[], [{ path: 'b.txt', change: 'M' }], false, true, ['b.txt']]);
  expect(git(tree.root, 'status', '--short')).toBe('M  a.txt\n');
});

it('A20: paths and revisions that look like options are neither', async () => {
  tree.write('--output=stolen', 'x\n');
  tree.write(':(top)a.txt', 'x\n');
  const program = await start();
  const answers = [
    await program.call('git_diff', { from: '--output=pwned' }),
    await program.call('git_diff', { paths: ['--output=pwned'] }),
    await program.call('git_log', { revision: '--output=pwned' }),
    await program.call('git_log', { path: '--output=pwned' }),
    await program.call('git_diff', { paths: ['../project-of-others'] }),
    await program.call('git_commit', { message: '--amend', paths: ['--output=stolen', ':(top)a.txt'] }),
  ];
  expect([answers.map(({ isError }) => isError), existsSync(tree.at('pwned')), answers.at(-1)?.data]).toEqual(
    [
      [true, false, true, false, true, false],
      false,
      { hash: expect.stringMatching(/^[0-9a-f]{40}$/), files: ['--output=stolen', ':(top)a.txt'] },
    ],
  );
});

/** What a hostile repository may have set, so that git runs a program which leaves a mark. */
const TRAPS: readonly (readonly [string, (tree: Tree, run: string) => void])[] = [
  ['core.fsmonitor', (t, run) => git(t.root, 'config', 'core.fsmonitor', run)],
  ['diff.external', (t, run) => git(t.root, 'config', 'diff.external', run)],
  ['core.pager', (t, run) => git(t.root, 'config', 'core.pager', run)],
  [
    'a diff driver',
    (t, run) => {
      t.write('.gitattributes', '* diff=evil\n');
      git(t.root, 'config', 'diff.evil.command', run);
      git(t.root, 'config', 'diff.evil.textconv', run);
    },
  ],
  [
    'a filter',
    (t, run) => {
      t.write('.gitattributes', '* filter=evil\n');
      git(t.root, 'config', 'filter.evil.clean', run);
      git(t.root, 'config', 'filter.evil.smudge', run);
      git(t.root, 'config', 'filter.evil.required', 'true');
    },
  ],
  [
    'a filter process, with a name that is hard to pass on',
    (t, run) => {
      t.write('.gitattributes', '* filter=e=v.il\n');
      git(t.root, 'config', 'filter.e=v.il.process', run);
    },
  ],
  [
    'a filter from an included file',
    (t, run) => {
      t.write('.gitattributes', '* filter=evil\n');
      writeFileSync(t.at('.git/more'), `[filter "evil"]\n\tclean = "${run}"\n`);
      git(t.root, 'config', 'include.path', 'more');
    },
  ],
  [
    'hooks',
    (t, run) => {
      const hooks = [
        'pre-commit',
        'commit-msg',
        'post-commit',
        'prepare-commit-msg',
        'post-index-change',
        'reference-transaction',
      ];
      for (const hook of hooks) symlinkSync(run, t.at(`.git/hooks/${hook}`));
    },
  ],
  [
    'hooks in the project',
    (t, run) => {
      mkdirSync(t.at('.hooks'));
      symlinkSync(run, t.at('.hooks/pre-commit'));
      git(t.root, 'config', 'core.hooksPath', '.hooks');
    },
  ],
  [
    'signatures',
    (t, run) => {
      git(t.root, 'config', 'gpg.program', run);
      git(t.root, 'config', 'log.showSignature', 'true');
    },
  ],
  [
    'a submodule',
    (t, run) => {
      git(t.root, 'init', '-q', 'module');
      git(t.at('module'), 'commit', '-q', '--allow-empty', '-m', 'x');
      git(t.root, '-c', 'protocol.file.allow=always', 'add', 'module');
      git(t.root, 'commit', '-q', '-m', 'module');
      git(t.at('module'), 'config', 'core.fsmonitor', run);
      git(t.root, 'config', 'diff.submodule', 'log');
      git(t.root, 'config', 'status.submoduleSummary', 'true');
    },
  ],
];

describe('A20: nothing in a hostile repository is run', () => {
  it.each(TRAPS)('%s', async (_name, set) => {
    const mark = join(tree.dir, 'ran');
    const run = join(tree.dir, 'evil.sh');
    writeFileSync(run, `#!/bin/sh\ntouch ${mark}\ncat\n`);
    chmodSync(run, 0o755);
    set(tree, run);
    rmSync(mark, { force: true });
    tree.write('a.txt', 'changed\n');
    tree.write('new.txt', 'new\n');
    const program = await start();
    const answers = [
      await program.call('git_status'),
      await program.call('git_diff'),
      await program.call('git_diff', { from: 'HEAD' }),
      await program.call('git_log'),
      await program.call('glob', { pattern: '*' }),
      await program.call('git_commit', { message: 'second', paths: ['a.txt', 'new.txt'] }),
    ];
    expect([answers.filter(({ isError }) => isError), existsSync(mark)]).toEqual([[], false]);
  });

  it('a traps does spring when git is run without our care', () => {
    const mark = join(tree.dir, 'ran');
    git(tree.root, 'config', 'core.fsmonitor', `touch ${mark}; false`);
    git(tree.root, 'status');
    expect(existsSync(mark)).toBe(true);
  });

  it('where the shell is enabled, hooks run, and may refuse', async () => {
    writeFileSync(tree.at('.git/hooks/pre-commit'), '#!/bin/sh\necho no such thing >&2\nexit 1\n');
    chmodSync(tree.at('.git/hooks/pre-commit'), 0o755);
    tree.write('a.txt', 'changed\n');
    const program = await start('--shell');
    expect(await program.call('git_commit', { message: 'x', paths: ['a.txt'] })).toEqual({
      text: 'git made no commit: no such thing',
      data: undefined,
      isError: true,
    });
  });
});

describe('A20: a repository of another user', () => {
  function secretRepository(): string {
    git(tree.outside, 'init', '-q');
    git(tree.outside, 'add', '.');
    git(tree.outside, 'commit', '-q', '-m', SECRET);
    return join(tree.outside, '.git');
  }

  const WAYS: readonly (readonly [string, (tree: Tree, secret: string) => void])[] = [
    ['a file', (t, secret) => writeFileSync(t.at('.git'), `gitdir: ${secret}\n`)],
    ['a link', (t, secret) => symlinkSync(secret, t.at('.git'))],
    [
      'a common folder',
      (t, secret) => {
        mkdirSync(t.at('.git'));
        writeFileSync(t.at('.git/HEAD'), 'ref: refs/heads/master\n');
        writeFileSync(t.at('.git/commondir'), `${secret}\n`);
      },
    ],
    [
      'parts that are links',
      (t, secret) => {
        git(t.root, 'init', '-q');
        for (const part of ['objects', 'refs']) {
          rmSync(t.at(`.git/${part}`), { recursive: true });
          symlinkSync(join(secret, part), t.at(`.git/${part}`));
        }
      },
    ],
  ];

  it.each(WAYS)('%s: refused', async (_name, lead) => {
    const secret = secretRepository();
    rmSync(tree.at('.git'), { recursive: true });
    lead(tree, secret);
    const program = await start();
    const { text, isError } = await program.call('git_log');
    expect([isError, text.includes(SECRET)]).toEqual([true, false]);
  });

  it('working trees and submodules that git made are fine', async () => {
    git(tree.root, 'worktree', 'add', '-q', join(tree.dir, 'linked'));
    git(tree.outside, 'init', '-q');
    git(tree.outside, '-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', tree.root, 'module');
    const logs = await Promise.all(
      [join(tree.dir, 'linked'), join(tree.outside, 'module')].map(async (root) => {
        const program = await Program.start(root);
        running.push(program);
        const { data, text } = await program.call('git_log');
        return (
          (data as { commits?: { subject: string }[] } | undefined)?.commits?.map(({ subject }) => subject) ??
          text
        );
      }),
    );
    expect(logs).toEqual([['first'], ['first']]);
  });
});

it('SRV-3: a project without a repository is reported as such', async () => {
  renameSync(tree.at('.git'), join(tree.dir, 'elsewhere'));
  const program = await Program.start(tree.root, [], { GIT_CEILING_DIRECTORIES: tree.dir });
  running.push(program);
  expect(await program.say('git_status')).toBe(
    'error: git: not a git repository (or any of the parent directories): .git',
  );
});
