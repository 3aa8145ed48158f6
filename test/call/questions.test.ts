import { describe, expect, it } from 'vitest';
import { readUrl } from '../../src/connection/questions.ts';
import { readForm } from '../../src/connection/questions-form.ts';
import {
  MAX_OPEN_SAMPLES,
  MAX_SAMPLE_TOKENS,
  MAX_SAMPLES_PER_CALL,
  MAX_SAMPLES_PER_MINUTE,
} from '../../src/connection/questions-sample.ts';
import type { ElicitAnswer, ElicitRequest } from '../../src/index.ts';
import { createGate, type Exchange, RpcError, scriptedServer } from '../../src/testing/index.ts';
import { text } from '../world/content.ts';
import { failure } from '../world/failure.ts';
import { type ScriptedHost, type ScriptedHostOptions, scriptedHost } from '../world/scripted-host.ts';

const object = (properties: Record<string, unknown>, required: string[] = []): Record<string, unknown> => ({
  type: 'object',
  properties,
  required,
});

function filled(properties: Record<string, unknown>, content: unknown, required?: string[]): unknown {
  const form = readForm(object(properties, required));
  return 'refused' in form ? form : form.complete(content);
}

// Protocol: 25-elicitation-52, 26-elicitation-44
describe('CAL-3: forms have the primitive types of the protocol', () => {
  const month = {
    type: 'string',
    oneOf: [
      { const: 'jan', title: 'January' },
      { const: 'feb', title: 'February' },
    ],
  };
  const several = {
    type: 'array',
    items: { type: 'string', enum: ['a', 'b', 'c'] },
    minItems: 1,
    maxItems: 2,
  };
  it.each<[string, unknown, unknown, string | undefined]>([
    ['a text', { type: 'string' }, 'x', undefined],
    ['a text that is a number', { type: 'string' }, 1, 'f must be a text'],
    ['too short', { type: 'string', minLength: 2 }, 'x', 'f must have at least 2 characters'],
    ['too long', { type: 'string', maxLength: 2 }, 'xyz', 'f must have at most 2 characters'],
    ['characters, not code units', { type: 'string', maxLength: 2 }, '😀😀', undefined],
    ['an e-mail address', { type: 'string', format: 'email' }, 'a@b.c', undefined],
    ['no e-mail address', { type: 'string', format: 'email' }, 'a b', 'f must be an e-mail address'],
    ['a URI', { type: 'string', format: 'uri' }, 'https://a.b/c', undefined],
    ['no URI', { type: 'string', format: 'uri' }, 'a b', 'f must be a URI'],
    ['a date', { type: 'string', format: 'date' }, '2028-02-29', undefined],
    ['no such day', { type: 'string', format: 'date' }, '2026-02-29', 'f must be a date like 2026-01-31'],
    ['a time', { type: 'string', format: 'date-time' }, '2026-01-31T09:00:00.5+01:00', undefined],
    [
      'no time',
      { type: 'string', format: 'date-time' },
      '2026-01-31',
      'f must be a time like 2026-01-31T09:00:00Z',
    ],
    ['a number', { type: 'number', minimum: 1, maximum: 2 }, 1.5, undefined],
    ['too small', { type: 'number', minimum: 1 }, 0, 'f must be at least 1'],
    ['too large', { type: 'number', maximum: 2 }, 3, 'f must be at most 2'],
    ['not finite', { type: 'number' }, Number.NaN, 'f must be a number'],
    ['not whole', { type: 'integer' }, 1.5, 'f must be a whole number'],
    ['yes', { type: 'boolean' }, true, undefined],
    ['a word for yes', { type: 'boolean' }, 'yes', 'f must be true or false'],
    ['one of several', { type: 'string', enum: ['a', 'b'] }, 'a', undefined],
    ['none of them', { type: 'string', enum: ['a', 'b'] }, 'c', 'f must be one of "a", "b"'],
    ['a titled one', month, 'feb', undefined],
    ['its title', month, 'February', 'f must be one of "jan", "feb"'],
    ['the older titles', { type: 'string', enum: ['a'], enumNames: ['A'] }, 'a', undefined],
    ['two of several', several, ['a', 'c'], undefined],
    ['none', several, [], 'f must hold at least 1'],
    ['too many', several, ['a', 'b', 'c'], 'f must hold at most 2'],
    ['one twice', several, ['a', 'a'], 'f must not hold anything twice'],
    ['others', several, ['z'], 'f must hold only "a", "b", "c"'],
    ['titled ones', { type: 'array', items: { anyOf: [{ const: 'a', title: 'A' }] } }, ['a'], undefined],
  ])('%s', (_what, field, value, problem) => {
    expect(filled({ f: field }, { f: value })).toEqual(
      problem === undefined ? { content: { f: value } } : { problems: [problem] },
    );
  });

  // Protocol: 25-elicitation-10, 26-elicitation-10
  it('defaults are applied, optional fields stay away, required ones are missed, others are not sent', () => {
    const fields = { a: { type: 'string', default: 'x' }, b: { type: 'number' }, c: { type: 'boolean' } };
    expect(filled(fields, { c: true, other: 'secret' }, ['a', 'c'])).toEqual({
      content: { a: 'x', c: true },
    });
    expect(filled(fields, undefined, ['b'])).toEqual({ problems: ['b is required'] });
    expect(filled({ a: { type: 'number', default: 'x' } }, {})).toEqual({ content: {} });
  });

  it.each<[string, unknown, string]>([
    ['an inner object', { type: 'object' }, 'the field "f" is not of a type that a form can have'],
    [
      'a list of anything',
      { type: 'array', items: { type: 'string' } },
      'the field "f" has nothing to choose from',
    ],
    [
      'options that are no texts',
      { type: 'string', enum: [1] },
      'the field "f" has options that are not texts',
    ],
    ['nothing', null, 'the field "f" is not described'],
  ])('%s is refused', (_what, field, refused) => {
    expect(readForm(object({ f: field }))).toEqual({ refused });
  });

  it('no schema, and too many fields or options, are refused', () => {
    expect(readForm('x')).toEqual({ refused: 'it has no properties' });
    const many = Object.fromEntries(Array.from({ length: 65 }, (_, at) => [`f${at}`, { type: 'string' }]));
    expect(readForm(object(many))).toEqual({ refused: 'it has more than 64 fields' });
    const options = Array.from({ length: 513 }, (_, at) => `${at}`);
    expect(readForm(object({ f: { type: 'string', enum: options } }))).toEqual({
      refused: 'the field "f" has more than 512 options',
    });
  });

  it('text that is shown is cleaned', () => {
    const form = readForm(
      object({ f: { type: 'string', title: 'a\u202eb', description: 'c\x1b[2Jd', evil: 1 } }),
    );
    expect('schema' in form && form.schema).toEqual(
      object({ f: { type: 'string', title: 'ab', description: 'cd' } }),
    );
  });
});

