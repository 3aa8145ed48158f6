/**
 * SRV-9: a client of a narrow profile tries to learn about servers and tools outside of it. Each probe is sent on every
 * surface to two gateways: one with hidden servers, which work, log and change at the same time, and one without them.
 * Nothing of a hidden server may arrive, and both gateways must answer the same.
 */

import { request as httpRequest } from 'node:http';
import { PassThrough } from 'node:stream';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { table } from '../../scripts/docs/table.mjs';
import { serveStdio } from '../../src/serve/index.ts';
import {
  HIDDEN,
  HIDDEN_TOOL,
  type IsolationWorld,
  isolationWorld,
  MARK,
  STARTING,
} from '../world/isolation-world.ts';
import { legacySession, post } from './bare-client.ts';

type Params = Readonly<Record<string, unknown>>;
type Message = Record<string, unknown>;

const MODERN = '2026-07-28';
const LEGACY = '2025-11-25';
const PREFIX = 'io.modelcontextprotocol/';
const SURFACES = ['legacy, HTTP', 'modern, HTTP', 'legacy, stdio', 'modern, stdio'] as const;
type Surface = (typeof SURFACES)[number];

interface Probe {
  readonly kind: string;
  readonly name: string;
  readonly method: string;
  readonly params?: Params;
  /** Only on these surfaces; default: all. */
  readonly on?: (surface: Surface) => boolean;
  readonly headers?: Readonly<Record<string, string>>;
}

const isLegacy = (surface: Surface): boolean => surface.startsWith('legacy');
const isHttp = (surface: Surface): boolean => surface.endsWith('HTTP');

const call = (name: string, args: Params = {}): Pick<Probe, 'method' | 'params'> => ({
  method: 'tools/call',
  params: { name, arguments: args },
});
const wrapped = (name: string, args: Params = {}): Pick<Probe, 'method' | 'params'> =>
  call('call_tool', { name, arguments: args });
const search = (query: string): Pick<Probe, 'method' | 'params'> => call('tool_search', { query, limit: 20 });
const read = (uri: string): Pick<Probe, 'method' | 'params'> => ({
  method: 'resources/read',
  params: { uri },
});
const prompt = (name: string): Pick<Probe, 'method' | 'params'> => ({
  method: 'prompts/get',
  params: { name },
});
const completion = (ref: Params): Pick<Probe, 'method' | 'params'> => ({
  method: 'completion/complete',
  params: { ref, argument: { name: 'who', value: '' } },
});
const bound = (server: string, uri: string): string =>
  `plugboard://server/${encodeURIComponent(server)}/${encodeURIComponent(uri)}`;

