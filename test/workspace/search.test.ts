import { symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isRecord } from '../../src/lib/json.ts';
import { git, Program, pathWith } from './program.ts';
import { SECRET, Tree } from './tree.ts';

const FILES = {
  'a.ts': 'const needle = 1;\nother\nNEEDLE\n',
  'src/b.ts': 'one\ntwo needle\nthree\nfour\n',
  'src/c.md': 'a needle (in) [brackets]\n',
  '.hidden': 'needle\n',
  'ignored.log': 'needle\n',
  'node_modules/p/index.js': 'needle\n',
  '-dash.ts': 'needle\n',
  'crlf.txt': 'needle\r\n',
};

function project(): Tree {
  const tree = new Tree({ ...FILES, '.gitignore': '*.log\nnode_modules\n' });
  tree.write('bytes.bin', Buffer.from('needle\0'));
  symlinkSync(tree.outside, tree.at('out'));
  symlinkSync(join(tree.outside, 'secret.txt'), tree.at('secret'));
  return tree;
}

describe.each([
  ['with ripgrep, in a repository', ['git', 'rg'], true],
  ['without ripgrep, in a repository', ['git'], true],
  ['with ripgrep, without git', ['rg'], false],
  ['without either', [], false],
] as const)('SRV-3: searching %s', (_name, programs, isRepository) => {
  const tree = project();
  let program: Program;
  /** Where git says what is ignored. Without it only node_modules is known. */
  const ignored = isRepository ? [] : ['ignored.log'];

  beforeAll(async () => {
    if (isRepository) git(tree.root, 'init', '-q');
    program = await Program.start(tree.root, [], { PATH: pathWith(tree.dir, programs) });
  });
  afterAll(async () => {
    await program.close();
    tree.remove();
  });

  it('grep finds lines in files that are the project’s own', async () => {
    const { text, data } = await program.call('grep', { pattern: 'needle' });
    const found = ['-dash.ts', '.hidden', 'a.ts', 'crlf.txt', ...ignored, 'src/b.ts', 'src/c.md'];
    const lines: Record<string, { line: number; text: string }> = {
      'a.ts': { line: 1, text: 'const needle = 1;' },
      'src/b.ts': { line: 2, text: 'two needle' },
      'src/c.md': { line: 1, text: 'a needle (in) [brackets]' },
    };
    const matches = found.map((path) => ({ path, ...(lines[path] ?? { line: 1, text: 'needle' }) }));
    expect(data).toEqual({ files: found, matches, truncated: false });
    expect(text).toBe(matches.map(({ path, line, text: row }) => `${path}\n  ${line}: ${row}`).join('\n'));
  });

  it('grep takes plain text, ignores case, shows context lines, and only the names of files', async () => {
    expect([
      await program.say('grep', { pattern: '(in) [brackets]', literal: true }),
      await program.say('grep', { pattern: 'needle', path: 'a.ts', ignore_case: true }),
      await program.say('grep', { pattern: 'needle', path: 'src', glob: '*.ts', context: 1 }),
      await program.say('grep', { pattern: 'needle', path: 'src', files_only: true }),
      await program.say('grep', { pattern: 'needle', path: '-dash.ts' }),
      await program.say('grep', { pattern: '--files', path: 'src' }),
      await program.say('grep', { pattern: 'NEEDLE|four', path: '.', glob: '**/*.ts', max_results: 1 }),
    ]).toEqual([
      'src/c.md\n  1: a needle (in) [brackets]',
      'a.ts\n  1: const needle = 1;\n  …\n  3: NEEDLE',
      'src/b.ts\n  1- one\n  2: two needle\n  3- three',
      'src/b.ts\nsrc/c.md',
      '-dash.ts\n  1: needle',
      'Nothing matches.',
      expect.stringContaining(
        '[Only 1 matches are shown; narrow the search, or raise max_results (up to 2000).]',
      ),
    ]);
  });

  it('grep looks at ignored files when asked, and at folders that are ignored when they are named', async () => {
    const all = await program.call('grep', { pattern: 'needle', files_only: true, include_ignored: true });
    const { files } = all.data as { files: string[] };
    const inside = await program.say('grep', { pattern: 'needle', path: 'node_modules/p' });
    expect([files.includes('ignored.log'), files.includes('node_modules/p/index.js'), inside]).toEqual([
      true,
      true,
      'node_modules/p/index.js\n  1: needle',
    ]);
  });

  it('an invalid pattern is reported as such', async () => {
    const { text, isError } = await program.call('grep', { pattern: '(' });
    expect([isError, /group|parenthes/i.test(text)]).toEqual([true, true]);
  });

  it('A20: neither follows links out of the project', async () => {
    const grep = await program.say('grep', { pattern: SECRET });
    const glob = await program.say('glob', { pattern: '**/secret*' });
    const linked = await Promise.all(
      ['out', 'secret', '../project-of-others', '/etc'].map((path) =>
        program.call('grep', { pattern: '.', path }),
      ),
    );
    expect([grep, glob, linked.map(({ isError }) => isError)]).toEqual([
      'Nothing matches.',
      'No file matches **/secret*.',
      [true, true, true, true],
    ]);
  });

  it('glob finds files by name and by path', async () => {
    expect([
      (await program.call('glob', { pattern: '*.ts' })).data,
      (await program.call('glob', { pattern: 'src/**/*.{ts,md}' })).data,
      (await program.call('glob', { pattern: '*.ts', path: 'src' })).data,
      await program.say('glob', { pattern: '*.log' }),
      await program.say('glob', { pattern: '../**' }),
    ]).toEqual([
      { files: ['-dash.ts', 'a.ts', 'src/b.ts'], truncated: false },
      { files: ['src/b.ts', 'src/c.md'], truncated: false },
      { files: ['src/b.ts'], truncated: false },
      isRepository ? 'No file matches *.log.' : 'ignored.log',
      'No file matches ../**.',
    ]);
  });
});