// Protocol: 25-elicitation-12, 25-elicitation-40, 25-elicitation-41, 25-elicitation-46, 25-elicitation-47,
// 26-elicitation-12, 26-elicitation-32, 26-elicitation-33, 26-elicitation-38, 26-elicitation-39
describe('A17: addresses', () => {
  it.each<[string, unknown]>([
    ['https://example.com/a?b#c', { url: 'https://example.com/a?b#c', host: 'example.com' }],
    ['https://EXAMPLE.com:8443', { url: 'https://example.com:8443/', host: 'example.com:8443' }],
    ['http://127.0.0.1:80/x', { url: 'http://127.0.0.1/x', host: '127.0.0.1' }],
    [
      'https://pаypal.com/',
      {
        url: 'https://xn--pypal-4ve.com/',
        host: 'xn--pypal-4ve.com',
        warning:
          'xn--pypal-4ve.com is written with letters of other alphabets, which can look like another address.',
      },
    ],
    [
      'http://example.com/',
      {
        url: 'http://example.com/',
        host: 'example.com',
        warning: 'The connection is not encrypted: others on the way can read what is typed there.',
      },
    ],
    ['https://bank.example@evil.example/', { refused: 'its address hides its host behind a user name' }],
    ['file:///etc/passwd', { refused: 'an address that begins with file: is not for a browser' }],
    ['javascript:alert(1)', { refused: 'an address that begins with javascript: is not for a browser' }],
    ['not an address', { refused: 'it has no address that can be read' }],
    [`https://a.b/${'x'.repeat(9_000)}`, { refused: 'it has no address that can be read' }],
  ])('%s', (raw, shown) => {
    expect(readUrl(raw)).toEqual(shown);
  });
});

