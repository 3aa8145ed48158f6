import { fork } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, linkSync, mkdirSync, readFileSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { PlugboardError } from '../../src/errors.ts';
import { Root } from '../../src/workspace/confined-root.ts';
import { openIn, replaceFile, withFile } from '../../src/workspace/open-file.ts';
import { isGitInternal } from '../../src/workspace/write-tool.ts';
import { SECRET, Tree, UNTOUCHED } from './tree.ts';

/** Reads until one of them meets the folder itself. */
const MOST_READS = 100_000;
const FLIPPER = fileURLToPath(new URL('../fixtures/workspace-flipper.mjs', import.meta.url));

let tree: Tree;
let root: Root;

beforeEach(() => {
  tree = new Tree({ 'a.txt': 'a', 'folder/b.txt': 'b' });
  root = new Root(tree.root);
});
afterEach(() => tree.remove());

async function readIn(boundary: Root, path: string): Promise<string> {
  return withFile(boundary, boundary.locate(path), ({ fd }) => readFileSync(fd, 'utf8'));
}

function read(path: string): Promise<string> {
  return readIn(root, path);
}

function write(path: string, text: string): void {
  replaceFile(root, root.locate(path), text);
}

/** The code of what is thrown; anything but a PlugboardError fails the test. */
async function codeOf(work: () => unknown): Promise<string> {
  try {
    await work();
  } catch (thrown) {
    if (thrown instanceof PlugboardError) return thrown.code;
    throw thrown;
  }
  return 'nothing';
}

describe('A20: a path out of the root is refused', () => {
  it.each([
    '../project-of-others/secret.txt',
    'folder/../../project-of-others/secret.txt',
    '/etc/passwd',
    '..',
    '../project/../project-of-others/secret.txt',
  ])('%s', async (path) => {
    const codes = [await codeOf(() => read(path)), await codeOf(() => write(path, 'x'))];
    expect([codes, tree.outsideFiles()]).toEqual([['DENIED', 'DENIED'], UNTOUCHED]);
  });

  it('an absolute path inside is fine, also by a link to the root', async () => {
    symlinkSync(tree.root, join(tree.dir, 'alias'));
    const alias = new Root(join(tree.dir, 'alias'));
    expect([root.locate(tree.at('a.txt')), alias.locate(join(tree.dir, 'alias', 'a.txt'))]).toEqual([
      { real: tree.at('a.txt'), shown: 'a.txt' },
      { real: tree.at('a.txt'), shown: 'a.txt' },
    ]);
  });

  it('a NUL byte and an endless path are refused', async () => {
    const codes = [await codeOf(() => read('a.txt\0.md')), await codeOf(() => read('x/'.repeat(3_000)))];
    expect(codes).toEqual(['INVALID_ARGUMENTS', 'INVALID_ARGUMENTS']);
  });
});

describe('A20: a link out of the root is refused', () => {
  const OUTSIDE: readonly (readonly [string, (tree: Tree) => void, string])[] = [
    ['a file', (t) => symlinkSync(join(t.outside, 'secret.txt'), t.at('link')), 'link'],
    ['a folder', (t) => symlinkSync(t.outside, t.at('link')), 'link/secret.txt'],
    ['a relative link', (t) => symlinkSync('../project-of-others', t.at('link')), 'link/secret.txt'],
    [
      'a chain of links',
      (t) => {
        symlinkSync('two', t.at('one'));
        symlinkSync(t.outside, t.at('two'));
      },
      'one/secret.txt',
    ],
    ['a way out and back in', (t) => symlinkSync(t.dir, t.at('up')), 'up/project-of-others/secret.txt'],
    ['the files of this process', (t) => symlinkSync('/proc/self', t.at('link')), 'link/environ'],
  ];

  it.each(OUTSIDE)('%s', async (_name, make, path) => {
    make(tree);
    const codes = [await codeOf(() => read(path)), await codeOf(() => write(path, 'x'))];
    expect([codes, tree.outsideFiles()]).toEqual([['DENIED', 'DENIED'], UNTOUCHED]);
  });

  it('a new file in a linked folder, and a link that leads nowhere yet, make nothing outside', async () => {
    symlinkSync(tree.outside, tree.at('link'));
    symlinkSync(join(tree.outside, 'new.txt'), tree.at('dangling'));
    const codes = [
      await codeOf(() => write('link/new.txt', 'x')),
      await codeOf(() => write('link/deep/er/new.txt', 'x')),
      await codeOf(() => write('dangling', 'x')),
    ];
    expect([codes, tree.outsideFiles()]).toEqual([['DENIED', 'DENIED', 'INVALID_ARGUMENTS'], UNTOUCHED]);
  });

  it('links that stay inside are followed, and written through', async () => {
    symlinkSync('folder', tree.at('link'));
    symlinkSync('../a.txt', tree.at('folder/up'));
    expect(await read('link/up')).toBe('a');
    write('link/up', 'changed');
    write('link/new/c.txt', 'c');
    expect([tree.read('a.txt'), tree.read('folder/new/c.txt')]).toEqual(['changed', 'c']);
  });

  it('a circle of links ends', async () => {
    symlinkSync('round', tree.at('round'));
    expect(await codeOf(() => read('round'))).toBe('INVALID_ARGUMENTS');
  });
});

