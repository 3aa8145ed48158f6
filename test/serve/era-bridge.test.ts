import { afterAll, describe, expect, it } from 'vitest';
import { createGate, type Exchange, type ScriptedServerOptions } from '../../src/testing/index.ts';
import { LineClient, MODERN } from './line-client.ts';
import { smallHost } from './small-host.ts';

const VERSIONS = ['2024-11-05', '2025-06-18', '2025-11-25', MODERN] as const;
const FEATURES = [
  'tools',
  'resources',
  'prompts',
  'progress',
  'cancel',
  'elicitation',
  'sampling',
  'roots',
  'logs',
  'list_changed',
] as const;
type Row = Record<(typeof FEATURES)[number], string>;

/** What a client of that version can declare: before 2025-06-18 there were no forms. */
function capabilitiesOf(version: string): Record<string, unknown> {
  return { sampling: {}, roots: {}, ...(version >= '2025-06-18' ? { elicitation: {} } : {}) };
}

const FORM = { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] };
const MESSAGES = [{ role: 'user', content: { type: 'text', text: 'hello' } }];

/** Asks the client in the way of the server's own era. */
async function ask(
  exchange: Exchange,
  method: string,
  params: Record<string, unknown>,
  say: (answer: Record<string, unknown>) => string,
): Promise<unknown> {
  if (exchange.era === 'legacy') {
    const answer = await exchange.request(method, params);
    return say(answer as Record<string, unknown>);
  }
  const responses = exchange.params['inputResponses'] as Record<string, Record<string, unknown>> | undefined;
  if (responses?.['ask'] !== undefined && exchange.params['requestState'] === 'opaque') {
    return say(responses['ask']);
  }
  return { resultType: 'input_required', inputRequests: { ask: { method, params } }, requestState: 'opaque' };
}

function script(version: string, cancelled: () => void, begun: () => void): ScriptedServerOptions {
  return {
    eras: version === MODERN ? 'modern' : 'legacy',
    capabilities: {
      tools: { listChanged: true },
      resources: { listChanged: true },
      prompts: { listChanged: true },
      logging: {},
    },
    tools: {
      echo: ({ message }) => String(message),
      steps: (_, exchange) => {
        exchange.progress(1, 2, 'half');
        return 'done';
      },
      wait: (_, { signal }) => {
        begun();
        signal.addEventListener('abort', cancelled);
        return new Promise(() => {});
      },
      elicit: (_, exchange) =>
        ask(
          exchange,
          'elicitation/create',
          { mode: 'form', message: 'Who?', requestedSchema: FORM },
          (answer) => JSON.stringify(answer),
        ),
      sample: (_, exchange) =>
        ask(exchange, 'sampling/createMessage', { messages: MESSAGES, maxTokens: 10 }, ({ content }) =>
          JSON.stringify(content),
        ),
      roots: (_, exchange) => ask(exchange, 'roots/list', {}, ({ roots }) => JSON.stringify(roots)),
      chatty: (_, exchange) => {
        exchange.notify('notifications/message', { level: 'info', data: 'working on it' });
        return 'done';
      },
    },
  };
}

const table: Record<string, Row> = {};

afterAll(() => {
  const lines = Object.entries(table).map(([pair, row]) =>
    [pair, ...FEATURES.map((name) => row[name])].join(' | '),
  );
  process.stdout.write(`\nclient → server | ${FEATURES.join(' | ')}\n${lines.join('\n')}\n`);
});

