import { execFileSync } from 'node:child_process';
import { chmodSync, linkSync, mkdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Program } from './program.ts';
import { Tree, UNTOUCHED } from './tree.ts';

const tree = new Tree();
let program: Program;

beforeAll(async () => {
  program = await Program.start(tree.root);
});
afterAll(async () => {
  await program.close();
  tree.remove();
});

it('SRV-3: offers its tools with every hint; the shell only where it is enabled', async () => {
  const withShell = await Program.start(tree.root, ['--shell']);
  const [{ tools }, more] = await Promise.all([program.client.listTools(), withShell.client.listTools()]);
  await withShell.close();
  const hints = Object.fromEntries(
    more.tools.map(({ name, annotations }) => [
      name,
      [
        annotations?.readOnlyHint,
        annotations?.destructiveHint,
        annotations?.idempotentHint,
        annotations?.openWorldHint,
      ],
    ]),
  );
  const looks = [true, false, true, false];
  expect(tools.map(({ name }) => name)).toEqual(Object.keys(hints).filter((name) => name !== 'shell'));
  expect(hints).toEqual({
    read: looks,
    write: [false, true, true, false],
    edit: [false, true, false, false],
    list: looks,
    glob: looks,
    grep: looks,
    git_status: looks,
    git_diff: looks,
    git_log: looks,
    git_commit: [false, false, false, false],
    shell: [false, true, false, true],
  });
});

describe('SRV-3: read', () => {
  it('returns a file or some of its lines, and explains how to read on', async () => {
    tree.write('lines.txt', 'one\ntwo\nthree\nfour\n');
    expect([
      await program.say('read', { path: 'lines.txt' }),
      await program.say('read', { path: 'lines.txt', offset: 2, limit: 2 }),
      await program.say('read', { path: 'lines.txt', offset: 4 }),
      await program.say('read', { path: 'lines.txt', limit: 4 }),
      await program.say('read', { path: 'lines.txt', offset: 5 }),
    ]).toEqual([
      'one\ntwo\nthree\nfour\n',
      'two\nthree\n[Lines 2 to 3; read on with offset 4.]',
      'four\n',
      'one\ntwo\nthree\nfour\n',
      'error: lines.txt has fewer than 5 lines. Give a smaller offset.',
    ]);
  });

  it('bounds what it gives, in lines and in bytes', async () => {
    tree.write('many.txt', Array.from({ length: 5_000 }, (_, at) => `${at + 1}\n`).join(''));
    tree.write('wide.txt', `${'ä'.repeat(80_000)}\nend\n`);
    const many = await program.say('read', { path: 'many.txt' });
    const wide = await program.say('read', { path: 'wide.txt' });
    expect([
      many.endsWith('\n2000\n[Lines 1 to 2000; read on with offset 2001.]'),
      wide === `${'ä'.repeat(50_000)}\n[Line 1 is cut after 100000 bytes; grep finds parts of long lines.]`,
    ]).toEqual([true, true]);
  });

  it('reads the end of a file of any size', async () => {
    tree.write('huge.txt', `${'x'.repeat(99)}\n`.repeat(300_000));
    const text = await program.say('read', { path: 'huge.txt', offset: 300_000 });
    expect(text).toBe(`${'x'.repeat(99)}\n`);
  });

  it('refuses binary files, folders and non-files; reports text that is not UTF-8', async () => {
    tree.write('picture.png', Uint8Array.from([0x89, 0x50, 0, 0x47]));
    tree.write('latin.txt', Uint8Array.from([0x61, 0xe4, 0x0a]));
    tree.write('empty.txt', '');
    mkdirSync(tree.at('sub'));
    execFileSync('mkfifo', [tree.at('pipe')]);
    expect([
      await program.say('read', { path: 'picture.png' }),
      await program.say('read', { path: 'latin.txt' }),
      await program.say('read', { path: 'empty.txt' }),
      await program.say('read', { path: 'sub' }),
      await program.say('read', { path: 'pipe' }),
      await program.say('read', { path: 'nowhere.txt' }),
    ]).toEqual([
      'error: picture.png is a binary file (4 bytes) and is not shown. Only text in UTF-8 is read and edited here.',
      'a\ufffd\n\n[Some bytes are not UTF-8 and are shown as \ufffd.]',
      '[The file is empty.]',
      'error: sub is a folder. Use list to see what is in it.',
      'error: pipe is not a regular file. Pipes, sockets and devices are left alone.',
      'error: nowhere.txt: there is no such file or folder. list and glob show what is there.',
    ]);
  });
});

