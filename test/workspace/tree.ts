/** A project in a folder of its own, and a folder next to it that must stay out of reach. */

import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';

export const SECRET = 'nobody may read this';

export class Tree {
  readonly dir: string = realpathSync(mkdtempSync(join(tmpdir(), 'plugboard-workspace-')));
  readonly root: string = join(this.dir, 'project');
  /** Its name begins like the project's: a check of prefixes must not fall for it. */
  readonly outside: string = join(this.dir, 'project-of-others');

  constructor(files: Readonly<Record<string, string>> = {}) {
    mkdirSync(this.root);
    mkdirSync(this.outside);
    writeFileSync(join(this.outside, 'secret.txt'), SECRET);
    for (const [path, text] of Object.entries(files)) this.write(path, text);
  }

  at(path: string): string {
    return join(this.root, path);
  }

  write(path: string, text: string | Uint8Array): void {
    mkdirSync(dirname(this.at(path)), { recursive: true });
    writeFileSync(this.at(path), text);
  }

  read(path: string): string {
    return readFileSync(this.at(path), 'utf8');
  }

  /** Everything outside, to see that it stayed as it was. */
  outsideFiles(): Readonly<Record<string, string>> {
    const entries = readdirSync(this.outside, { recursive: true, withFileTypes: true });
    return Object.fromEntries(
      entries.map((entry) => {
        const path = join(entry.parentPath, entry.name);
        return [relative(this.outside, path), entry.isFile() ? readFileSync(path, 'utf8') : 'no file'];
      }),
    );
  }

  remove(): void {
    rmSync(this.dir, { recursive: true, force: true });
  }
}

export const UNTOUCHED: Readonly<Record<string, string>> = { 'secret.txt': SECRET };