type Era = 'legacy' | 'modern';

/** A server whose tool asks one question in the way of its era, and gives the answer back as text. */
async function asking(
  era: Era,
  question: { method: string; params: Record<string, unknown> },
  options: ScriptedHostOptions,
): Promise<ScriptedHost> {
  const server = scriptedServer({
    eras: era,
    tools: { ask: (_args, exchange) => askOnce(era, question, exchange) },
  });
  return scriptedHost({ server, ...options });
}

async function askOnce(
  era: Era,
  { method, params }: { method: string; params: Record<string, unknown> },
  exchange: Exchange,
): Promise<unknown> {
  if (era === 'legacy') {
    return exchange
      .request(method, params)
      .then(JSON.stringify, (error: RpcError) => `${error.code} ${error.message}`);
  }
  const responses = exchange.params['inputResponses'] as Record<string, unknown> | undefined;
  if (responses === undefined) {
    return {
      resultType: 'input_required',
      inputRequests: { q: { method, params } },
      requestState: 'st\u0000ate',
    };
  }
  return { content: [text(JSON.stringify(responses['q'])), text(String(exchange.params['requestState']))] };
}

const form = {
  method: 'elicitation/create',
  params: {
    message: 'Who are\u202e you?',
    requestedSchema: object({ name: { type: 'string' }, age: { type: 'integer', default: 30 } }, ['name']),
  },
};
const url = {
  method: 'elicitation/create',
  params: { mode: 'url', message: 'Log in', url: 'https://example.com/login', elicitationId: '1' },
};
const sampling = {
  method: 'sampling/createMessage',
  params: { messages: [{ role: 'user', content: text('hi') }], maxTokens: 1_000_000 },
};
const completion = { role: 'assistant', model: 'scripted', content: text('hello') };

async function answerOf(made: ScriptedHost): Promise<unknown> {
  const result = await made.host.call('mcp__s__ask');
  const [first] = result.content;
  return first?.type === 'text' ? first.text : undefined;
}

/** A legacy server gets the error; a modern one has asked in its answer, so the call fails. */
async function expectRefused(made: ScriptedHost, question: object): Promise<void> {
  const answer = await answerOf(made).catch((error) => `${error.detail.rpcCode} ${error.message}`);
  expect([question, String(answer).slice(0, 6)]).toEqual([question, '-32602']);
  expect(made.events('question').filter(({ kind }) => kind !== 'approval')).toEqual([]);
  await made.host.close();
}