describe('SRV-3: write', () => {
  it('makes folders, replaces whole files, keeps their mode', async () => {
    tree.write('run.sh', 'old');
    chmodSync(tree.at('run.sh'), 0o755);
    expect([
      await program.say('write', { path: 'run.sh', content: 'new' }),
      await program.say('write', { path: 'new/deep/file.txt', content: 'täxt' }),
      tree.read('run.sh'),
      statSync(tree.at('run.sh')).mode & 0o777,
      tree.read('new/deep/file.txt'),
    ]).toEqual(['Replaced run.sh (3 bytes).', 'Created new/deep/file.txt (5 bytes).', 'new', 0o755, 'täxt']);
  });

  it('A20: does not write into .git, through a hard link, or over a folder', async () => {
    mkdirSync(tree.at('inner/.git/hooks'), { recursive: true });
    symlinkSync('.git', tree.at('inner/link'));
    linkSync(join(tree.outside, 'secret.txt'), tree.at('hard.txt'));
    const refused =
      'error: inner/.git/hooks/pre-commit belongs to git itself and is not written by this tool';
    const [direct, linked, hard, folder] = [
      await program.say('write', { path: 'inner/.git/hooks/pre-commit', content: 'evil' }),
      await program.say('write', { path: 'inner/link/hooks/pre-commit', content: 'evil' }),
      await program.say('write', { path: 'hard.txt', content: 'x' }),
      await program.say('write', { path: 'inner', content: 'x' }),
    ];
    expect([
      direct.startsWith(refused),
      linked.startsWith(refused),
      hard,
      folder,
      tree.outsideFiles(),
    ]).toEqual([
      true,
      true,
      'Replaced hard.txt (1 bytes). It was a hard link: 1 other name keeps the old content.',
      'error: inner is a folder. Use list to see what is in it.',
      UNTOUCHED,
    ]);
  });
});

