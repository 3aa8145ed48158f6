import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readInput, toArguments } from '../../src/cli/call-arguments.ts';
import { FIXTURES, Place } from './command.ts';

let place: Place;
beforeAll(() => {
  place = new Place();
  const fixture = (file: string): object => ({ command: process.execPath, args: [join(FIXTURES, file)] });
  place.write(place.userFile, {
    mcpServers: {
      cli: fixture('cli-server.mjs'),
      few: { ...fixture('echo.mjs'), disabledTools: ['echo'] },
      echo: { ...fixture('echo.mjs'), tools: { add: { approval: 'prompt' } } },
    },
    permissions: { deny: ['mcp__cli__media_no*', 'mcp__echo__fail'] },
  });
});
afterAll(() => place.remove());

describe('call', () => {
  it('converts each argument to the type in the schema of the tool', async () => {
    const { stdout } = await place.run([
      ...['call', 'cli', 'args', 'count=3', 'ratio=2.5', 'on=false', 'text=5', 'list=[1,"a"]', 'either=null'],
      ...['level=2', 'unknown=7', 'typed:={"a":[true]}', '__proto__=x'],
    ]);
    expect(stdout).toBe(
      '{"count":3,"ratio":2.5,"on":false,"text":"5","list":[1,"a"],"either":null,"level":2,"unknown":"7",' +
        '"typed":{"a":[true]},"__proto__":"x"}',
    );
  });

  it('takes one JSON object, from the command line or from stdin', async () => {
    const json = '{"text":"a b","n":1}';
    expect((await place.run(['call', 'cli', 'args', json])).stdout).toBe(json);
    expect((await place.run(['call', 'cli', 'args', '-'], { input: json })).stdout).toBe(json);
  });

  it.each(['cli__args', 'mcp__cli__args', 'cli.args', 'cli/args'])(
    'takes server and tool in one word, as in %s',
    async (name) => {
      expect((await place.run(['call', name, 'count=3'])).stdout).toBe('{"count":3}');
      if (!name.includes('__')) return;
      expect((await place.run(['call', 'cli', name, 'count=3'])).stdout).toBe('{"count":3}');
    },
  );

  it('UI-7: takes flags, files and keys that are given several times', async () => {
    place.write(join(place.project, 'draft.md'), 'line\n');
    const said = async (...words: string[]): Promise<unknown> =>
      JSON.parse((await place.run(['call', 'cli', 'args', ...words])).stdout);
    expect(await said('--count', '3', '--text=a b', '--ratio', '-2', '--on')).toEqual({
      count: 3,
      text: 'a b',
      ratio: -2,
      on: true,
    });
    expect(await said('text=@draft.md')).toEqual({ text: 'line\n' });
    expect(await said('list=a', 'list=b')).toEqual({ list: ['a', 'b'] });
    expect(await said('list=a')).toEqual({ list: ['a'] });
    expect(await said('list=["a","b"]')).toEqual({ list: ['a', 'b'] });
  });

  it.each([
    [['txt=a'], 'The tool has no argument "txt"', 'Did you mean text=…? txt:=json sends it anyway.'],
    [
      ['--timout', '5'],
      'The tool has no argument "timout"',
      'Did you mean --timeout? timout:=json sends it anyway.',
    ],
    [['--colour', 'red'], 'The tool has no argument "colour"', /^It takes: count, /],
    [['text=@gone.md'], 'text=@gone.md takes a file that cannot be read (ENOENT)', /text:='"@gone\.md"'/],
    [['count=1', 'count=2'], 'count is given 2 times but takes one value', 'Give count once.'],
    [['count=x'], 'count takes an integer, not "x"', 'For example count=2.'],
  ])('UI-7: %j is refused before the call', async (words, message, hint) => {
    const { status, value } = await place.json(['call', 'cli', 'args', ...words]);
    expect(status).toBe(2);
    expect(value).toMatchObject({
      error: {
        code: 'INVALID_ARGUMENTS',
        message,
        hint: typeof hint === 'string' ? hint : expect.stringMatching(hint),
      },
    });
  });

  const SCHEMA = {
    properties: {
      ratio: { type: 'number' },
      ids: { type: 'array', items: { type: 'integer' } },
      level: { enum: [1, 2] },
      message: { type: 'string' },
      includeImage: { type: 'boolean' },
      any: {},
    },
  };
  async function argumentsOf(words: readonly string[], stdin = ''): Promise<unknown> {
    async function* given(): AsyncGenerator<Buffer> {
      yield Buffer.from(stdin);
    }
    return toArguments(await readInput(words, { stdin: given(), cwd: place.project }), SCHEMA, () => {});
  }

  it.each([
    [['--no-includeImage', 'message=a'], { includeImage: false, message: 'a' }],
    [['--no-include-image'], { includeImage: false }],
    [['--includeImage', 'message=a'], { includeImage: true, message: 'a' }],
    [['--message', 'a=b', '--includeImage', 'false'], { message: 'a=b', includeImage: false }],
    [['ids=1', 'ids=2'], { ids: [1, 2] }],
    [['ids:=[1,2]'], { ids: [1, 2] }],
    [['message=@-'], { message: 'piped\n' }],
    [['ratio=9007199254740992'], { ratio: 9007199254740992 }],
    [['message=9007199254740993'], { message: '9007199254740993' }],
    [['{"message":"\\"9007199254740993"}'], { message: '"9007199254740993' }],
  ])('UI-7: %j becomes arguments', async (words, expected) => {
    expect(await argumentsOf(words, 'piped\n')).toEqual(expected);
  });

  it.each([
    [
      ['ids=1,2'],
      'ids takes a list whose items are each an integer, not "1,2"',
      "Write ids=1 ids=2, or ids:='[1,2]'.",
    ],
    [['ids=x'], /a list/, "Write ids=2, or ids:='[2]'."],
    [['ratio=x'], 'ratio takes a number, not "x"', 'For example ratio=2.5.'],
    [['level=x'], 'level takes a number, not "x"', 'For example level=1.'],
    [
      ['--message'],
      '--message needs a value',
      /^Write --message and the value after it, or message=value\.$/,
    ],
    [['--any', '--includeImage'], '--any needs a value', /any=value/],
    [['{"ratio":1}', 'message=a'], 'A JSON object cannot be mixed with other arguments', /into the JSON/],
    [['message=a', '-'], '- (JSON on stdin) cannot be mixed with other arguments', /into the JSON/],
    ...[
      'ratio=9007199254740993',
      'ids=-9007199254740993',
      'any:=[9007199254740993]',
      'ids=[9007199254740993]',
    ].map(
      (word) =>
        [[word], /^-?9007199254740993 cannot be sent exactly/, /exact up to 9007199254740991/] as const,
    ),
    [['{"ratio":9007199254740993}'], /cannot be sent exactly/, /in quotes/],
  ] as const)('UI-7: %j is refused with a hint', async (words, message, hint) => {
    const matching = (text: string | RegExp): unknown =>
      typeof text === 'string' ? text : expect.stringMatching(text);
    await expect(argumentsOf(words)).rejects.toMatchObject({
      code: 'INVALID_ARGUMENTS',
      message: matching(message),
      hint: matching(hint),
    });
  });

  it('UI-7: writes bytes and text to files, relative to where the command was typed', async () => {
    const image = await place.run(['call', 'cli', 'media', '--save-images', 'shots']);
    expect(image.status).toBe(0);
    expect(readdirSync(join(place.project, 'shots')).sort()).toEqual(['1.png', '2.wav']);
    const text = await place.run(['call', 'cli', 'args', 'count=3', '-o', 'answer.json']);
    expect(text).toEqual({ status: 0, stdout: '', stderr: '11 bytes written to <project>/answer.json\n' });
    expect(readFileSync(join(place.project, 'answer.json'), 'utf8')).toBe('{"count":3}');
  });

  it('without a tool shows how to name one', async () => {
    expect(await place.json(['call', 'cli'])).toEqual({
      status: 2,
      value: {
        error: {
          code: 'USAGE',
          message: 'Missing argument <tool>',
          hint: 'Use: plugboard call <server> <tool>, or plugboard call <server.tool>.',
        },
      },
    });
  });

  it('a tool alone is reported with its server, once that was connected', async () => {
    await place.run(['tools', 'cli']);
    expect(await place.json(['call', 'structured', 'a=1'])).toMatchObject({
      status: 2,
      value: { error: { code: 'USAGE', hint: 'Did you mean plugboard call cli structured a=1?' } },
    });
  });

  it('a tool that the entry hides is not unknown', async () => {
    expect(await place.json(['call', 'few', 'echo', 'message=hi'])).toMatchObject({
      status: 2,
      value: {
        error: {
          code: 'UNKNOWN_TOOL',
          message: 'few has "echo", but its entry hides it ("disabledTools")',
          hint: 'To call it, change "disabledTools" with plugboard edit few.',
        },
      },
    });
  });

  it('missing arguments: names the command that shows them', async () => {
    expect(await place.json(['call', 'echo', 'echo'])).toMatchObject({
      value: {
        error: { code: 'INVALID_ARGUMENTS', hint: 'Run plugboard tool echo echo to see its arguments.' },
      },
    });
  });

  it('an unknown tool in one word is reported with the nearest names', async () => {
    const { value } = await place.json(['call', 'echo__ehco']);
    expect(value).toMatchObject({
      error: { code: 'UNKNOWN_TOOL', hint: expect.stringContaining('"echo__echo"') },
    });
  });

  it('prints the whole result with --json', async () => {
    expect(await place.json(['call', 'echo', 'echo', 'message=hi'])).toEqual({
      status: 0,
      value: { content: [{ type: 'text', text: 'hi' }], isError: false },
    });
  });

  it('notes media in one line each, and shows structured content when there is no text', async () => {
    expect((await place.run(['call', 'cli', 'media'])).stdout).toBe(
      '[image: image/png, 3 bytes]\n[audio: audio/wav, 6 KiB]\n[link: a.md file:///a.md]',
    );
    expect((await place.run(['call', 'cli', 'structured'])).stdout).toBe('{\n  "sum": 3\n}');
  });

  it('A15: output of a server cannot control the terminal', async () => {
    expect((await place.run(['call', 'cli', 'evil'])).stdout).toBe('onetwo');
  });

  it('an unknown tool is reported with the nearest names', async () => {
    expect(await place.json(['call', 'echo', 'ehco'])).toEqual({
      status: 2,
      value: {
        error: {
          code: 'UNKNOWN_TOOL',
          server: 'echo',
          message: 'echo has no tool called "ehco"',
          hint: 'Did you mean "echo"? Run plugboard tools echo to see all of them.',
        },
      },
    });
  });

  // Protocol: 25-lifecycle-18, 25-tools-18d, 26-cancellation-8, 26-tools-36e
  it('CAL-4: --timeout ends a silent call with 3, naming server and tool', async () => {
    const { status, value } = await place.json(['call', 'echo', 'wait', '--timeout', '300']);
    expect({ status, value }).toMatchObject({
      status: 3,
      value: {
        error: {
          code: 'TIMEOUT',
          server: 'echo',
          message: expect.stringMatching(/wait.*echo|echo.*wait/),
          hint: 'Give a larger --timeout, in milliseconds.',
        },
      },
    });
  });

  it('F20: a server that dies in the call ends it with 3 and its stderr', async () => {
    const { status, stderr } = await place.run(['call', 'echo', 'crash']);
    expect(status).toBe(3);
    expect(stderr).toMatch(
      /^error: .*code 7.*\nhint: .*\nlast lines of its stderr:\n {2}crashing, as asked\n$/,
    );
  });

  it('CAL-2: the mode "prompt" asks, which --yes answers; without a terminal it is refused', async () => {
    expect(await place.json(['call', 'echo', 'add', 'a=1', 'b=2'])).toMatchObject({
      status: 5,
      value: {
        error: {
          code: 'APPROVAL_REQUIRED',
          server: 'echo',
          hint: 'No one can be asked here (stdin is not a terminal): add --yes to answer yes.',
        },
      },
    });
    expect(await place.run(['call', 'echo', 'add', 'a=1', 'b=2', '--yes'])).toEqual({
      status: 0,
      stdout: '3',
      stderr: '',
    });
  });

  it('CAL-2: a deny rule refuses, --yes or not', async () => {
    expect(await place.json(['call', 'echo', 'fail', '--yes'])).toMatchObject({
      status: 5,
      value: { error: { code: 'DENIED', server: 'echo' } },
    });
  });

  it('a tool that answers with an error ends with 1, its message on stdout', async () => {
    const args = [
      '--server',
      `other=${process.execPath} ${join(FIXTURES, 'echo.mjs')}`,
      'call',
      'other',
      'fail',
    ];
    expect(await place.run(args)).toEqual({ status: 1, stdout: 'It failed, as asked.', stderr: '' });
    expect(await place.json(args)).toEqual({
      status: 1,
      value: { content: [{ type: 'text', text: 'It failed, as asked.' }], isError: true },
    });
  });
});