describe('SRV-1: the era bridge', () => {
  const pairs = VERSIONS.flatMap((client) => VERSIONS.map((server) => [client, server] as const));

  // Protocol: 25-cancellation-4, 25-elicitation-6, 25-elicitation-7, 25-lifecycle-9, 25-lifecycle-14a,
  // 25-progress-5, 25-prompts-2, 26-cancellation-12, 26-elicitation-6, 26-elicitation-7, 26-mrtr-1, 26-patterns-1,
  // 26-progress-5
  it.each(pairs)('a client of %s uses a server of %s', async (clientVersion, serverVersion) => {
    const cancelled = createGate();
    const begun = createGate();
    const small = await smallHost(
      script(
        serverVersion,
        () => cancelled.open(),
        () => begun.open(),
      ),
      { connect: 'none' },
    );
    const { server } = small;
    if (serverVersion !== MODERN) {
      server.on('initialize', () => ({
        protocolVersion: serverVersion,
        capabilities: script(
          serverVersion,
          () => {},
          () => {},
        ).capabilities,
        serverInfo: { name: 'scripted', version: '1' },
      }));
    }
    server.on('resources/list', () => ({ resources: [{ uri: 'memo://one', name: 'one' }] }));
    server.on('resources/templates/list', () => ({ resourceTemplates: [] }));
    server.on('resources/read', ({ params }) => ({ contents: [{ uri: params['uri'], text: 'first' }] }));
    server.on('prompts/list', () => ({ prompts: [{ name: 'greet' }] }));
    server.on('prompts/get', () => ({
      messages: [{ role: 'user', content: { type: 'text', text: 'hello' } }],
    }));
    server.on('logging/setLevel', () => ({}));
    await small.host.connect('small');

    const client = new LineClient(small.host, clientVersion, capabilitiesOf(clientVersion), (method) => {
      if (method === 'elicitation/create') return { action: 'accept', content: { name: 'Ada' } };
      if (method === 'roots/list') return { roots: [{ uri: 'file:///work' }] };
      return { role: 'assistant', model: 'm', content: { type: 'text', text: 'hi there' } };
    });
    const opened = await client.open();
    const call = async (tool: string, more: Record<string, unknown> = {}): Promise<string> => {
      const result = await client.request('tools/call', { name: `small__${tool}`, ...more });
      return (result['content'] as { text: string }[])[0]?.text ?? '';
    };
    await client.listen();

    const row: Partial<Row> = {};
    row.tools = await call('echo', { arguments: { message: 'hi' } });
    const { resources } = await client.request('resources/list');
    const { contents } = await client.request('resources/read', { uri: 'memo://one' });
    row.resources = `${(resources as { uri: string }[])[0]?.uri} ${(contents as { text: string }[])[0]?.text}`;
    const { prompts } = await client.request('prompts/list');
    const { messages } = await client.request('prompts/get', { name: 'small__greet' });
    row.prompts = `${(prompts as { name: string }[])[0]?.name} ${(messages as { content: { text: string } }[])[0]?.content.text}`;
    await call('steps', { _meta: { progressToken: 'p' } });
    const told = await client.heard('notifications/progress');
    row.progress = JSON.stringify(told['params']);

    const requestId = client.nextId;
    void call('wait').catch(() => {});
    await begun.opened;
    client.notify('notifications/cancelled', { requestId });
    await cancelled.opened;
    row.cancel = 'upstream cancelled';

    row.elicitation = await call('elicit');
    row.sampling = await call('sample');
    row.roots = await call('roots');
    await call('chatty');
    const logged = await client.heard('notifications/message');
    row.logs = (logged['params'] as { data: string }).data;
    server.notify('notifications/prompts/list_changed');
    await client.heard('notifications/prompts/list_changed');
    row.list_changed = 'told';
    await client.leave();
    await small.close();

    table[`${clientVersion} → ${serverVersion}`] = row as Row;
    expect(opened['protocolVersion'] ?? opened['supportedVersions']).toEqual(
      clientVersion === MODERN ? [MODERN] : clientVersion,
    );
    expect(row).toEqual({
      tools: 'hi',
      resources: 'memo://one first',
      prompts: 'small__greet hello',
      progress: '{"progressToken":"p","progress":1,"total":2,"message":"half"}',
      cancel: 'upstream cancelled',
      elicitation:
        clientVersion < '2025-06-18' ? '{"action":"cancel"}' : '{"action":"accept","content":{"name":"Ada"}}',
      sampling: '{"type":"text","text":"hi there"}',
      roots: '[{"uri":"file:///work"}]',
      logs: 'working on it',
      list_changed: 'told',
    });
  });
});