describe.each<Era>(['legacy', 'modern'])('CAL-3: questions of a %s server', (era) => {
  // Protocol: 25-elicitation-3a, 25-elicitation-4, 25-elicitation-5, 25-elicitation-8, 25-elicitation-10,
  // 25-elicitation-36, 26-elicitation-3a, 26-elicitation-5, 26-elicitation-8, 26-elicitation-10, 26-elicitation-28
  it('a form reaches the person, with defaults and cleaned, and its answer the server', async () => {
    const asked: ElicitRequest[] = [];
    const made = await asking(era, form, {
      elicit: (request) => {
        asked.push(request);
        return { action: 'accept', content: { name: 'Ada', password: 'x' } };
      },
    });
    expect(await answerOf(made)).toBe(
      JSON.stringify({ action: 'accept', content: { name: 'Ada', age: 30 } }),
    );
    const { signal: _signal, ...request } = asked[0] ?? expect.fail('nobody was asked');
    expect(request).toEqual({
      server: 's',
      mode: 'form',
      message: 'Who are you?',
      schema: form.params.requestedSchema,
      // Only the modern era has names for questions.
      ...(era === 'modern' ? { key: 'q' } : {}),
      session: 'host',
    });
    expect(made.events('question').filter(({ kind }) => kind === 'elicitation')).toEqual([
      { id: 'q2', kind: 'elicitation', ...request, call: made.events('call.begin')[0]?.id },
    ]);
    expect(made.events('answer').at(-1)).toEqual({ id: 'q2', kind: 'elicitation', answer: 'accept' });
    await made.host.close();
  });

  // Protocol: 25-elicitation-3b, 25-elicitation-33, 25-elicitation-34, 26-elicitation-3b, 26-elicitation-26,
  // 26-elicitation-27
  it.each<[unknown, ElicitAnswer]>([
    [{ action: 'decline', content: { name: 'x' } }, { action: 'decline' }],
    [{ action: 'cancel' }, { action: 'cancel' }],
    // Only a person can decline.
    [{ action: 'accept', content: { name: 7 } }, { action: 'cancel' }],
    [{ action: 'accept' }, { action: 'cancel' }],
    [{ action: 'maybe' }, { action: 'cancel' }],
    [undefined, { action: 'cancel' }],
  ])('the answer %j goes out as %j', async (given, sent) => {
    const made = await asking(era, form, { elicit: () => given as ElicitAnswer });
    expect(await answerOf(made)).toBe(JSON.stringify(sent));
    await made.host.close();
  });

  // Protocol: 25-elicitation-52, 26-elicitation-44
  it('an answer that does not match is reported to the author of the host', async () => {
    const made = await asking(era, form, { elicit: () => ({ action: 'accept', content: { age: 1.5 } }) });
    await answerOf(made);
    expect(made.events('log').filter(({ level }) => level === 'error')).toEqual([
      {
        server: 's',
        level: 'error',
        message:
          'the answer to a form does not fit it (name is required; age must be a whole number): the form was cancelled',
      },
    ]);
    await made.host.close();
  });

  // Protocol: 25-elicitation-3d, 25-elicitation-42, 25-elicitation-43, 25-elicitation-44, 26-elicitation-3d,
  // 26-elicitation-34, 26-elicitation-35, 26-elicitation-36
  it('A17: an address is opened after a yes and not before, with its host shown', async () => {
    for (const action of ['accept', 'decline', 'cancel'] as const) {
      const steps: string[] = [];
      const made = await asking(era, url, {
        openUrl: (address) => void steps.push(`opened ${address}`),
        elicit: ({ host, url: address }) => {
          steps.push(`asked about ${host} ${address}`);
          return { action };
        },
      });
      expect(await answerOf(made)).toBe(JSON.stringify({ action }));
      expect(steps).toEqual([
        'asked about example.com https://example.com/login',
        ...(action === 'accept' ? ['opened https://example.com/login'] : []),
      ]);
      await made.host.close();
    }
  });

  it('A17: an address that hides where it leads is refused and no one is asked', async () => {
    let asked = 0;
    const evil = { ...url, params: { ...url.params, url: 'https://bank.example@evil.example/' } };
    const made = await asking(era, evil, {
      elicit: () => {
        asked += 1;
        return { action: 'accept' };
      },
    });
    const answer = await answerOf(made).catch((error) => error.message);
    expect(answer).toContain('The url elicitation is refused: its address hides its host behind a user name');
    expect(asked).toBe(0);
    await made.host.close();
  });

  // Protocol: 25-sampling-5, 26-sampling-16
  it('sampling goes to the model within the ceiling', async () => {
    const seen: unknown[] = [];
    const made = await asking(era, sampling, {
      sample: ({ params, server, session }) => {
        seen.push({ params: { ...params, _meta: undefined }, server, session });
        return completion;
      },
    });
    expect(await answerOf(made)).toBe(JSON.stringify(completion));
    expect(seen).toEqual([
      {
        params: { ...sampling.params, maxTokens: MAX_SAMPLE_TOKENS, _meta: undefined },
        server: 's',
        session: 'host',
      },
    ]);
    expect(made.events('answer').at(-1)).toEqual({ id: 'q2', kind: 'sampling', answer: 'completed' });
    await made.host.close();
  });

  // Protocol: 25-sampling-14, 26-sampling-14, 26-sampling-18
  it('A28: a question with a value of another type is refused, and no one is asked', async () => {
    const evil = { innerHTML: '<b>x</b>', style: 'position:fixed' };
    const sample = (params: object): typeof form => ({
      method: 'sampling/createMessage',
      params: { ...sampling.params, ...params } as never,
    });
    const says = (content: unknown): object => ({ messages: [{ role: 'user', content }] });
    const ask = (params: object): typeof form => ({
      method: 'elicitation/create',
      params: { ...form.params, ...params } as never,
    });
    const field = (schema: object): object => ({
      requestedSchema: object({ f: { type: 'string', ...schema } }),
    });
    for (const question of [
      ...[{ systemPrompt: evil }, { systemPrompt: ['x'] }, { messages: evil }, { messages: ['hi'] }],
      ...[says(evil), says('hi'), says({ type: 'text', text: evil }), says([{ type: 'text' }]), says(null)],
      ...[says({ type: 'image', data: 'x', mimeType: evil }), says({ type: 'resource', resource: evil })],
      ...[
        { messages: [{ role: evil, content: text('hi') }] },
        { temperature: evil },
        { stopSequences: [evil] },
      ],
      ...[{ modelPreferences: evil.style }, { modelPreferences: { hints: [{ name: evil }] } }],
      ...[{ modelPreferences: { costPriority: evil } }, { metadata: 'x' }, { includeContext: evil }],
    ].map(sample)) {
      const made = await asking(era, question, { sample: () => expect.fail('asked') });
      await expectRefused(made, question);
    }
    for (const question of [
      ...[{ message: evil }, { message: 5 }, { mode: evil }, { mode: 'page' }, { requestedSchema: 'x' }],
      ...[{ requestedSchema: { ...object({}), required: evil } }, { requestedSchema: { type: 'array' } }],
      ...[field({ title: evil }), field({ description: evil }), field({ enum: [evil] })],
      ...[field({ enum: ['a'], enumNames: [evil] }), field({ oneOf: [{ const: 'a', title: evil }] })],
      ...[
        { mode: 'url', url: evil },
        { mode: 'url', url: 'https://a.example', message: evil },
      ],
    ].map(ask)) {
      const made = await asking(era, question, { elicit: () => expect.fail('asked') });
      await expectRefused(made, question);
    }
  });

  // Protocol: 25-roots-1, 25-roots-5a, 26-roots-3, 26-roots-5a
  it('roots are the current ones of the host', async () => {
    const roots = [{ uri: 'file:///project', name: 'project' }];
    const made = await asking(era, { method: 'roots/list', params: {} }, { roots: () => roots });
    expect(await answerOf(made)).toBe(JSON.stringify({ roots }));
    await made.host.close();
  });

  it('roots of a function are checked each time, and what is wrong is logged once', async () => {
    const answers: unknown[] = ['/work', [{ uri: '/work' }], [{ uri: '/work' }], undefined, 'throw'];
    const roots = (): never => {
      const answer = answers.shift();
      if (answer === 'throw') throw new Error('no folder is open');
      return answer as never;
    };
    const logged: string[] = [];
    const made = await asking(
      era,
      { method: 'roots/list', params: {} },
      { roots, log: ({ level, message }) => level === 'error' && logged.push(message) },
    );
    for (let asked = 0; asked < 5; asked += 1) await answerOf(made).catch(() => {});
    expect(answers).toEqual([]);
    expect(logged).toEqual([
      'roots() must return a list of { uri, name? }',
      'roots() must return a list of { uri, name? } with file: addresses ("/work" is not one)',
      'roots() failed: no folder is open',
    ]);
    await made.host.close();
  });

  // Protocol: 25-elicitation-4, 25-elicitation-30, 25-roots-4, 25-sampling-5
  it('without a way to ask nothing is declared, and what is asked all the same is refused', async () => {
    for (const question of [form, url, sampling, { method: 'roots/list', params: {} }]) {
      const made = await asking(era, question, {});
      const answer = await answerOf(made).catch((error) => `${error.detail.rpcCode} ${error.message}`);
      expect(answer).toContain(`This client does not serve ${question.method}`);
      const opening = made.server.received.find(
        (message) =>
          'method' in message && message.method === (era === 'legacy' ? 'initialize' : 'server/discover'),
      );
      const stated = JSON.stringify(opening);
      expect(['elicitation', 'sampling', 'roots'].filter((name) => stated.includes(`"${name}"`))).toEqual([]);
      await made.host.close();
    }
  });

  it('`elicitation: "never"` declares nothing and asks no one', async () => {
    const made = await asking(era, form, { elicitation: 'never', elicit: () => expect.fail('asked') });
    const answer = await answerOf(made).catch((error) => error.message);
    expect(answer).toContain('This client does not serve elicitation/create');
    await made.host.close();
  });

  it('CAL-3: the timeouts of the tool pause while the person is asked', async () => {
    const gate = createGate();
    const made = await asking(era, form, {
      entry: { toolTimeoutMs: 1_000, maxTotalMs: 5_000 },
      elicit: async () => {
        await gate.opened;
        return { action: 'accept', content: { name: 'Ada' } };
      },
    });
    const call = answerOf(made);
    while (made.events('question').length < 2) await made.clock.advance(1);
    await made.clock.advance(60 * 60 * 1_000);
    gate.open();
    expect(await call).toBe(JSON.stringify({ action: 'accept', content: { name: 'Ada', age: 30 } }));
    await made.host.close();
  });

  // Protocol: 26-elicitation-13
  it('a call that is cancelled while the person is asked ends at once', async () => {
    const made = await asking(era, form, { elicit: () => new Promise(() => {}) });
    const controller = new AbortController();
    const call = failure(made.host.call('mcp__s__ask', {}, { signal: controller.signal }));
    while (made.events('question').length < 2) await made.clock.advance(1);
    controller.abort();
    expect((await call).code).toBe('CANCELLED');
    await made.host.close();
  });

  it('a question goes to the session whose call it belongs to', async () => {
    const answering = (name: string) => ({
      approve: () => 'allow' as const,
      elicit: (): ElicitAnswer => ({ action: 'accept', content: { name } }),
    });
    const made = await asking(era, form, answering('host'));
    const session = made.host.session(answering('session'));
    const result = await session.call('mcp__s__ask');
    expect(result.content[0]).toEqual(
      text(JSON.stringify({ action: 'accept', content: { name: 'session', age: 30 } })),
    );
    expect(made.events('question').map((question) => question.session)).toEqual(['s1', 's1']);
    const mute = made.host.session({ approve: () => 'allow' });
    expect((await mute.call('mcp__s__ask')).content[0]).toEqual(text(JSON.stringify({ action: 'cancel' })));
    await made.host.close();
  });
});

