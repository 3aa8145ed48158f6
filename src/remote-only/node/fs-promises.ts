/** `node:fs/promises` over files in memory. */

import { fault, files, type Stats } from './files.ts';
import * as sync from './fs.ts';

type Later<Work extends (...args: never[]) => unknown> = (
  ...args: Parameters<Work>
) => Promise<ReturnType<Work>>;

interface FileHandle {
  writeFile(data: string): Promise<void>;
  appendFile(data: string): Promise<void>;
  stat(): Promise<Stats>;
  chown(): Promise<void>;
  chmod(): Promise<void>;
  sync(): Promise<void>;
  close(): Promise<void>;
}

/** Returns the same function with its result, or its error, in a promise. */
function later<Args extends unknown[], Result>(
  work: (...args: Args) => Result,
): (...args: Args) => Promise<Result> {
  return async (...args) => work(...args);
}

export const readFile: (path: string | URL, encoding: string) => Promise<string> = later(sync.readFileSync);
export const writeFile: Later<typeof sync.writeFileSync> = later(sync.writeFileSync);
export const mkdir: Later<typeof sync.mkdirSync> = later(sync.mkdirSync);
export const stat: Later<typeof sync.statSync> = later(sync.statSync);
/** Files in memory have no links. */
export const lstat: Later<typeof sync.statSync> = later(sync.statSync);
export const access: Later<typeof sync.accessSync> = later(sync.accessSync);
export const readdir: Later<typeof sync.readdirSync> = later(sync.readdirSync);
export const realpath: Later<typeof sync.realpathSync> = later(sync.realpathSync);
export const rename: Later<typeof sync.renameSync> = later(sync.renameSync);
export const rm: Later<typeof sync.rmSync> = later(sync.rmSync);

export async function readlink(path: string): Promise<string> {
  throw fault('EINVAL', 'readlink', path);
}

export async function unlink(path: string): Promise<void> {
  files.stat(path);
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
    stat: async () => files.stat(path),
    chown: async () => {},
    chmod: async () => {},
    sync: async () => {},
    close: async () => {},
  };
}
