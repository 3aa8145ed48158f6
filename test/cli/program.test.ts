/** `plugboard program`: programs from files, stdin and the home, over the user's servers. */

import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FIXTURES, Place } from './command.ts';

const SUM = `declare const input: { a: number };
const { sum } = await tools.demo.add({ a: input.a, b: 2 });
return { sum };`;
const SCHEMA = { type: 'object', properties: { a: { type: 'number' } }, required: ['a'] };
const demo = { command: process.execPath, args: [join(FIXTURES, 'programs-server.mjs')] };

let place: Place;
let script: string;
beforeEach(() => {
  place = new Place();
  script = join(place.project, 'sum.ts');
  place.write(place.userFile, { mcpServers: { demo } });
  place.write(script, SUM);
});
afterEach(() => place.remove());

describe('CAL-9: program run', () => {
  it('runs a file and stdin with input, without codeMode in the configuration', async () => {
    expect(await place.run(['program', 'run', 'sum.ts', 'a:=1'])).toMatchObject({
      status: 0,
      stdout: '{"sum":3}',
    });
    expect(await place.json(['program', 'run', '-', 'a:=2', 'text=hi'], { input: 'return input;' })).toEqual({
      status: 0,
      value: { content: [{ type: 'text', text: '{"a":2,"text":"hi"}' }], isError: false },
    });
  });

  it('keeps the limits of codeMode, and exits with 1 if the program fails', async () => {
    place.write(place.userFile, { mcpServers: { demo }, codeMode: { calls: 1 } });
    const twice = 'await tools.demo.add({ a: 1, b: 1 });\nawait tools.demo.add({ a: 1, b: 1 });';
    const { status, stdout } = await place.run(['program', 'run', '-'], { input: twice });
    expect([status, stdout]).toEqual([
      1,
      expect.stringMatching(/^The program failed: ToolError: A program may make at most 1 calls/),
    ]);
  });

  it('asks as plugboard call does: by a rule only, and continues a paused program with --resume', async () => {
    const file = join(place.dir, 'lines');
    const input = `await tools.demo.write({ file: input.file, line: 'one' });
      return await tools.demo['say-it']({ text: 'said' });`;
    const run = (): ReturnType<Place['run']> => place.run(['program', 'run', '-', `file=${file}`], { input });
    expect(await run()).toMatchObject({ status: 0, stdout: 'said' });
    place.write(place.userFile, { mcpServers: { demo }, permissions: { ask: ['mcp__demo__say-it'] } });
    const { status, stderr } = await run();
    expect([status, stderr]).toEqual([
      5,
      expect.stringContaining('The program is paused: mcp__demo__say-it'),
    ]);
    const id = /--resume (\S+) --yes/.exec(stderr)?.[1] ?? '';
    const resumed = await place.run(['program', 'run', '--resume', id, '--yes']);
    expect(resumed).toMatchObject({ status: 0, stdout: 'said' });
    // The first call of the paused program was not made again.
    expect(readFileSync(file, 'utf8')).toBe('one\none\n');
    const again = await place.run(['program', 'run', '--resume', id, '--yes']);
    expect([again.status, again.stderr.includes('There is no paused program')]).toEqual([2, true]);
  });

  it('makes no call that a rule denies, also with --yes', async () => {
    place.write(place.userFile, { mcpServers: { demo }, permissions: { deny: ['mcp__demo__write'] } });
    const file = join(place.dir, 'lines');
    const input = `return await tools.demo.write({ file: input.file, line: 'one' }).catch(({ code }) => code);`;
    expect(await place.run(['program', 'run', '-', `file=${file}`, '--yes'], { input })).toMatchObject({
      status: 0,
      stdout: 'DENIED',
    });
    expect(existsSync(file)).toBe(false);
  });
});