const PROBES: readonly Probe[] = [
  ...['tools/list', 'resources/list', 'resources/templates/list', 'prompts/list'].map((method) => ({
    kind: 'lists',
    name: method,
    method,
  })),
  {
    kind: 'lists',
    name: 'capabilities and instructions',
    method: 'server/discover',
    on: (each) => !isLegacy(each),
  },
  {
    kind: 'lists',
    name: 'capabilities and instructions',
    method: 'initialize',
    params: { protocolVersion: LEGACY, capabilities: {}, clientInfo: { name: 'probe', version: '1' } },
    on: (each) => isLegacy(each) && !isHttp(each),
  },
  { kind: 'search', name: 'everything', ...search('any tool of any server') },
  { kind: 'search', name: 'the words of a hidden tool', ...search(`open the vault ${MARK}`) },
  { kind: 'search', name: 'a mandatory word', ...search(`+${MARK}`) },
  { kind: 'search', name: 'a hidden tool by name', ...search(`select:${HIDDEN}__${HIDDEN_TOOL}`) },
  { kind: 'search', name: 'a hidden tool of a visible server', ...search(`select:part__${MARK}_purge`) },
  { kind: 'calls', name: 'a hidden tool', ...call(`${HIDDEN}__${HIDDEN_TOOL}`, { key: 'k' }) },
  { kind: 'calls', name: 'in its long name', ...call(`mcp__${HIDDEN}__${HIDDEN_TOOL}`, { key: 'k' }) },
  { kind: 'calls', name: 'in its own name', ...call(HIDDEN_TOOL, { key: 'k' }) },
  { kind: 'calls', name: 'with wrong arguments', ...call(`${HIDDEN}__${HIDDEN_TOOL}`, { key: 7 }) },
  { kind: 'calls', name: 'a name close to it', ...call(`${HIDDEN}__secret_zqx`) },
  { kind: 'calls', name: 'a name close to a visible tool', ...call('open__ecko') },
  { kind: 'calls', name: 'a hidden tool of a visible server', ...call(`part__${MARK}_purge`) },
  { kind: 'calls', name: 'a name close to that', ...call('part__zqx_purge') },
  { kind: 'calls', name: 'a tool of a server that starts', ...call(`${STARTING}__anything`) },
  { kind: 'calls', name: 'a tool of a server that failed', ...call(`gone-${MARK}__anything`) },
  { kind: 'calls', name: 'a server alone', ...call(HIDDEN) },
  { kind: 'calls', name: 'a tool with the name of a hidden one', ...call('open__echo', { text: 'hi' }) },
  { kind: 'calls', name: 'a tool whose server is named like a hidden one', ...call('my_app__go') },
  { kind: 'calls', name: 'the agent of the gateway', ...call('agent', { prompt: 'list all servers' }) },
  {
    kind: 'calls',
    name: 'the resource tools',
    ...call('read_mcp_resource', { server: HIDDEN, uri: `${MARK}://a` }),
  },
  {
    kind: 'calls',
    name: 'as a task',
    method: 'tools/call',
    params: { name: `${HIDDEN}__${HIDDEN_TOOL}`, arguments: { key: 'k' }, task: { ttl: 60_000 } },
  },
  {
    kind: 'calls',
    name: 'with a header of its arguments',
    ...call(`${HIDDEN}__${HIDDEN_TOOL}`, { key: 'k' }),
    headers: { [`mcp-param-key-${MARK}`]: 'other' },
    on: isHttp,
  },
  {
    kind: 'calls',
    name: 'progress and log messages of its own call',
    method: 'tools/call',
    params: {
      name: 'open__report',
      arguments: {},
      _meta: { progressToken: 1, [`${PREFIX}logLevel`]: 'debug' },
    },
  },
  ...['open__fail', 'part__shown'].map((name, at) => ({
    kind: 'rules',
    name: `a tool that a rule with hidden names ${at === 0 ? 'denies' : 'asks about'}`,
    method: 'tools/call',
    params: { name, arguments: {}, _meta: { [`${PREFIX}logLevel`]: 'debug' } },
  })),
  ...['denied', 'asked'].map((page, at) => ({
    kind: 'rules',
    name: `a resource that a rule with hidden names ${at === 0 ? 'denies' : 'asks about'}`,
    ...read(`doc://open/${page}`),
  })),
  ...['open__fail', 'part__shown'].flatMap((name, at) => {
    const effect = at === 0 ? 'denies' : 'asks about';
    const task = { name, arguments: {}, task: { ttl: 60_000 } };
    return [
      {
        kind: 'rules',
        name: `a task of a tool that such a rule ${effect}`,
        method: 'tools/call',
        params: task,
      },
      { kind: 'rules', name: `call_tool of a tool that such a rule ${effect}`, ...wrapped(name) },
      {
        kind: 'rules',
        name: `call_tool_read of a tool that such a rule ${effect}`,
        ...call('call_tool_read', { name, arguments: {} }),
      },
    ];
  }),
  {
    kind: 'rules',
    name: 'the question about a tool that such a rule asks about',
    method: 'tools/call',
    params: {
      name: 'part__shown',
      arguments: {},
      _meta: { [`${PREFIX}clientCapabilities`]: { elicitation: { form: {} } } },
    },
    on: (each) => !isLegacy(each),
  },
  ...['denied', 'asked'].flatMap((who, at) => {
    const effect = at === 0 ? 'denies' : 'asks about';
    return [
      {
        kind: 'rules',
        name: `a prompt that such a rule ${effect}`,
        method: 'prompts/get',
        params: { name: 'open__greet', arguments: { who } },
      },
      {
        kind: 'rules',
        name: `subscribe to a resource that such a rule ${effect}`,
        method: 'resources/subscribe',
        params: { uri: `doc://open/${who}` },
        on: isLegacy,
      },
    ];
  }),
  { kind: 'rules', name: 'a tool of a server that such a rule denies', ...call('closed__run') },
  { kind: 'rules', name: 'a resource of that server', ...read('closed://a') },
  { kind: 'rules', name: 'a resource bound to that server', ...read(bound('closed', 'closed://a')) },
  { kind: 'rules', name: 'a prompt of that server', ...prompt('closed__greet') },
  {
    kind: 'rules',
    name: 'a completion of that server',
    ...completion({ type: 'ref/resource', uri: 'closed://{page}' }),
  },
  { kind: 'call_tool', name: 'a hidden tool', ...wrapped(`${HIDDEN}__${HIDDEN_TOOL}`, { key: 'k' }) },
  { kind: 'call_tool', name: 'in its long name', ...wrapped(`mcp__${HIDDEN}__${HIDDEN_TOOL}`) },
  { kind: 'call_tool', name: 'a hidden tool of a visible server', ...wrapped(`part__${MARK}_purge`) },
  { kind: 'call_tool', name: 'without a name', ...call('call_tool', {}) },
  ...[`${HIDDEN}__${HIDDEN_TOOL}`, `part__${MARK}_purge`].map((hidden, at) => ({
    kind: 'call_tool',
    name: at === 0 ? 'a hidden tool, to read' : 'a hidden tool of a visible server, to read',
    ...call('call_tool_read', { name: hidden, arguments: {} }),
  })),
  { kind: 'resources', name: 'a hidden address', ...read(`${MARK}://a`) },
  { kind: 'resources', name: 'an address that fits a hidden template', ...read(`${MARK}://b`) },
  { kind: 'resources', name: 'an address bound to a hidden server', ...read(bound(HIDDEN, `${MARK}://a`)) },
  {
    kind: 'resources',
    name: 'a visible address bound to a hidden server',
    ...read(bound(HIDDEN, 'doc://shared')),
  },
  { kind: 'resources', name: 'an address that a hidden server has too', ...read('doc://shared') },
  { kind: 'resources', name: 'an address that fits both templates', ...read('doc://open/b') },
  {
    kind: 'resources',
    name: 'a user interface of a hidden server',
    ...read(`ui://plugboard-server/${HIDDEN}/x`),
  },
  {
    kind: 'resources',
    name: 'a template of a hidden server',
    ...read(`plugboard://template/${HIDDEN}/${MARK}://x`),
  },
  { kind: 'resources', name: 'of a server with one visible tool', ...read(`part://${MARK}`) },
  {
    kind: 'resources',
    name: 'a saved result',
    ...read('plugboard://output/00000000-0000-0000-0000-000000000000'),
  },
  {
    kind: 'resources',
    name: 'subscribe to a hidden address',
    method: 'resources/subscribe',
    params: { uri: `${MARK}://a` },
    on: isLegacy,
  },
  {
    kind: 'resources',
    name: 'unsubscribe from a hidden address',
    method: 'resources/unsubscribe',
    params: { uri: `${MARK}://a` },
    on: isLegacy,
  },
  { kind: 'prompts', name: 'a hidden prompt', ...prompt(`${HIDDEN}__ask_${MARK}`) },
  { kind: 'prompts', name: 'in its long name', ...prompt(`mcp__${HIDDEN}__ask_${MARK}`) },
  { kind: 'prompts', name: 'a visible prompt that a hidden server has too', ...prompt('open__greet') },
  { kind: 'prompts', name: 'of a server with one visible tool', ...prompt(`part__${MARK}_ask`) },
  { kind: 'prompts', name: 'of a server that starts', ...prompt(`${STARTING}__anything`) },
  {
    kind: 'completion',
    name: 'a hidden prompt',
    ...completion({ type: 'ref/prompt', name: `${HIDDEN}__ask_${MARK}` }),
  },
  {
    kind: 'completion',
    name: 'a hidden template',
    ...completion({ type: 'ref/resource', uri: `${MARK}://{x}` }),
  },
  {
    kind: 'completion',
    name: 'a visible prompt',
    ...completion({ type: 'ref/prompt', name: 'open__greet' }),
  },
  { kind: 'extensions', name: 'a method of a hidden server', method: `com.${MARK}/vault/list` },
  {
    kind: 'extensions',
    name: 'a method that a hidden server has too',
    method: 'com.example/skills/list',
  },
  {
    kind: 'extensions',
    name: 'a hidden server by name',
    method: 'com.example/skills/list',
    params: { _meta: { 'plugboard/server': HIDDEN } },
  },
  {
    kind: 'extensions',
    name: 'a hidden server by an address',
    method: 'com.example/skills/list',
    params: { uri: `${MARK}://a` },
  },
  {
    kind: 'extensions',
    name: 'a hidden server by a tool',
    method: 'com.example/skills/list',
    params: { name: `${HIDDEN}__${HIDDEN_TOOL}` },
  },
  { kind: 'extensions', name: 'of a server with one visible tool', method: `com.${MARK}/part/list` },
  {
    kind: 'logging',
    name: 'every level',
    method: 'logging/setLevel',
    params: { level: 'debug' },
    on: isLegacy,
  },
  { kind: 'tasks', name: 'list', method: 'tasks/list', on: isLegacy },
  { kind: 'tasks', name: 'get', method: 'tasks/get', params: { taskId: 'of another client' } },
  { kind: 'tasks', name: 'cancel', method: 'tasks/cancel', params: { taskId: 'of another client' } },
  {
    kind: 'tasks',
    name: 'result',
    method: 'tasks/result',
    params: { taskId: 'of another client' },
    on: isLegacy,
  },
  {
    kind: 'rounds',
    name: 'the state of another request',
    method: 'tools/call',
    params: { name: 'open__echo', requestState: 'of another client', inputResponses: {} },
    on: (each) => !isLegacy(each),
  },
];

