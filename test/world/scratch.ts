/** A project and a home of its own for one test, gone when the test is. */

import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { onTestFinished } from 'vitest';
import { type Home, homeAt } from '../../src/config/home.ts';

export interface Scratch {
  /** The project root: it has a `.git`. */
  readonly root: string;
  readonly home: Home;
  /** Writes a file below the project root (or at an absolute path) and returns its path. */
  write(path: string, content: string | Uint8Array): string;
  read(path: string): string;
}

export function scratch(): Scratch {
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'plugboard-config-')));
  onTestFinished(() => rmSync(base, { recursive: true, force: true }));
  const root = join(base, 'project');
  const home = homeAt(join(base, 'home'));
  mkdirSync(join(root, '.git'), { recursive: true });
  const at = (path: string): string => (path.startsWith('/') ? path : join(root, path));
  return {
    root,
    home,
    write(path, content) {
      mkdirSync(dirname(at(path)), { recursive: true });
      writeFileSync(at(path), content);
      return at(path);
    },
    read: (path) => readFileSync(at(path), 'utf8'),
  };
}
