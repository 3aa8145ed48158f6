/** The tool `run`: what programs can do, and that each of their calls passes the pipeline. */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { built, programWorld, refusal, SERVER } from './programs-world.ts';

it('CAL-9: run is listed with signatures only with codeMode, and other tools are then found by search', async () => {
  const { host } = await programWorld();
  const [run, ...others] = host.tools();
  expect(run?.name).toBe('run');
  expect(others.map(({ name }) => name)).toEqual(['tool_search']);
  expect(run?.description.split('\n').slice(-7)).toEqual([
    'All tools:',
    'tools.demo.add({a: number, b: number}) → {sum: number}: Adds two numbers.',
    'tools.demo.fail()',
    'tools.demo.rows({count: number}) → {rows: any[]}: Returns rows of a table.',
    'tools.demo["say-it"]({text: string}): Returns a text.',
    'tools.demo.wait({file: string}): Waits until a file exists.',
    'tools.demo.write({file: string, line: string}): Appends a line to a file.',
  ]);
  const { host: without } = await programWorld({ codeMode: false });
  expect(without.tools().some(({ name }) => name === 'run')).toBe(false);
  expect((await refusal(without.call('run', { code: 'return 1' }))).code).toBe('UNKNOWN_TOOL');
});

it('CAL-9: a call resolves to structured content, else to the text, and rejects if the tool fails', async () => {
  const { run } = await programWorld();
  const code = `
    const { sum } = await tools.demo.add({ a: 1, b: 2 });
    const said = await tools.demo['say-it']({ text: 'hello' });
    const also = await tools.demo.say_it({ text: 'again' });
    const failed = await tools.demo.fail().catch((error) => [error.name, error.code, error.message]);
    const unknown = await tools.demo.nothing().catch((error) => error.code);
    const invalid = await tools.demo.add({ a: 'x' }).catch((error) => error.code);
    return { sum, said, also, failed, unknown, invalid };`;
  expect((await run(code)).map((text) => JSON.parse(text))).toEqual([
    {
      sum: 3,
      said: 'hello',
      also: 'again',
      failed: ['ToolError', 'TOOL_ERROR', 'it broke'],
      unknown: 'UNKNOWN_TOOL',
      invalid: 'INVALID_ARGUMENTS',
    },
  ]);
});

it('CAL-9: types are stripped, also type arguments of calls, and lines of errors are kept', async () => {
  const { run, host } = await programWorld();
  const typed = `interface Row { id: number }
    const rows: Row[] = (await tools.demo.rows({ count: 3 })).rows as Row[];
    const pick = <T,>(all: T[]): T | undefined => all.at(-1);
    return pick<Row>(rows)!.id satisfies number;`;
  expect(await run(typed)).toEqual(['2']);
  expect(await run('async () => { return 5; }')).toEqual(['5']);
  expect(await run('function five() { return 5; }\nreturn five();')).toEqual(['5']);
  expect(await host.call('run', { code: 'const a = 1;\nnull.x;' })).toEqual({
    content: [
      {
        type: 'text',
        text: expect.stringMatching(/^The program failed: TypeError: .*\(line 2\)\. It made 0 calls\.$/),
      },
    ],
    isError: true,
  });
  expect(await refusal(host.call('run', { code: 'const = 1' }))).toEqual({
    code: 'INVALID_ARGUMENTS',
    message: expect.stringMatching(/^The program is not valid: /),
    hint: 'Give the body of an async function in TypeScript or JavaScript, without imports.',
  });
});

it('CAL-9: text, image, console.log and the returned value are the output, in order', async () => {
  const { host } = await programWorld();
  const code = `text('one'); image('aGk='); console.log('seen', { a: 1 }); text({ b: 2 }); return 'last';`;
  expect(await host.call('run', { code })).toEqual({
    content: [
      { type: 'text', text: 'one' },
      { type: 'image', data: 'aGk=', mimeType: 'image/png' },
      { type: 'text', text: '{"b":2}' },
      { type: 'text', text: 'last' },
      { type: 'text', text: 'Log:\nseen {"a":1}' },
    ],
    isError: false,
  });
});

it('CAL-9: search, describe, resources and stored values', async () => {
  const { run, host } = await programWorld();
  expect(await run('return (await search("add numbers"))[0]')).toEqual([
    'tools.demo.add({a: number, b: number}) → {sum: number}: Adds two numbers.',
  ]);
  expect(await run('return Object.keys((await describe("demo.add")).inputSchema.properties)')).toEqual([
    '["a","b"]',
  ]);
  expect(await run('return await describe("demo.none").catch((error) => error.code)')).toEqual([
    'UNKNOWN_TOOL',
  ]);
  expect(await run('return await resources.read("demo", "notes://one")')).toEqual(['the text of one']);
  expect(await run('return Object.keys(tools)')).toEqual(['["demo"]']);
  await run('store("rows", [1, 2])');
  expect(await run('return load("rows")')).toEqual(['[1,2]']);
  expect(await run('return typeof load("other")')).toEqual(['undefined']);
  const other = host.session();
  expect((await other.call('run', { code: 'return typeof load("rows")' })).content).toEqual([
    { type: 'text', text: 'undefined' },
  ]);
});