/** One client of the narrow profile; keeps every byte that it receives. */
interface RawClient {
  /** Resolves with everything received until the response to this request. */
  send(probe: Pick<Probe, 'method' | 'params' | 'headers'>): Promise<string>;
  /** Everything received outside of responses. */
  readonly unsolicited: () => string;
  close(): Promise<void>;
}

function envelope(
  surface: Surface,
  { method, params = {} }: Pick<Probe, 'method' | 'params'>,
  id: number,
): Message {
  if (isLegacy(surface)) return { jsonrpc: '2.0', id, method, params };
  const _meta = {
    [`${PREFIX}protocolVersion`]: MODERN,
    [`${PREFIX}clientInfo`]: { name: 'probe', version: '1' },
    [`${PREFIX}clientCapabilities`]: { extensions: { [`${PREFIX}tasks`]: {}, [`${PREFIX}ui`]: {} } },
    ...(params['_meta'] as Params | undefined),
  };
  return { jsonrpc: '2.0', id, method, params: { ...params, _meta } };
}

const OPENING = {
  method: 'initialize',
  params: { protocolVersion: LEGACY, capabilities: {}, clientInfo: { name: 'probe', version: '1' } },
};

async function stdioClient({ host }: IsolationWorld, surface: Surface): Promise<RawClient> {
  const [input, output] = [new PassThrough(), new PassThrough()];
  let received = '';
  let look = (): void => {};
  output.setEncoding('utf8').on('data', (text: string) => {
    received += text;
    look();
  });
  const served = serveStdio(host, { input, output, profile: 'narrow' });
  let ids = 0;
  const write = (message: Message): boolean => input.write(`${JSON.stringify(message)}\n`);
  const client: RawClient = {
    unsolicited: () => received,
    async send(probe) {
      const id = ++ids;
      const from = received.length;
      const isAnswered = (): boolean =>
        received
          .slice(from)
          .split('\n')
          .slice(0, -1)
          .some((line) => (JSON.parse(line) as Message)['id'] === id);
      write(envelope(surface, probe, id));
      while (!isAnswered())
        await new Promise<void>((resolve) => {
          look = resolve;
        });
      return received.slice(from);
    },
    async close() {
      input.end();
      await served.closed;
    },
  };
  if (isLegacy(surface)) {
    await client.send(OPENING);
    write({ jsonrpc: '2.0', method: 'notifications/initialized' });
  }
  return client;
}