it('A18: without ripgrep a pattern that never ends blocks no other call, and ends with its own', async () => {
  const tree = new Tree({ 'a.txt': `${'a'.repeat(200)}!\n` });
  const program = await Program.start(tree.root, [], { PATH: pathWith(tree.dir, []) });
  const cancelling = new AbortController();
  const endless = program.call('grep', { pattern: '^(a+)+$' }, { signal: cancelling.signal });
  const ended = expect(endless).rejects.toThrow();
  // Answered while the other one still searches.
  const read = await program.say('read', { path: 'a.txt' });
  const glob = await program.say('glob', { pattern: '*.txt' });
  cancelling.abort();
  await ended;
  expect([read.length, glob]).toEqual([202, 'a.txt']);
  await program.close();
  tree.remove();
});

it('SRV-3: context lines of many matches are bounded, too', async () => {
  const tree = new Tree({ 'a.txt': `${'x'.repeat(400)}\n`.repeat(3_000) });
  const program = await Program.start(tree.root);
  const { text, data } = await program.call('grep', { pattern: 'x', context: 20, max_results: 2_000 });
  expect([
    text.length < 120_000,
    text.split('\n').at(-1),
    (data as { truncated: boolean }).truncated,
  ]).toEqual([true, '[Cut after 100000 characters; narrow the search, or ask for less context.]', true]);
  await program.close();
  tree.remove();
});

it('SRV-3: a long search reports its progress', async () => {
  const tree = new Tree({ 'z.txt': `${'a'.repeat(200)}!\n` });
  for (let at = 0; at < 600; at += 1) writeFileSync(tree.at(`${at}.txt`), 'x');
  const program = await Program.start(tree.root, [], { PATH: pathWith(tree.dir, []) });
  const cancelling = new AbortController();
  const step = new Promise((resolve) => {
    // On a busy machine the first reports are earlier.
    const onprogress = (report: unknown): void => {
      if (isRecord(report) && report['progress'] !== 0) resolve(report);
    };
    const options = { signal: cancelling.signal, onprogress };
    program.call('grep', { pattern: '^(a+)+$' }, options).catch(() => {});
  });
  expect(await step).toEqual({ progress: 500, message: '500 files searched' });
  cancelling.abort();
  await program.close();
  tree.remove();
});

it('SRV-3: a program of the project is not taken for ripgrep or git', async () => {
  const tree = new Tree({
    'a.txt': 'needle\n',
    'bin/rg': '#!/bin/sh\ntouch ran\n',
    'bin/git': '#!/bin/sh\ntouch ran\n',
  });
  const { chmodSync, existsSync } = await import('node:fs');
  for (const name of ['rg', 'git']) chmodSync(tree.at(`bin/${name}`), 0o755);
  const program = await Program.start(tree.root, [], { PATH: `${tree.at('bin')}:bin:.` });
  expect([
    await program.say('grep', { pattern: 'need', path: 'a.txt' }),
    await program.say('git_status'),
    existsSync(tree.at('ran')),
  ]).toEqual(['a.txt\n  1: needle', 'error: git is not installed. Install git to use this tool.', false]);
  await program.close();
  tree.remove();
});
