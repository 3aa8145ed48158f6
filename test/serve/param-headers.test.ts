import { afterAll, beforeAll, expect, it } from 'vitest';
import { type ServedHttp, serveHttp } from '../../src/serve/index.ts';
import { refereeOnHttp } from '../testing/referee.ts';
import { modern } from './bare-client.ts';
import { type SmallHost, smallHost } from './small-host.ts';

let small: SmallHost;
let served: ServedHttp;

beforeAll(async () => {
  small = await smallHost({
    tools: {
      query: {
        inputSchema: {
          type: 'object',
          properties: {
            region: { type: 'string', 'x-mcp-header': 'Region' },
            shard: { type: 'integer', 'x-mcp-header': 'Shard' },
            text: { type: 'string' },
          },
        },
        run: ({ region, shard }) => `${String(region)}/${String(shard)}`,
      },
    },
  });
  served = await serveHttp(small.host, { port: 0 });
});
afterAll(async () => {
  await served.close();
  await small.close();
});

const base64 = (text: string): string => `=?base64?${Buffer.from(text).toString('base64')}?=`;

it.each<[string, object, Record<string, string>, number | string]>([
  [
    'what the body says',
    { region: 'eu', shard: 4 },
    { 'mcp-param-region': 'eu', 'mcp-param-shard': '4' },
    'eu/4',
  ],
  ['a number written otherwise', { shard: 42 }, { 'mcp-param-shard': '42.0' }, 'undefined/42'],
  ['the base64 form', { region: 'Zürich' }, { 'mcp-param-region': base64('Zürich') }, 'Zürich/undefined'],
  ['nothing for what is not given', { text: 'x' }, {}, 'undefined/undefined'],
  ['something for what is not given', {}, { 'mcp-param-region': 'eu' }, 'undefined/undefined'],
  ['something else', { region: 'eu' }, { 'mcp-param-region': 'us' }, -32020],
  ['another number', { shard: 4 }, { 'mcp-param-shard': '5' }, -32020],
  ['no number', { shard: 16 }, { 'mcp-param-shard': '0x10' }, -32020],
  ['nothing', { region: 'eu' }, {}, -32020],
  ['base64 that is none', { region: 'eu' }, { 'mcp-param-region': '=?base64?ZXU?=' }, -32020],
])('SRV-1: a modern call whose parameter headers contain %s', async (_, args, headers, expected) => {
  const params = { name: 'small__query', arguments: args };
  const { status, messages } = await modern(served.url, 1, 'tools/call', params, {}, headers);
  const { error, result } = messages[0] as {
    error?: { code: number };
    result?: { content: { text: string }[] };
  };
  expect([status, error?.code ?? result?.content[0]?.text]).toEqual([
    typeof expected === 'number' ? 400 : 200,
    expected,
  ]);
});

// Protocol: 26-http-58
it('SRV-1: the SDK’s client sends the headers that the gateway asks for', async () => {
  const client = await refereeOnHttp(served.url, 'auto');
  await client.listTools();
  const { content } = await client.callTool({
    name: 'small__query',
    arguments: { region: 'Zürich', shard: 7 },
  });
  await client.close();
  expect(content).toEqual([{ type: 'text', text: 'Zürich/7' }]);
});