/** Sends a request and resolves with its status, its headers except those that always differ, and its body. */
function exchanged(
  url: string,
  body: Message | undefined,
  headers: Readonly<Record<string, string>>,
  onText: (text: string) => void = () => {},
): Promise<{ text: string; session: string; stop: () => void }> {
  return new Promise((resolve, reject) => {
    const sent = httpRequest(
      url,
      {
        method: body === undefined ? 'GET' : 'POST',
        headers: {
          'content-type': 'application/json',
          accept: 'application/json, text/event-stream',
          ...headers,
        },
      },
      (answer) => {
        const { date: _date, 'mcp-session-id': session = '', ...kept } = answer.headers;
        let text = `${answer.statusCode} ${JSON.stringify(kept)}\n`;
        const done = (): void => resolve({ text, session: String(session), stop: () => sent.destroy() });
        answer.setEncoding('utf8').on('data', (chunk: string) => {
          text += chunk;
          onText(chunk);
        });
        answer.on('error', () => {});
        answer.on('end', done);
        if (body === undefined) done();
      },
    );
    sent.on('error', reject);
    sent.end(body === undefined ? undefined : JSON.stringify(body));
  });
}

async function httpClient(
  { url, tokens }: IsolationWorld,
  surface: Surface,
  token = tokens.narrow,
): Promise<RawClient> {
  const authorization = `Bearer ${token}`;
  let unsolicited = '';
  let ids = 0;
  let session: Record<string, string> = {};
  let stop = (): void => {};
  const send: RawClient['send'] = async (probe) => {
    const body = envelope(surface, probe, ++ids);
    const { name, uri } = probe.params ?? {};
    const named = name ?? uri;
    const modern = {
      'mcp-protocol-version': MODERN,
      'mcp-method': probe.method,
      ...(typeof named === 'string' ? { 'mcp-name': named } : {}),
    };
    const headers = { authorization, ...(isLegacy(surface) ? session : modern), ...probe.headers };
    return (await exchanged(url, body, headers)).text;
  };
  if (isLegacy(surface)) {
    const opened = await exchanged(url, envelope(surface, OPENING, ++ids), { authorization });
    session = { 'mcp-session-id': opened.session, 'mcp-protocol-version': LEGACY };
    unsolicited += opened.text;
    await exchanged(
      url,
      { jsonrpc: '2.0', method: 'notifications/initialized' },
      { authorization, ...session },
    );
    const stream = await exchanged(url, undefined, { authorization, ...session }, (text) => {
      unsolicited += text;
    });
    stop = stream.stop;
  }
  return { send, unsolicited: () => unsolicited, close: async () => stop() };
}

