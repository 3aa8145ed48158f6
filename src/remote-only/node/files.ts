/** The home of a host without a disk: files in memory, which are deleted with the host. */

import { Buffer } from './buffer.ts';
import { basename, dirname, resolve } from './path.ts';

interface Node {
  /** Undefined for a folder. */
  bytes: Uint8Array | undefined;
  mtimeMs: number;
  mode: number;
}

export interface Stats {
  readonly size: number;
  readonly mtimeMs: number;
  readonly mode: number;
  readonly uid: number;
  readonly gid: number;
  readonly ino: number;
  isFile(): boolean;
  isDirectory(): boolean;
  isSymbolicLink(): boolean;
}

export interface WriteOptions {
  readonly flag?: string | undefined;
  readonly mode?: number | undefined;
}

export class MemoryFiles {
  readonly #nodes = new Map<string, Node>();

  read(path: string): Buffer {
    const node = this.#node(path, 'open');
    if (node.bytes === undefined) throw fault('EISDIR', 'read', path);
    return Buffer.from(node.bytes);
  }

  write(path: string, data: string | Uint8Array, { flag = 'w', mode = 0o644 }: WriteOptions = {}): void {
    const at = resolve(path);
    const before = this.#nodes.get(at);
    if (before !== undefined && flag.includes('x')) throw fault('EEXIST', 'open', path);
    if (!this.exists(dirname(at))) throw fault('ENOENT', 'open', path);
    const added = typeof data === 'string' ? Buffer.from(data) : data;
    const bytes = flag.startsWith('a') ? Buffer.concat([before?.bytes ?? new Uint8Array(), added]) : added;
    this.#nodes.set(at, { bytes, mode: before?.mode ?? mode, mtimeMs: Date.now() });
  }

  mkdir(path: string, recursive: boolean): void {
    const at = resolve(path);
    if (this.exists(at)) {
      if (recursive) return;
      throw fault('EEXIST', 'mkdir', path);
    }
    if (!this.exists(dirname(at))) {
      if (!recursive) throw fault('ENOENT', 'mkdir', path);
      this.mkdir(dirname(at), true);
    }
    this.#nodes.set(at, { bytes: undefined, mode: 0o700, mtimeMs: Date.now() });
  }

  exists(path: string): boolean {
    const at = resolve(path);
    return at === '/' || this.#nodes.has(at);
  }

  stat(path: string): Stats {
    const node = this.#node(path, 'stat');
    const isFile = node.bytes !== undefined;
    return {
      size: node.bytes?.length ?? 0,
      mtimeMs: node.mtimeMs,
      mode: node.mode,
      uid: 0,
      gid: 0,
      ino: 0,
      isFile: () => isFile,
      isDirectory: () => !isFile,
      isSymbolicLink: () => false,
    };
  }

  list(path: string): string[] {
    const at = resolve(path);
    this.#node(at, 'scandir');
    return [...this.#nodes.keys()].filter((each) => dirname(each) === at).map((each) => basename(each));
  }

  rename(from: string, to: string): void {
    const node = this.#node(from, 'rename');
    this.#nodes.delete(resolve(from));
    this.#nodes.set(resolve(to), node);
  }

  /** Removes a file, or a folder with everything in it. */
  remove(path: string): void {
    const at = resolve(path);
    for (const each of [...this.#nodes.keys()])
      if (each === at || each.startsWith(`${at}/`)) this.#nodes.delete(each);
  }

  touch(path: string, mtimeMs: number): void {
    this.#node(path, 'utime').mtimeMs = mtimeMs;
  }

  #node(path: string, call: string): Node {
    const at = resolve(path);
    if (at === '/') return { bytes: undefined, mode: 0o755, mtimeMs: 0 };
    const node = this.#nodes.get(at);
    if (node === undefined) throw fault('ENOENT', call, path);
    return node;
  }
}

export function fault(code: string, call: string, path: string): Error {
  return Object.assign(new Error(`${code}: ${call} '${path}'`), { code, syscall: call, path });
}

/** The files of every host of this program, each in its own folder. */
export const files: MemoryFiles = new MemoryFiles();
