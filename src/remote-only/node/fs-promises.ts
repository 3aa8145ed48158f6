/** `node:fs/promises` over files in memory. */

import type { Buffer } from './buffer.ts';
import { fault, files, type Stats, type WriteOptions } from './files.ts';
import { resolve } from './path.ts';

interface FileHandle {
  writeFile(data: string): Promise<void>;
  appendFile(data: string): Promise<void>;
  readFile(): Promise<Buffer>;
  stat(): Promise<Stats>;
  chown(): Promise<void>;
  chmod(): Promise<void>;
  sync(): Promise<void>;
  close(): Promise<void>;
}

export async function readFile(path: string | URL, encoding?: string): Promise<Buffer | string> {
  const bytes = files.read(String(path));
  return encoding === undefined ? bytes : bytes.toString();
}

export async function writeFile(path: string, data: string, options?: WriteOptions): Promise<void> {
  files.write(path, data, options);
}

export async function appendFile(path: string, data: string, options?: WriteOptions): Promise<void> {
  files.write(path, data, { ...options, flag: 'a' });
}

export async function mkdir(path: string, options?: { readonly recursive?: boolean }): Promise<void> {
  files.mkdir(path, options?.recursive === true);
}

export async function stat(path: string): Promise<Stats> {
  return files.stat(path);
}

/** Files in memory have no links. */
export async function lstat(path: string): Promise<Stats> {
  return files.stat(path);
}

export async function access(path: string): Promise<void> {
  files.stat(path);
}

export async function readdir(path: string): Promise<string[]> {
  return files.list(path);
}

export async function realpath(path: string): Promise<string> {
  files.stat(path);
  return resolve(path);
}

export async function readlink(path: string): Promise<string> {
  throw fault('EINVAL', 'readlink', path);
}

export async function rename(from: string, to: string): Promise<void> {
  files.rename(from, to);
}

export async function unlink(path: string): Promise<void> {
  files.stat(path);
  files.remove(path);
}

export async function rm(path: string): Promise<void> {
  files.remove(path);
}

export async function utimes(path: string, _accessed: Date, changed: Date): Promise<void> {
  files.touch(path, changed.getTime());
}

export async function chmod(path: string): Promise<void> {
  files.stat(path);
}

export async function open(path: string, flag = 'r', mode?: number): Promise<FileHandle> {
  if (flag === 'r') files.stat(path);
  else files.write(path, '', { flag, mode });
  return {
    writeFile: async (data) => files.write(path, data, { flag: flag.startsWith('a') ? 'a' : 'w' }),
    appendFile: async (data) => files.write(path, data, { flag: 'a' }),
    readFile: async () => files.read(path),
    stat: async () => files.stat(path),
    chown: async () => {},
    chmod: async () => {},
    sync: async () => {},
    close: async () => {},
  };
}