/** Removes the parts of an answer that differ from run to run, and the client's own guess. */
function comparable(text: string): string {
  return text
    .replaceAll(/[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}/g, '<uuid>')
    .replaceAll(/^id: \d+$|}id: \d+$/gm, 'id: <time>')
    .replaceAll(/"content-length":"\d+"/g, '"content-length":"<length>"');
}

/** An answer may repeat what the client sent, and nothing else of a hidden server. */
function withoutGuesses(text: string, { method, params = {} }: Pick<Probe, 'method' | 'params'>): string {
  const sent = [method, ...texts(params)].filter((each) => each.includes(MARK));
  // An address contains the name of its server.
  const guesses = sent.some((each) => each.includes(HIDDEN)) ? [...sent, HIDDEN] : sent;
  const forms = guesses.flatMap((each) => [
    each,
    encodeURIComponent(each),
    JSON.stringify(each).slice(1, -1),
  ]);
  return forms
    .toSorted((a, b) => b.length - a.length)
    .reduce((left, each) => left.replaceAll(each, '<guess>'), text);
}

function texts(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(texts) : [];
}

let hiding: IsolationWorld;
let plain: IsolationWorld;
const rows: string[][] = [];
beforeAll(async () => {
  [hiding, plain] = await Promise.all([isolationWorld(true), isolationWorld(false)]);
});
afterAll(async () => {
  await Promise.all([hiding?.close(), plain?.close()]);
});

/** Another client, which has everything: calls a hidden tool that reports progress and logs. */
async function busyClient({ url, tokens }: IsolationWorld): Promise<() => Promise<unknown>> {
  const session = await legacySession(url, LEGACY, {}, { authorization: `Bearer ${tokens.wide}` });
  const send = (method: string, params: Params): Promise<unknown> =>
    post(url, { jsonrpc: '2.0', id: method, method, params }, session);
  await send('logging/setLevel', { level: 'debug' });
  const params = { name: `${HIDDEN}__work_${MARK}`, _meta: { progressToken: 1 } };
  return () => send('tools/call', params);
}