describe('CAL-9: saved programs', () => {
  it('are saved for their owner only, listed, run with the types of their schema, and removed', async () => {
    place.write(join(place.project, 'input.json'), SCHEMA);
    const save = ['program', 'save', 'sum', 'sum.ts', '--description', 'Adds 2', '--input', 'input.json'];
    const [file, shown] = [place.home, '<home>'].map((home) => join(home, 'saved-programs', 'sum.json'));
    expect((await place.json(save)).value).toEqual({ name: 'sum', file: shown, replaced: false });
    expect((await place.json(save)).value).toMatchObject({ replaced: true });
    expect(statSync(String(file)).mode & 0o777).toBe(0o600);
    expect((await place.json(['program', 'list'])).value).toEqual({
      programs: [
        {
          name: 'sum',
          description: 'Adds 2',
          input: SCHEMA,
          savedAt: expect.stringMatching(/^\d{4}-.*Z$/),
          characters: SUM.length,
          file: shown,
        },
      ],
    });
    expect(await place.run(['program', 'run', 'sum', 'a=5'])).toMatchObject({
      status: 0,
      stdout: '{"sum":7}',
    });
    const missing = await place.run(['program', 'run', 'sum']);
    expect([missing.status, missing.stderr]).toEqual([2, expect.stringContaining('a is required')]);
    expect((await place.json(['program', 'remove', 'sum'])).value).toEqual({ name: 'sum', removed: true });
    expect((await place.run(['program', 'list'])).stdout).toContain('There are no saved programs.');
  });

  it('a damaged file is reported, and the others are listed', async () => {
    await place.run(['program', 'save', 'good', 'sum.ts']);
    place.write(join(place.home, 'saved-programs', 'bad.json'), '{');
    const { stdout, stderr } = await place.run(['program', 'list']);
    expect([stdout.startsWith('good'), stderr]).toEqual([
      true,
      expect.stringMatching(/bad\.json is not a saved program\n$/),
    ]);
    const { status, stderr: why } = await place.run(['program', 'run', 'bad']);
    expect([status, why]).toEqual([2, expect.stringContaining('plugboard program remove bad')]);
  });

  it.each([
    ['no program', ['run'], 'plugboard program run needs a program'],
    ['an unknown name', ['run', 'nothing'], 'There is no saved program "nothing"'],
    ['a missing file', ['run', 'nothing.ts'], 'nothing.ts cannot be read (ENOENT)'],
    ['stdin for program and input', ['run', '-', 'a=@-'], 'stdin has the program'],
    ['an empty file', ['run', 'empty.ts'], 'empty.ts has no program'],
    ['a path as a name', ['save', '../x', 'sum.ts'], '"../x" cannot be the name of a program'],
    ['no file', ['save', 'x'], 'plugboard program save takes a name and a file'],
    ['a schema that is not JSON', ['save', 'x', 'sum.ts', '--input', 'sum.ts'], 'sum.ts'],
    ['a schema of a list', ['save', 'x', 'sum.ts', '--input', 'list.json'], 'is not the schema of an object'],
    ['an unknown name to remove', ['remove', 'x'], 'There is no saved program "x"'],
    ['a flag of another action', ['list', '--yes'], '--yes can only be used with program run'],
  ])('%s is refused with a hint', async (_what, args, message) => {
    place.write(join(place.project, 'empty.ts'), '\n');
    place.write(join(place.project, 'list.json'), { type: 'array' });
    const { status, stderr } = await place.run(['program', ...args], { input: 'return 1;' });
    expect([status, stderr.includes(message), stderr.includes('hint:')]).toEqual([2, true, true]);
    expect(existsSync(join(place.home, 'saved-programs', 'x.json'))).toBe(false);
  });

  it('programs and descriptions that are too long are refused', async () => {
    place.write(join(place.project, 'long.ts'), `//${'x'.repeat(200_000)}`);
    const save = async (...args: string[]): Promise<unknown> =>
      (await place.json(['program', 'save', 'x', ...args])).value;
    const error = (message: string): object => ({
      error: { code: 'LIMIT_EXCEEDED', message, hint: 'Make it shorter.' },
    });
    expect(await save('long.ts')).toMatchObject(
      error('The program in long.ts has 200002 characters; the limit is 200000'),
    );
    expect(await save('sum.ts', '--description', 'd'.repeat(1001))).toMatchObject(
      error('The description has 1001 characters; the limit is 1000'),
    );
  });
});
