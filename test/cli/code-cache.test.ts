/** The compiled code that commands store in the home folder: used only if it is safe, and never needed. */

import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { COMMAND, FIXTURES, Place } from './command.ts';

const GET = ['get', 'demo'];
const MAIN = 'commands.cjs.code';
const HEADER_BYTES = 40;
/** A user other than the one that runs the test. */
const OTHER_UID = 65_534;

let place: Place;
beforeEach(() => {
  place = new Place();
  place.write(place.userFile, { mcpServers: { demo: { command: 'node' } } });
});
afterEach(() => place.remove());

const root = (): string => join(place.home, 'cache', 'code');

/** The folder with the code of `get`. */
function folder(): string {
  const [build = ''] = readdirSync(root());
  return join(root(), build, 'get');
}

const shown = { status: 0, stderr: '', stdout: expect.stringMatching(/^demo\n.*transport +stdio\n/s) };

/** Replaces the code of `commands.cjs` by code that prints a word, made by Node with these flags, with a valid header. */
function plant(flags: readonly string[] = []): string {
  const file = join(folder(), MAIN);
  const source = statSync(join(dirname(COMMAND), 'commands.cjs'));
  const script = `
    const body = 'require("node:fs").writeSync(1, "planted"); process.exit(0)'.padEnd(${source.size});
    const names = 'exports, require, module, __filename, __dirname, __import';
    const script = new (require('node:vm').Script)('(function (' + names + ') {' + body + '\\n})');
    script.runInThisContext();
    process.stdout.write(script.createCachedData().toString('base64'));`;
  const made = execFileSync(process.execPath, [...flags, '-e', script], { encoding: 'utf8' });
  const code = Buffer.from(made, 'base64');
  const { size, mtimeMs, ctimeMs } = source;
  const header = new Float64Array([1, size, mtimeMs, ctimeMs, code.length]);
  writeFileSync(file, Buffer.concat([new Uint8Array(header.buffer), code, code]), { mode: 0o600 });
  return file;
}

describe('compiled code of commands', () => {
  it('is stored by the first run of a command, for this user alone, and used by the next', async () => {
    const first = await place.run(GET);
    const files = readdirSync(folder()).sort();
    expect(files).toContain(MAIN);
    const stored = files.map((name) => statSync(join(folder(), name)));
    expect(new Set(stored.map(({ mode }) => mode & 0o777))).toEqual(new Set([0o600]));
    expect(statSync(folder()).mode & 0o777).toBe(0o700);
    expect(await place.run(GET)).toEqual(first);
    const times = files.map((name) => statSync(join(folder(), name)).mtimeMs);
    expect(times).toEqual(stored.map(({ mtimeMs }) => mtimeMs));
    // The checks below show something only because code that passes them is executed.
    plant();
    expect(await place.run(GET)).toEqual({ status: 0, stdout: 'planted', stderr: '' });
  });

  it.each([
    ['its group can write it', (file: string) => chmodSync(file, 0o620)],
    ['everyone can write it', (file: string) => chmodSync(file, 0o602)],
    [
      'it belongs to another user',
      (file: string) => {
        if (process.getuid?.() === 0) chownSync(file, OTHER_UID, OTHER_UID);
        else chmodSync(file, 0o622);
      },
    ],
  ])('is not executed if %s', async (_why, expose) => {
    await place.run(GET);
    expose(plant());
    expect(await place.run(GET)).toEqual(shown);
  });

  it('is not executed if it was made from another version of the file', async () => {
    await place.run(GET);
    const file = plant();
    const bytes = readFileSync(file);
    bytes.writeDoubleLE(1, 2 * Float64Array.BYTES_PER_ELEMENT);
    writeFileSync(file, bytes);
    expect(await place.run(GET)).toEqual(shown);
    expect(readFileSync(file)).not.toEqual(bytes);
  });

  it('is replaced if another version of V8 made it', async () => {
    await place.run(GET);
    const file = plant(['--no-lazy-feedback-allocation']);
    const planted = readFileSync(file);
    expect(await place.run(GET)).toEqual(shown);
    expect(readFileSync(file)).not.toEqual(planted);
    expect(await place.run(GET)).toEqual(shown);
  });

  it.each([
    ['a changed byte', (file: string) => damage(file)],
    ['a missing end', (file: string) => truncateSync(file, 2000)],
    ['nothing but a header', (file: string) => truncateSync(file, HEADER_BYTES)],
    ['no content', (file: string) => truncateSync(file, 0)],
    [
      'a folder in its place',
      (file: string) => {
        rmSync(file);
        mkdirSync(file);
      },
    ],
    [
      'a pipe in its place',
      (file: string) => {
        rmSync(file);
        execFileSync('mkfifo', [file]);
      },
    ],
  ])('is ignored with %s', async (_what, change) => {
    await place.run(GET);
    for (const name of readdirSync(folder())) change(join(folder(), name));
    expect(await place.run(GET)).toEqual(shown);
    expect(await place.run(GET)).toEqual(shown);
  });

  it('is not needed: a home whose cache cannot be written, and no home at all', async () => {
    writeFileSync(join(place.home, 'cache'), 'a file');
    expect(await place.run(GET)).toEqual(shown);
    rmSync(place.home, { recursive: true });
    expect(await place.run(['list', '--no-connect'])).toMatchObject({ status: 0 });
    expect(existsSync(place.home)).toBe(false);
  });

  it('has the same expressions for other scripts as the source: a scan finds the same', async () => {
    const args = [join(FIXTURES, 'surfaces-poison.mjs')];
    place.write(place.userFile, { mcpServers: { demo: { command: process.execPath, args } } });
    const kinds = ['hidden', 'instruct', 'twin'].map((kind) => expect.objectContaining({ kind }));
    for (const { value } of [await place.json(['test', 'demo']), await place.json(['test', 'demo'])])
      expect(value).toMatchObject({ findings: expect.arrayContaining(kinds) });
  });

  it('can import modules, as code that was just compiled can', async () => {
    await place.run(['daemon', 'start']);
    const statuses = [await place.json(['daemon', 'status']), await place.json(['daemon', 'status'])];
    await place.run(['daemon', 'stop']);
    for (const { value } of statuses) expect(value).toMatchObject({ running: true });
  });

  it('is not stored by a command that fails, or if the user disables compile caches', async () => {
    expect(await place.run(['get', 'other'])).toMatchObject({ status: 2 });
    expect(await place.run(GET, { env: { NODE_DISABLE_COMPILE_CACHE: '1' } })).toEqual(shown);
    expect(existsSync(root())).toBe(false);
  });

  it('is kept for the four builds that were used last', async () => {
    for (const [at, name] of ['a', 'b', 'c', 'd', 'e'].entries()) {
      mkdirSync(join(root(), name), { recursive: true });
      utimesSync(join(root(), name), at, at);
    }
    expect(await place.run(GET)).toEqual(shown);
    const builds = readdirSync(root());
    expect(builds).toHaveLength(4);
    expect(builds.filter((name) => name.length === 1).sort()).toEqual(['c', 'd', 'e']);
  });
});

function damage(file: string): void {
  const bytes = readFileSync(file);
  const at = Math.floor(bytes.length / 4);
  bytes.writeUInt8(bytes.readUInt8(at) ^ 0xff, at);
  writeFileSync(file, bytes);
}