it.each(SURFACES)('SRV-9: probes of a narrow profile find nothing outside of it (%s)', async (surface) => {
  const open = isHttp(surface) ? httpClient : stdioClient;
  const clients = await Promise.all([open(hiding, surface), open(plain, surface)]);
  const [narrow, reference] = clients;
  // While it is the only client, and while another one works.
  await hiding.stir();
  const busy = await busyClient(hiding);
  const leaks: string[] = [];
  const differences: unknown[] = [];
  for (const probe of PROBES.filter(({ on = () => true }) => on(surface))) {
    await hiding.stir();
    const work = busy();
    const [answer, expected] = await Promise.all([narrow.send(probe), reference.send(probe)]);
    await work;
    const label = `${probe.kind}: ${probe.name}`;
    if (withoutGuesses(answer, probe).toLowerCase().includes(MARK)) leaks.push(`${label}: ${answer}`);
    if (comparable(answer) !== comparable(expected)) differences.push({ label, answer, expected });
    rows.push([probe.kind, probe.name, surface]);
  }
  expect({ leaks, differences }).toEqual({ leaks: [], differences: [] });
  // Notifications may arrive between two answers.
  const [heard, wouldHear] = clients.map((client) => comparable(client.unsolicited()).split('\n').toSorted());
  expect(heard).toEqual(wouldHear);
  await Promise.all(clients.map((client) => client.close()));
});

it('SRV-9: the same probes find hidden servers without a profile', async () => {
  const surface = 'modern, HTTP';
  const wide = await httpClient(hiding, surface, hiding.tokens.wide);
  const found: string[] = [];
  for (const probe of PROBES.filter(
    ({ on = () => true, name }) => on(surface) && !name.includes('that starts'),
  )) {
    const answer = await wide.send(probe);
    if (withoutGuesses(answer, probe).toLowerCase().includes(MARK))
      found.push(`${probe.kind}: ${probe.name}`);
  }
  expect(found.length).toBeGreaterThan(20);
});

it('SRV-9: names are unique within the profile only, also where tools keep their own names', async () => {
  const worlds = await Promise.all([isolationWorld(true, 'plain'), isolationWorld(false, 'plain')]);
  const lists = await Promise.all(
    worlds.map(async (world) => {
      const client = await httpClient(world, 'modern, HTTP');
      const answers = await Promise.all(
        ['tools/list', 'prompts/list'].map((method) => client.send({ method })),
      );
      return answers.map((answer) => [...answer.matchAll(/"name":"([^"]+)"/g)].map(([, name]) => name));
    }),
  );
  await Promise.all(worlds.map((world) => world.close()));
  expect(lists[0]).toEqual(lists[1]);
  expect(lists[0]?.[0]).toEqual(expect.arrayContaining(['echo', 'go']));
});

it('SRV-9: at least 200 probes were made; docs/isolation.md lists them (to fix: npx vitest run test/serve/isolation.test.ts --update)', async () => {
  expect(rows.length).toBeGreaterThanOrEqual(200);
  const probes = [
    ...new Map(rows.map(([kind = '', name = '']) => [`${kind}\n${name}`, [kind, name]])).values(),
  ];
  const cells = probes.map(([kind = '', name = '']) => [
    kind,
    name,
    ...SURFACES.map((surface) =>
      rows.some((row) => row[0] === kind && row[1] === name && row[2] === surface) ? 'nothing' : '–',
    ),
  ]);
  const page = `${HEAD}\n${table([['kind', 'probe', ...SURFACES], ...cells])}\n`;
  await expect(page.replace('<count>', String(rows.length))).toMatchFileSnapshot('../../docs/isolation.md');
});

const HEAD = `# What a client can learn outside of its profile

<count> probes by a client whose [profile](profiles.md) has four of eight servers, one of them with one tool only. During the probes the hidden servers log,
change their lists and work for another client; one of them never finishes its start and one fails. Each answer is compared with that of
a gateway that has no hidden servers: both are the same, and no byte of a hidden server arrives. This page is written by the run:
[test/serve/isolation.test.ts](../test/serve/isolation.test.ts) (\`npx vitest run test/serve/isolation.test.ts --update\` writes it).
`;