it('CAL-9: every call is audited with the id of its program, and has one begin and one end', async () => {
  const { host, run, home } = await programWorld();
  const seen: string[] = [];
  host.on('call.begin', ({ tool, program }) =>
    seen.push(`begin ${tool} ${program === undefined ? '' : 'p'}`),
  );
  host.on('call.end', ({ outcome }) => seen.push(`end ${outcome}`));
  await run('await Promise.all([1, 2].map((a) => tools.demo.add({ a, b: 1 })))');
  await host.close();
  expect(seen.toSorted()).toEqual([
    'begin add p',
    'begin add p',
    'begin run p',
    'end ok',
    'end ok',
    'end ok',
  ]);
  const lines = readFileSync(join(home, 'audit.jsonl'), 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(new Set(lines.map(({ program }) => program)).size).toBe(1);
  expect(lines.map(({ server, tool }) => `${server}/${tool}`).toSorted()).toEqual([
    'demo/add',
    'demo/add',
    'plugboard/run',
  ]);
});

it('CAL-9: rules and approvals apply to each call, also where the client asks its own user', async () => {
  const asked: string[] = [];
  const { host, root } = await programWorld({
    entry: {},
    approve: ({ tool }) => {
      asked.push(tool);
      return 'deny';
    },
  });
  const file = join(root, 'lines');
  const code = `return await tools.demo.write({ file: ${JSON.stringify(file)}, line: 'x' }).catch((error) => error.code)`;
  expect((await host.call('run', { code })).content).toEqual([{ type: 'text', text: 'DENIED' }]);
  const session = host.session({ approvals: 'client', approve: () => 'deny' });
  expect((await session.call('run', { code })).content).toEqual([{ type: 'text', text: 'DENIED' }]);
  expect(asked).toEqual(['write']);
});

it('CAL-9: a profile has code mode of its own, and its programs see only its tools', async () => {
  const { createHost } = await built();
  const { root, home, host: first } = await programWorld();
  await first.close();
  const { writeFileSync } = await import('node:fs');
  const server = { command: process.execPath, args: [SERVER], trusted: true, approval: 'approve' };
  writeFileSync(
    join(home, 'config.json'),
    JSON.stringify({
      mcpServers: { demo: server, other: server },
      profiles: { small: { codeMode: true, tools: ['demo__add'] } },
    }),
  );
  const host = await createHost({ home, cwd: root });
  try {
    await host.ready();
    expect(host.tools().some(({ name }) => name === 'run')).toBe(false);
    const session = host.session({ profile: 'small' });
    expect(session.tools()[0]?.description.split('\n').slice(-2)).toEqual([
      'All tools:',
      'tools.demo.add({a: number, b: number}) → {sum: number}: Adds two numbers.',
    ]);
    const code = `return [Object.keys(tools), (await search('write a line')).filter((line) => !line.startsWith('tools.demo.add(')), await tools.demo.write({ file: 'x', line: 'y' }).catch((error) => error.code)]`;
    expect((await session.call('run', { code })).content).toEqual([
      { type: 'text', text: JSON.stringify([['demo'], [], 'UNKNOWN_TOOL']) },
    ]);
  } finally {
    await host.close();
  }
});

it('CAL-9: a cancelled run cancels its calls', async () => {
  const { host, root } = await programWorld();
  const controller = new AbortController();
  const began = new Promise<void>((resolve) => {
    host.on('call.begin', ({ tool }) => {
      if (tool === 'wait') resolve();
    });
  });
  const ends: string[] = [];
  host.on('call.end', ({ outcome }) => ends.push(outcome));
  const running = host.call(
    'run',
    { code: `await tools.demo.wait({ file: ${JSON.stringify(join(root, 'never'))} })` },
    { signal: controller.signal },
  );
  await began;
  controller.abort();
  expect((await refusal(running)).code).toBe('CANCELLED');
  await expect.poll(() => ends).toEqual(['cancelled', 'cancelled']);
});

it('CAL-9: neither or both of code and resume are refused', async () => {
  const { host } = await programWorld();
  expect(await refusal(host.call('run', {}))).toEqual({
    code: 'INVALID_ARGUMENTS',
    message: 'Give run either code or resume',
    hint: 'Give the program as code, or the id of a paused program as resume.',
  });
  expect((await refusal(host.call('run', { resume: 'p-0000000000000000000000' }))).message).toBe(
    'There is no paused program "p-0000000000000000000000"',
  );
});