// Protocol: 25-sampling-16, 25-sampling-19, 26-sampling-20, 26-sampling-23
describe('CAL-3: a server cannot use up the model', () => {
  const loop = (count: number) =>
    scriptedServer({
      eras: 'legacy',
      tools: {
        ask: async (_args, exchange) => {
          let done = 0;
          for (; done < count; done += 1) {
            const error = await exchange.request(sampling.method, sampling.params).then(
              () => undefined,
              (thrown: RpcError) => thrown,
            );
            if (error !== undefined) return `${done}: ${error.code} ${error.message}`;
          }
          return `${done}: never refused`;
        },
        nest: async (_args, exchange) =>
          exchange.request(sampling.method, sampling.params).then(
            () => 'answered',
            (thrown: RpcError) => `${thrown.code} ${thrown.message}`,
          ),
      },
    });

  it('a rate a minute', async () => {
    const made = await scriptedHost({ server: loop(200), sample: () => completion });
    const refused = `${MAX_SAMPLES_PER_MINUTE}: -1 The limit of ${MAX_SAMPLES_PER_MINUTE} completions a minute for a server is reached`;
    expect(await answerOf(made)).toBe(refused);
    await made.clock.advance(60_000);
    expect(await answerOf(made)).toBe(refused);
    await made.host.close();
  });

  it('several in one call, however slow: its timeout pauses while it asks', async () => {
    const made = await scriptedHost({
      server: loop(200),
      sample: async () => {
        await made.clock.advance(10_000);
        return completion;
      },
    });
    expect(await answerOf(made)).toBe(
      `${MAX_SAMPLES_PER_CALL}: -1 The limit of ${MAX_SAMPLES_PER_CALL} completions in one call for a server is reached`,
    );
    await made.host.close();
  });

  it('a model that calls the tool that asked the model gets no deeper than a few rounds', async () => {
    const depths: number[] = [];
    let depth = 0;
    const made = await scriptedHost({
      server: loop(1),
      sample: async () => {
        depth += 1;
        depths.push(depth);
        await made.host.call('mcp__s__nest');
        depth -= 1;
        return completion;
      },
    });
    expect((await made.host.call('mcp__s__nest')).content).toEqual([text('answered')]);
    expect(depths).toEqual(Array.from({ length: MAX_OPEN_SAMPLES }, (_, at) => at + 1));
    await made.host.close();
  });

  it.each<[string, Record<string, unknown>, unknown, string]>([
    ['messages that are none', { messages: 'hi', maxTokens: 1 }, completion, '-32602'],
    ['tools, which were not offered', { ...sampling.params, tools: [] }, completion, '-32602'],
    ['an answer that is no completion', sampling.params, { text: 'hello' }, '-32603 The completion failed'],
  ])('%s', async (_what, params, given, refused) => {
    const made = await asking('legacy', { method: sampling.method, params }, { sample: () => given });
    expect(await answerOf(made)).toContain(refused);
    await made.host.close();
  });
});

