/** Lines of a client, to a server of the kit and to the gateway: bad ones are refused, and the next is answered once. */

import { PassThrough } from 'node:stream';
import { defineServer, prompt, resource, stdio, tool } from '../../../src/kit/index.ts';
import { serveStdio } from '../../../src/serve/serve-stdio.ts';
import { smallHost } from '../../serve/small-host.ts';
import type { Edge } from '../edge.ts';

const META = 'io.modelcontextprotocol/';
const ENVELOPE = {
  [`${META}protocolVersion`]: '2026-07-28',
  [`${META}clientInfo`]: { name: 'f', version: '1' },
  [`${META}clientCapabilities`]: { elicitation: {} },
};

const MESSAGES: readonly object[] = [
  {
    id: 1,
    method: 'initialize',
    params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'f', version: '1' } },
  },
  { method: 'notifications/initialized' },
  { id: 2, method: 'tools/list' },
  {
    id: 3,
    method: 'tools/call',
    params: { name: 'NAME', arguments: { message: 'x' }, _meta: { progressToken: 'p' } },
  },
  { id: 'four', method: 'server/discover', params: { _meta: ENVELOPE } },
  { id: 5, method: 'tools/call', params: { name: 'NAME', arguments: { message: 'x' }, _meta: ENVELOPE } },
  { id: 6, method: 'resources/read', params: { uri: 'note://a' } },
  { id: 7, method: 'prompts/get', params: { name: 'greet', arguments: { who: 'you' } } },
  {
    id: 8,
    method: 'completion/complete',
    params: { ref: { type: 'ref/prompt', name: 'greet' }, argument: { name: 'who', value: 'y' } },
  },
  { id: 9, method: 'logging/setLevel', params: { level: 'debug' } },
  { id: 10, method: 'resources/subscribe', params: { uri: 'note://a' } },
  {
    id: 11,
    method: 'subscriptions/listen',
    params: { notifications: { toolsListChanged: true }, _meta: ENVELOPE },
  },
  { id: 12, method: 'resources/templates/list', params: { cursor: 'c' } },
  { method: 'notifications/cancelled', params: { requestId: 3, reason: 'late' } },
  { id: 13, result: { action: 'accept', content: {} } },
  {
    id: 14,
    method: 'tools/call',
    params: { name: 'NAME', arguments: {}, requestState: 's', inputResponses: { a: {} }, _meta: ENVELOPE },
  },
];

function corpus(toolName: string): Buffer[] {
  const lines = MESSAGES.map((message) =>
    JSON.stringify({ jsonrpc: '2.0', ...message }).replace('NAME', toolName),
  );
  const batch = `[${lines.slice(2, 5).join(',')}]`;
  return [...lines, lines.join('\n'), batch].map((text) => Buffer.from(text));
}

interface Served {
  readonly closed: Promise<void>;
}

/** One client of its own for each input. */
async function talk(
  serve: (input: PassThrough, output: PassThrough) => Served | Promise<Served>,
  input: Buffer,
): Promise<void> {
  const [toServer, fromServer] = [new PassThrough(), new PassThrough()];
  const served = await serve(toServer, fromServer);
  let heard = '';
  const answered = new Promise<void>((resolve) => {
    fromServer.setEncoding('utf8').on('data', (text: string) => {
      heard += text;
      if (heard.includes('"id":"the last"')) resolve();
    });
  });
  toServer.write(input);
  toServer.write('\n{"jsonrpc":"2.0","id":"the last","method":"ping"}\n');
  await answered;
  toServer.end();
  fromServer.resume();
  await served.closed;
  const messages = heard
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));
  const last = messages.filter(({ id }) => id === 'the last');
  if (JSON.stringify(last) !== '[{"jsonrpc":"2.0","id":"the last","result":{}}]') {
    throw new Error(`the request after it was answered with ${JSON.stringify(last)}`);
  }
  for (const message of messages) {
    const isAnswer = 'id' in message && 'result' in message !== 'error' in message;
    if (message.jsonrpc !== '2.0' || (!isAnswer && typeof message.method !== 'string')) {
      throw new Error(`no message: ${JSON.stringify(message).slice(0, 300)}`);
    }
    if (
      message.error?.data?.code === 'INTERNAL' ||
      /primitive|not a function/.test(message.error?.message ?? '')
    )
      throw new Error(`a fault: ${JSON.stringify(message)}`);
  }
}

export const kitLines: Edge = {
  name: 'kit-lines',
  runs: 100,
  open: () => ({
    corpus: corpus('echo'),
    async check(input) {
      const server = defineServer({
        name: 'f',
        warn: () => {},
        tools: [tool({ name: 'echo', description: 'Echoes.', run: ({ message }) => String(message) })],
        resources: [resource({ uri: 'note://a', name: 'a', read: () => 'text' })],
        prompts: [prompt({ name: 'greet', arguments: { who: {} }, get: ({ who }) => `hello ${who}` })],
      });
      await talk((from, to) => server.serve(stdio({ input: from, output: to })), input);
    },
  }),
};

export const gatewayLines: Edge = {
  name: 'gateway-lines',
  runs: 80,
  async open() {
    const { host, close } = await smallHost(
      { tools: { echo: ({ message }) => String(message) } },
      { toolSearch: false, approve: () => 'allow' },
    );
    return {
      corpus: corpus('mcp__small__echo'),
      check: (input) => talk((from, to) => serveStdio(host, { input: from, output: to }), input),
      close,
    };
  },
};
