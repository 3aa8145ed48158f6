/** `node:fs` over files in memory. */

import { absent } from './absent.ts';
import type { Buffer } from './buffer.ts';
import { fault, files, type Stats, type WriteOptions } from './files.ts';
import { resolve } from './path.ts';

type Path = string | URL;

/** Open files by number: only locks and the beginnings of files are read through one. */
const opened: string[] = [];

export const constants: Readonly<Record<string, number>> = { R_OK: 4, W_OK: 2, X_OK: 1, F_OK: 0 };

export function existsSync(path: Path): boolean {
  return files.exists(String(path));
}

export function readFileSync(path: Path): Buffer;
export function readFileSync(path: Path, encoding: string): string;
export function readFileSync(path: Path, encoding?: string): Buffer | string {
  const bytes = files.read(String(path));
  return encoding === undefined ? bytes : bytes.toString();
}

export function writeFileSync(path: string, data: string, options?: WriteOptions): void {
  files.write(path, data, options);
}

export function appendFileSync(path: string, data: string, options?: WriteOptions): void {
  files.write(path, data, { ...options, flag: 'a' });
}

export function mkdirSync(path: string, options?: { readonly recursive?: boolean }): void {
  files.mkdir(path, options?.recursive === true);
}

export function statSync(path: string, options?: { readonly throwIfNoEntry?: boolean }): Stats | undefined {
  if (options?.throwIfNoEntry === false && !files.exists(path)) return undefined;
  return files.stat(path);
}

/** There are no links. */
export function lstatSync(path: string): Stats | undefined {
  return statSync(path);
}

export function readlinkSync(path: string): never {
  throw fault('EINVAL', 'readlink', path);
}

export function realpathSync(path: string): string {
  files.stat(path);
  return resolve(path);
}

export function accessSync(path: string): void {
  files.stat(path);
}

export function readdirSync(path: string): string[] {
  return files.list(path);
}

export function renameSync(from: string, to: string): void {
  files.rename(from, to);
}

export function rmSync(path: string): void {
  files.remove(path);
}

export function openSync(path: string, flag = 'r'): number {
  if (flag === 'r') files.stat(path);
  else if (!files.exists(path)) files.write(path, '', { flag });
  opened.push(path);
  return opened.length - 1;
}

export function closeSync(_descriptor: number): void {}

export function fstatSync(descriptor: number): Stats {
  return files.stat(opened[descriptor] ?? '');
}

export function readSync(descriptor: number, into: Uint8Array): number {
  const bytes = files.read(opened[descriptor] ?? '').subarray(0, into.length);
  into.set(bytes);
  return bytes.length;
}

export function watch(path: string): never {
  throw fault('ENOSYS', 'watch', path);
}

export const createReadStream: () => never = absent('A stream of a file');