describe('an address that must be visited first (-32042)', () => {
  const server = (calls: string[]) =>
    scriptedServer({
      eras: 'legacy',
      tools: {
        ask: () => {
          calls.push('called');
          if (calls.length > 1) return 'in';
          throw new RpcError(-32042, 'Log in first', { elicitations: [url.params] });
        },
      },
    });

  // Protocol: 25-elicitation-16
  it('is asked about and opened, and the call is repeated once', async () => {
    const calls: string[] = [];
    const opened: string[] = [];
    const made = await scriptedHost({
      server: server(calls),
      elicit: () => ({ action: 'accept' }),
      openUrl: (address) => void opened.push(address),
    });
    expect(await answerOf(made)).toBe('in');
    expect([calls.length, opened]).toEqual([2, ['https://example.com/login']]);
    await made.host.close();
  });

  it('without a yes the call is refused', async () => {
    const calls: string[] = [];
    const made = await scriptedHost({ server: server(calls), elicit: () => ({ action: 'decline' }) });
    expect((await failure(made.host.call('mcp__s__ask'))).toJSON()).toEqual({
      code: 'DENIED',
      message: 'ask on s needs an address to be visited first',
      server: 's',
      hint: 'The server gave the address; no one agreed to open it.',
    });
    expect(calls).toEqual(['called']);
    await made.host.close();
  });
});