describe('SRV-3: edit', () => {
  it('replaces a text that occurs once, and shows the change', async () => {
    tree.write('edit.ts', 'const a = 1;\nconst b = 2;\n');
    const said = await program.say('edit', { path: 'edit.ts', old_text: 'b = 2', new_text: 'b = 3' });
    expect([said, tree.read('edit.ts')]).toEqual([
      'Edited edit.ts.\n--- a/edit.ts\n+++ b/edit.ts\n@@ -1,2 +1,2 @@\n const a = 1;\n-const b = 2;\n+const b = 3;',
      'const a = 1;\nconst b = 3;\n',
    ]);
  });

  it('reports how often and where a text occurs, and replaces all of them when asked', async () => {
    tree.write('twice.txt', 'x\ny\nx\n');
    const ambiguous = await program.say('edit', { path: 'twice.txt', old_text: 'x', new_text: '$&' });
    const all = await program.say('edit', {
      path: 'twice.txt',
      old_text: 'x',
      new_text: '$&',
      replace_all: true,
    });
    expect([ambiguous, all.split('\n')[0], tree.read('twice.txt')]).toEqual([
      'error: old_text occurs 2 times in twice.txt: at lines 1, 3. ' +
        'Give more of the text around the place that is meant, or set replace_all.',
      'Edited twice.txt, 2 times.',
      '$&\ny\n$&\n',
    ]);
  });

  it('keeps line ends, points at a match but for white space, and changes nothing when there is none', async () => {
    tree.write('dos.txt', 'one\r\ntwo\r\nthree\r\n');
    tree.write('spaces.txt', 'if (a) {\n\tb();\n}\n');
    const dos = await program.call('edit', { path: 'dos.txt', old_text: 'one\ntwo', new_text: '1\n2' });
    const near = await program.say('edit', {
      path: 'spaces.txt',
      old_text: 'if (a) {\n  b();',
      new_text: '',
    });
    const none = await program.say('edit', { path: 'spaces.txt', old_text: 'nothing', new_text: '' });
    expect([dos.isError, tree.read('dos.txt'), near, none]).toEqual([
      false,
      '1\r\n2\r\nthree\r\n',
      'error: old_text does not occur in spaces.txt. Lines 1 to 2 differ from it in white space only.',
      'error: old_text does not occur in spaces.txt. Read the file and copy the text exactly.',
    ]);
  });

  it('refuses what would grow without bound', async () => {
    tree.write('many.md', 'a'.repeat(10_001));
    tree.write('some.md', 'a'.repeat(100));
    const text = 'b'.repeat(200_000);
    expect([
      await program.say('edit', { path: 'many.md', old_text: 'a', new_text: 'b', replace_all: true }),
      await program.say('edit', { path: 'some.md', old_text: 'a', new_text: text, replace_all: true }),
      tree.read('some.md'),
    ]).toEqual([
      'error: old_text occurs more than 10000 times. Give a longer text.',
      'error: some.md would become larger than 16777216 bytes',
      'a'.repeat(100),
    ]);
  });

  it('A20: refuses binary files, .git, and what lies outside', async () => {
    tree.write('bytes.bin', Uint8Array.from([0x61, 0xff, 0x61]));
    tree.write('repo/.git/config', '[core]\n');
    symlinkSync(join(tree.outside, 'secret.txt'), tree.at('to-secret'));
    const answers = await Promise.all(
      ['bytes.bin', 'repo/.git/config', 'to-secret'].map((path) =>
        program.call('edit', { path, old_text: 'a', new_text: 'b' }),
      ),
    );
    expect([answers.map(({ isError }) => isError), tree.outsideFiles()]).toEqual([
      [true, true, true],
      UNTOUCHED,
    ]);
  });
});

describe('SRV-3: list', () => {
  it('lists files, folders and links to the given depth, as text and as data', async () => {
    const own = new Tree({ 'a.txt': 'abc', 'src/b.ts': '', 'src/deep/c.ts': '', 'node_modules/x/y.js': '' });
    symlinkSync(own.outside, own.at('out'));
    const listing = await Program.start(own.root);
    const { text, data } = await listing.call('list', { depth: 2 });
    const out = await listing.say('list', { path: 'out' });
    await listing.close();
    own.remove();
    expect({ text, data, out: out.startsWith('error: "out" leads out of the project') }).toEqual({
      text: 'a.txt  3 bytes\nnode_modules/\nout  (link)\nsrc/\nsrc/b.ts  0 bytes\nsrc/deep/',
      data: {
        entries: [
          { path: 'a.txt', type: 'file', size: 3 },
          { path: 'node_modules', type: 'folder' },
          { path: 'out', type: 'link' },
          { path: 'src', type: 'folder' },
          { path: 'src/b.ts', type: 'file', size: 0 },
          { path: 'src/deep', type: 'folder' },
        ],
        truncated: false,
      },
      out: true,
    });
  });

  it('is bounded, and reports it', async () => {
    mkdirSync(tree.at('crowd'));
    for (let at = 0; at < 1_200; at += 1) writeFileSync(tree.at(`crowd/${at}`), '');
    const { text, data } = await program.call('list', { path: 'crowd' });
    const { entries, truncated } = data as { entries: unknown[]; truncated: boolean };
    expect([entries.length, truncated, text.split('\n').at(-1)]).toEqual([
      1_000,
      true,
      '[Only the first 1000 are shown; list a folder further down, or use glob.]',
    ]);
  });
});
