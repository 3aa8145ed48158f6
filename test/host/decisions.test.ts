import { existsSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { toAnthropic } from '../../src/adapters/index.ts';
import { createHost, type Host, type HostOptions } from '../../src/index.ts';
import { createGate, type Exchange, scriptedServer } from '../../src/testing/index.ts';
import { failureJson } from '../world/failure.ts';

const hosts: Host[] = [];
afterEach(async () => {
  await Promise.all(hosts.splice(0).map((host) => host.close()));
});

const FORM = { message: 'Where?', requestedSchema: { type: 'object', properties: {} } };

const asking = (era: 'modern' | 'legacy'): ReturnType<typeof scriptedServer> =>
  scriptedServer({
    eras: era,
    tools: {
      add: {
        inputSchema: { type: 'object', properties: { a: { type: 'number' } }, required: ['a'] },
        run: () => 'added',
      },
      secret: () => ({ content: [{ type: 'text', text: 'x', annotations: { audience: ['user'] } }] }),
      ask: (_args: unknown, exchange: Exchange) =>
        era === 'legacy'
          ? exchange.request('elicitation/create', FORM)
          : {
              resultType: 'input_required',
              inputRequests: { where: { method: 'elicitation/create', params: FORM } },
            },
    },
  });

interface Made {
  readonly host: Host;
  readonly home: string;
  readonly logged: string[];
}

async function made(options: HostOptions = {}, era: 'modern' | 'legacy' = 'modern'): Promise<Made> {
  const home = mkdtempSync(join(tmpdir(), 'plugboard-decisions-'));
  const logged: string[] = [];
  const host = await createHost({
    home,
    cwd: home,
    env: {},
    watch: false,
    servers: { s: { inProcess: asking(era) } },
    log: ({ level, message }) => logged.push(`${level} ${message}`),
    ...options,
  });
  hosts.push(host);
  await host.ready();
  return { host, home, logged };
}

const decision = (host: Host): unknown => host.session().approvalOf('mcp__s__add')?.decision;

describe('allow-always', () => {
  it('holds for every session at once, also where files are not watched, until the rule is taken out', async () => {
    const { host, home } = await made();
    const session = host.session({ approve: () => 'allow-always' });
    await session.call('mcp__s__add', { a: 1 });
    expect(decision(host)).toBe('allow');
    expect(JSON.parse(readFileSync(join(home, 'config.json'), 'utf8'))).toEqual({
      permissions: { allow: ['mcp__s__add'] },
    });
    await host.session().call('mcp__s__add', { a: 1 });
    await host.reload();
    expect(decision(host)).toBe('allow');
    writeFileSync(join(home, 'config.json'), '{}');
    await host.reload();
    expect(decision(host)).toBe('ask');
    expect(session.approvalOf('mcp__s__add')?.decision).toBe('allow');
  });

  it.each([{ configuration: false }, { home: false as const }])(
    'is for its session only, and is written nowhere, with %j',
    async (options) => {
      const { host, home, logged } = await made(options);
      const session = host.session({ approve: () => 'allow-always' });
      await session.call('mcp__s__add', { a: 1 });
      expect([session.approvalOf('mcp__s__add')?.decision, decision(host)]).toEqual(['allow', 'ask']);
      expect(existsSync(join(home, 'config.json'))).toBe(false);
      expect(logged).toEqual([
        'warning mcp__s__add is allowed for this session only: this host reads no configuration files',
      ]);
    },
  );
});

describe('allow()', () => {
  it('records a yes that was given elsewhere, for the session or for good', async () => {
    const { host, home } = await made();
    const [one, two] = [host.session(), host.session()];
    await one.allow('s__add', 'session');
    expect([one, two].map((each) => each.approvalOf('mcp__s__add')?.decision)).toEqual(['allow', 'ask']);
    expect(await one.call('mcp__s__add', { a: 1 })).toMatchObject({ isError: false });
    expect(existsSync(join(home, 'config.json'))).toBe(false);
    await two.allow('mcp__s__add', 'always');
    expect(decision(host)).toBe('allow');
    expect(readFileSync(join(home, 'config.json'), 'utf8')).toContain('"mcp__s__add"');
    await host.allow('mcp__s__secret', 'session');
    expect(host.approvalOf('mcp__s__secret')?.decision).toBe('allow');
  });

  it('refuses unknown tools, other words, and what a rule denies', async () => {
    const { host, home } = await made();
    expect(await failureJson(host.allow('mcp__s__none', 'session'))).toMatchObject({ code: 'UNKNOWN_TOOL' });
    expect(await failureJson(host.allow('mcp__s__add', 'forever' as never))).toMatchObject({
      code: 'USAGE',
      hint: expect.stringContaining('"session"'),
    });
    const subset = host.session({ tools: { exclude: ['mcp__s__add'] } });
    expect(await failureJson(subset.allow('mcp__s__add', 'session'))).toMatchObject({ code: 'UNKNOWN_TOOL' });
    writeFileSync(join(home, 'config.json'), JSON.stringify({ permissions: { deny: ['mcp__s__add'] } }));
    await host.reload();
    expect(await failureJson(host.allow('mcp__s__add', 'always'))).toMatchObject({ code: 'DENIED' });
    subset.end();
    expect(await failureJson(subset.allow('mcp__s__secret', 'session'))).toMatchObject({ code: 'USAGE' });
  });

  it('under an ask rule, always is for the session', async () => {
    const { host, home } = await made();
    const rules = JSON.stringify({ permissions: { ask: ['mcp__s__add'] } });
    writeFileSync(join(home, 'config.json'), rules);
    await host.reload();
    const session = host.session();
    const logged: string[] = [];
    host.on('log', ({ message }) => logged.push(message));
    await session.allow('mcp__s__add', 'always');
    expect(logged).toEqual([expect.stringContaining('mcp__s__add is allowed for this session only')]);
    expect([session.approvalOf('mcp__s__add')?.decision, decision(host)]).toEqual(['allow', 'ask']);
    expect(readFileSync(join(home, 'config.json'), 'utf8')).toBe(rules);
  });
});

describe('checkArguments()', () => {
  it('has the problems that a call would be refused for, and calls nothing', async () => {
    const { host } = await made();
    expect(await host.checkArguments('mcp__s__add', { a: 1 })).toEqual([]);
    expect(await host.checkArguments('mcp__s__add', {})).toEqual([expect.stringContaining('a')]);
    expect(await host.checkArguments('mcp__s__none', {})).toBeUndefined();
  });

  it('and its like understand a call through call_tool', async () => {
    const { host } = await made();
    const wrapped = (name: string): object => ({ name, arguments: {} });
    const check = (args: object): unknown => host.checkArguments('call_tool', { ...args });
    expect(await check(wrapped('mcp__s__add'))).toEqual(await host.checkArguments('mcp__s__add', {}));
    expect(await check(wrapped('mcp__s__none'))).toBeUndefined();
    expect(await check({})).toEqual(['call_tool needs the name of a tool']);
    expect(host.approvalOf('call_tool')).toBeUndefined();
    expect(host.approvalOf('call_tool', { ...wrapped('mcp__s__add') })?.decision).toBe('ask');
    await host.allow('call_tool', 'session', { ...wrapped('mcp__s__add') });
    expect(host.approvalOf('mcp__s__add')?.decision).toBe('allow');
    expect(await failureJson(host.allow('call_tool', 'session'))).toMatchObject({
      code: 'INVALID_ARGUMENTS',
    });
    await host.close();
    expect(await failureJson(host.allow('mcp__s__add', 'session'))).toMatchObject({
      code: 'CANCELLED',
      message: 'The host was closed',
      hint: 'Make another one with createHost().',
    });
  });
});

describe('a callback that throws', () => {
  const elicit = (): never => {
    throw new Error('no window');
  };

  it('elicit: the call of a modern server fails with the name of the function', async () => {
    const { host, logged } = await made({ approve: () => 'allow', elicit });
    expect(await failureJson(host.call('mcp__s__ask'))).toEqual({
      code: 'USAGE',
      message: 'The question of s was not answered: elicit() failed: no window',
      server: 's',
      hint: 'It must return an answer instead of throwing if it cannot ask.',
    });
    expect(logged).toEqual(['error elicit() failed: no window']);
  });

  it('elicit: a legacy server gets an error without the text', async () => {
    const { host, logged } = await made({ approve: () => 'allow', elicit }, 'legacy');
    const result = await host.call('mcp__s__ask').then(JSON.stringify, String);
    expect(result).toContain('The question could not be asked');
    expect(result).not.toContain('no window');
    expect(logged).toContain('error elicit() failed: no window');
  });
});

describe('options of a call and events', () => {
  it('refuses values that have no meaning', async () => {
    const { host } = await made({ approve: () => 'allow' });
    const calling = (options: unknown): Promise<unknown> =>
      failureJson(host.call('mcp__s__add', { a: 1 }, options as never));
    for (const [name, value] of [
      ['timeoutMs', -1],
      ['timeoutMs', 0],
      ['timeoutMs', Number.NaN],
      ['timeoutMs', '5'],
      ['signal', {}],
      ['signal', new AbortController()],
      ['onProgress', 3],
      ['meta', 'x'],
      ['approved', 'yes'],
      ['media', 'anthropic'],
      ['media', ['image/png']],
      ['mediaLimits', { image: 'x', total: 1 }],
      ['mediaLimits', { image: 1 }],
    ] as const)
      expect(await calling({ [name]: value })).toEqual({
        code: 'CONFIG_INVALID',
        message: expect.stringContaining(`The option "${name}" must be `),
        hint: expect.stringMatching(/^It is /),
      });
    expect(await calling({ timeoutMS: 3 })).toEqual({
      code: 'CONFIG_INVALID',
      message: '"timeoutMS" is not an option of a call',
      hint: 'Did you mean "timeoutMs"?',
    });
    const odd = { signal: 3 } as never;
    for (const work of [
      host.read('s', 'a://b', odd),
      host.prompt('s', 'p', {}, odd),
      host.request('s', 'x/y', {}, odd),
    ])
      expect(await failureJson(work)).toMatchObject({ code: 'CONFIG_INVALID' });
    const nothing = { signal: null, timeoutMs: null, onProgress: undefined } as never;
    expect(await host.call('mcp__s__add', { a: 1 }, nothing)).toMatchObject({ isError: false });
  });

  it('refuses numbers and values that JSON does not have', async () => {
    const { host } = await made({ approve: () => 'allow' });
    for (const [a, what] of [
      [Number.NaN, 'a is NaN'],
      [Number.POSITIVE_INFINITY, 'a is Infinity'],
      [() => 1, 'a is a function'],
    ])
      expect(await failureJson(host.call('mcp__s__add', { a }))).toMatchObject({
        code: 'INVALID_ARGUMENTS',
        message: `mcp__s__add was not called: ${what}, which JSON does not have`,
      });
  });

  it('refuses events that there are not', async () => {
    const { host } = await made();
    const on = (name: string, listener: unknown = () => {}): (() => unknown) => {
      return () => host.on(name as 'tools', listener as () => void);
    };
    expect(on('call.begn')).toThrow('There is no event called "call.begn"');
    expect(on('toString')).toThrow('There is no event called "toString"');
    expect(on('tools', 'x')).toThrow('The listener of "tools" must be a function');
    expect(() => host.session().on('nope' as 'tools', () => {})).toThrow('There is no event called "nope"');
  });
});

describe('content for the user only', () => {
  it('is a note for the model, not an empty answer', async () => {
    const { host } = await made({ approve: () => 'allow' });
    const anthropic = toAnthropic(host);
    const call = { type: 'tool_use', id: 't', name: 'mcp__s__secret', input: {} } as const;
    expect(JSON.stringify(await anthropic.executeAll([call]))).toContain(
      '[the tool answered with content for the user only]',
    );
  });

  it('a description of no length is empty', async () => {
    const { host } = await made();
    expect(toAnthropic(host, { maxDescriptionChars: 0 }).tools[0]?.description).toBe('');
  });
});

describe('a host that was closed', () => {
  it('begins nothing', async () => {
    const { host } = await made({ approve: () => 'allow' });
    const session = host.session({ approve: () => 'allow' });
    await host.close();
    expect(() => host.session()).toThrow('The host was closed');
    const closed = {
      code: 'CANCELLED',
      message: 'The host was closed',
      hint: 'Make another one with createHost().',
    };
    for (const work of [
      host.ready(),
      host.connect('s'),
      host.connect(),
      host.reconnect('s'),
      host.refresh('s'),
      host.remove('s'),
      host.search('add'),
      host.read('s', 'a://b'),
    ])
      expect(await failureJson(work)).toEqual(closed);
    for (const call of [host.call('mcp__s__add', { a: 1 }), session.call('mcp__s__add', { a: 1 })])
      expect(await failureJson(call)).toMatchObject({ code: 'CANCELLED' });
  });

  it('rejects ready() that waits', async () => {
    const gate = createGate();
    const slow = scriptedServer();
    const asked = createGate();
    for (const method of ['server/discover', 'initialize'])
      slow.on(method, async () => {
        asked.open();
        await gate.opened;
      });
    const home = mkdtempSync(join(tmpdir(), 'plugboard-decisions-'));
    const host = await createHost({ home, cwd: home, env: {}, servers: { slow: { inProcess: slow } } });
    const ready = failureJson(host.ready());
    await asked.opened;
    await host.close();
    gate.open();
    expect(await ready).toMatchObject({ code: 'CANCELLED', message: 'The host was closed' });
  });
});
