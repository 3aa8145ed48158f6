/** Programs that wait: frozen while a person decides, continued by any process, each call made at most once. */

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { Host } from '../../src/index.ts';
import { until } from '../world/until.ts';
import { built, frozenIn, programWorld, refusal, SERVER } from './programs-world.ts';

function linesOf(file: string): readonly string[] {
  return existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : [];
}

/** A program with randomness before a pause in the middle of parallel calls, which checks itself. */
function program(file: string): string {
  return `
    const secret = Math.random();
    const before = await tools.demo.add({ a: 1, b: 2 });
    const held = { secret };
    const results = await Promise.all([
      tools.demo.add({ a: before.sum, b: 1 }),
      ...[1, 2].map((n) => tools.demo.write({ file: ${JSON.stringify(file)}, line: 'line ' + n })),
    ]);
    return { results, isSame: held.secret === secret };`;
}

const OUTPUT = JSON.stringify({ results: [{ sum: 4 }, 'written', 'written'], isSame: true });

async function another(
  home: string,
  cwd: string,
  options: Partial<Parameters<Awaited<ReturnType<typeof built>>['createHost']>[0]> = {},
): Promise<Host> {
  const { createHost } = await built();
  const host = await createHost({
    home,
    cwd,
    configuration: false,
    codeMode: true,
    servers: { demo: { command: process.execPath, args: [SERVER], trusted: true } },
    ...options,
  });
  await host.ready();
  return host;
}

async function pausedId(host: Host, code: string): Promise<string> {
  const { structuredContent } = await host.call<{ readonly program: string }>('run', { code });
  return structuredContent?.program ?? '';
}

it('CAL-9: a program pauses where no person can be asked, and another host continues it', async () => {
  const { host, root, home } = await programWorld({ entry: {} });
  const file = join(root, 'lines');
  const begun: string[] = [];
  host.on('call.begin', ({ tool }) => begun.push(tool));
  const paused = await host.call('run', { code: program(file) });
  const { program: id } = paused.structuredContent as { readonly program: string };
  expect(paused).toEqual({
    content: [
      {
        type: 'text',
        text: [
          'The program is paused. It made 4 calls, and it waits for the user:',
          '- mcp__demo__write must be approved: it may destroy something or reach the outside world',
          `When the user has allowed it, call run with {"resume": "${id}"}; calls that were answered are not made again.`,
        ].join('\n'),
      },
    ],
    structuredContent: {
      status: 'paused',
      program: id,
      reasons: ['mcp__demo__write must be approved: it may destroy something or reach the outside world'],
    },
    isError: false,
  });
  expect(begun.toSorted()).toEqual(['add', 'add', 'run', 'write', 'write']);
  expect(frozenIn(home)).toEqual([`${id}.frozen`]);
  expect(readFileSync(join(home, 'programs', `${id}.frozen`)).includes('line ')).toBe(false);
  // Nothing was allowed since: it pauses again.
  expect((await host.call('run', { resume: id })).structuredContent).toEqual(paused.structuredContent);
  await host.close();
  const asked: string[] = [];
  const later = await another(home, root, {
    approve: ({ tool }) => {
      asked.push(tool);
      return 'allow';
    },
  });
  try {
    const repeated: string[] = [];
    later.on('call.begin', ({ tool }) => repeated.push(tool));
    expect((await later.call('run', { resume: id })).content).toEqual([{ type: 'text', text: OUTPUT }]);
    expect(repeated.toSorted()).toEqual(['run', 'write', 'write']);
    expect(asked).toEqual(['write', 'write']);
    expect(linesOf(file).toSorted()).toEqual(['line 1', 'line 2']);
    expect(frozenIn(home)).toEqual([]);
    expect((await refusal(later.call('run', { resume: id }))).message).toBe(
      `There is no paused program "${id}"`,
    );
  } finally {
    await later.close();
  }
});

it('CAL-9: while a person is asked, the program is saved; it goes on with the answer', async () => {
  let answer: (given: 'allow' | 'deny') => void = () => {};
  const { host, root, home } = await programWorld({
    entry: {},
    approve: () => new Promise((resolve) => (answer = resolve)),
  });
  const file = join(root, 'lines');
  const code = `
    await tools.demo.write({ file: ${JSON.stringify(file)}, line: 'one' });
    return await tools.demo.write({ file: ${JSON.stringify(file)}, line: 'two' }).catch((error) => error.code);`;
  const running = host.call('run', { code });
  await until('it is saved', () => frozenIn(home).length === 1);
  const [name = ''] = frozenIn(home);
  expect(await refusal(host.call('run', { resume: name.slice(0, -'.frozen'.length) }))).toEqual({
    code: 'INVALID_ARGUMENTS',
    message: `The program ${name.slice(0, -'.frozen'.length)} is running already`,
    hint: 'Wait for the result of the call that started or continued it.',
  });
  const first = answer;
  first('allow');
  await until('the next question', () => answer !== first);
  answer('deny');
  expect((await running).content).toEqual([{ type: 'text', text: 'DENIED' }]);
  expect(linesOf(file)).toEqual(['one']);
  expect(frozenIn(home)).toEqual([]);
});

it('CAL-9: a paused program belongs to its client, and expires', async () => {
  const { host, root, home } = await programWorld({ entry: {}, codeMode: { keepHours: 1 } });
  const id = await pausedId(host, program(join(root, 'lines')));
  const other = host.session({ client: 'someone else' });
  const unknown = {
    code: 'INVALID_ARGUMENTS',
    message: `There is no paused program "${id}"`,
    hint: 'It has ended or expired, or it belongs to another client. Run it again with code.',
  };
  expect(await refusal(other.call('run', { resume: id }))).toEqual(unknown);
  await host.close();
  const HOUR_MS = 3_600_000;
  const clock = { now: () => Date.now() + HOUR_MS + 1, after: () => () => {} };
  const later = await another(home, root, { clock });
  try {
    expect(await refusal(later.call('run', { resume: id }))).toEqual(unknown);
  } finally {
    await later.close();
  }
});

it('CAL-9: without a home, a paused program is kept by its host', async () => {
  const { host, root } = await programWorld({ entry: {}, home: false });
  const file = join(root, 'lines');
  const id = await pausedId(host, program(file));
  await host.allow('mcp__demo__write', 'session');
  expect((await host.call('run', { resume: id })).content).toEqual([{ type: 'text', text: OUTPUT }]);
});