describe('A20: changes between the check and the use', () => {
  const swap = (): void => {
    renameSync(tree.at('folder'), tree.at('was-folder'));
    symlinkSync(tree.outside, tree.at('folder'));
  };

  it('a folder that becomes a link after the path was resolved is refused', async () => {
    tree.write('folder/secret.txt', 'ours');
    const place = root.locate('folder/secret.txt');
    swap();
    const codes = [
      await codeOf(() => withFile(root, place, ({ fd }) => readFileSync(fd, 'utf8'))),
      await codeOf(() => replaceFile(root, place, 'x')),
    ];
    expect([codes.includes('nothing'), tree.outsideFiles()]).toEqual([false, UNTOUCHED]);
  });

  it('a folder above that becomes a link is refused', async () => {
    tree.write('folder/deep/secret.txt', 'ours');
    mkdirSync(join(tree.outside, 'deep'));
    const place = root.locate('folder/deep/secret.txt');
    swap();
    expect(await codeOf(() => withFile(root, place, () => {}))).toBe('DENIED');
    rmSync(join(tree.outside, 'deep'), { recursive: true });
  });

  it('a folder that is open stays the one that was checked', () => {
    tree.write('folder/secret.txt', 'ours');
    const { folder, name } = root.enterParent(root.locate('folder/secret.txt'));
    swap();
    const { fd } = openIn(folder, name, name);
    const text = readFileSync(fd, 'utf8');
    closeSync(fd);
    folder.close();
    expect(text).toBe('ours');
  });

  it('a file that becomes a link is not followed', async () => {
    const place = root.locate('a.txt');
    rmSync(tree.at('a.txt'));
    symlinkSync(join(tree.outside, 'secret.txt'), tree.at('a.txt'));
    const codes = [
      await codeOf(() => withFile(root, place, () => {})),
      await codeOf(() => replaceFile(root, place, 'x')),
    ];
    expect([codes, tree.outsideFiles()]).toEqual([['INVALID_ARGUMENTS', 'INVALID_ARGUMENTS'], UNTOUCHED]);
  });

  it('a folder that flips between itself and a link all the time leads nowhere else', async () => {
    tree.write('folder/secret.txt', 'ours');
    renameSync(tree.at('folder'), tree.at('real'));
    const flipper = fork(FLIPPER, [tree.at('folder'), 'real', tree.outside], { execArgv: [] });
    await once(flipper, 'message');
    const seen = new Set<string>();
    // On a busy machine the other process may be suspended for long while the link leads outside.
    for (let at = 0; at < 400 || (!seen.has('ours') && at < MOST_READS); at += 1) {
      seen.add(await read('folder/secret.txt').catch(() => 'refused'));
      try {
        write('folder/written.txt', 'x');
      } catch {
        // Refused, or gone for a moment.
      }
      // The other process is given its turn.
      await new Promise((resolve) => setImmediate(resolve));
    }
    flipper.kill();
    await once(flipper, 'exit');
    seen.delete('refused');
    expect([[...seen], tree.outsideFiles()]).toEqual([['ours'], UNTOUCHED]);
  });

  it('a hard link to a file outside is not written through', () => {
    linkSync(join(tree.outside, 'secret.txt'), tree.at('hard'));
    write('hard', 'x');
    expect([tree.read('hard'), tree.outsideFiles()]).toEqual(['x', UNTOUCHED]);
  });
});

describe('A20: git is left alone', () => {
  it.each([
    ['.git/hooks/pre-commit', true],
    ['sub/.GIT/config', true],
    ['.git', true],
    ['.g\u200cit/config', true],
    ['.git /config', true],
    ['.git::$INDEX_ALLOCATION/config', true],
    ['GIT~1/config', true],
    ['.gitignore', false],
    ['.github/workflows/ci.yml', false],
    ['src/git.ts', false],
  ])('%s: %s', (path, expected) => {
    expect(isGitInternal(path)).toBe(expected);
  });
});

/** Where links of a random tree point, and what paths are made of. */
const NAMES = ['a', 'b', 'c', 'secret.txt'];
const part = fc.constantFrom(...NAMES, '.', '..', '', 'project', 'project-of-others');
const somePath = fc.array(part, { minLength: 1, maxLength: 6 }).map((parts) => parts.join('/'));
const aTarget = fc.oneof(
  somePath,
  somePath.map((path) => `<root>/${path}`),
  somePath.map((path) => `<outside>/${path}`),
);
const aNode = fc.record({
  where: fc.array(fc.constantFrom(...NAMES), { minLength: 1, maxLength: 3 }).map((parts) => parts.join('/')),
  what: fc.oneof(fc.constant(undefined), aTarget),
});

it('A20: in random trees of links nothing outside is ever read or written', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(aNode, { maxLength: 12 }),
      fc.array(aTarget, { maxLength: 12 }),
      async (nodes, paths) => {
        const random = new Tree();
        const boundary = new Root(random.root);
        const filled = (path: string): string =>
          path.replace('<root>', random.root).replace('<outside>', random.outside);
        try {
          for (const { where, what } of nodes) {
            try {
              if (what === undefined) random.write(where, 'ours');
              else symlinkSync(filled(what), random.at(where));
            } catch {
              // Something else has that name, or a link took us elsewhere: the trees are random.
            }
          }
          const before = JSON.stringify(random.outsideFiles());
          for (const path of paths.map(filled)) {
            expect(await readIn(boundary, path).catch(() => 'refused')).not.toContain(SECRET);
          }
          for (const path of paths.map(filled)) {
            try {
              replaceFile(boundary, boundary.locate(path), 'written');
            } catch (thrown) {
              expect(thrown).toBeInstanceOf(PlugboardError);
            }
          }
          expect(JSON.stringify(random.outsideFiles())).toBe(before);
        } finally {
          random.remove();
        }
      },
    ),
    { numRuns: 100 },
  );
});
