/** Whole conversations over HTTP with a scripted model that refuses what its provider would refuse. */

import { expect, it, onTestFinished } from 'vitest';
import { toAnthropic, toGemini, toOpenAI } from '../../src/adapters/index.ts';
import { adapterHost } from '../world/adapter-host.ts';
import { type ModelServer, modelServer, type Turn } from './model-server.mjs';

async function model(...turns: Turn[]): Promise<ModelServer> {
  const server = await modelServer(turns);
  onTestFinished(() => server.close());
  return server;
}

async function post<Body>(server: ModelServer, path: string, body: unknown): Promise<Body> {
  const response = await fetch(`${server.url}${path}`, { method: 'POST', body: JSON.stringify(body) });
  const answer = (await response.json()) as Body;
  if (!response.ok) throw new Error(JSON.stringify(answer));
  return answer;
}

const add = { name: 'mcp__s__add', args: { a: 1, b: 2, note: null } };
const picture = { name: 'mcp__s__picture', args: {} };
const broken = { name: 'mcp__s__broken', args: {} };
const MOST_TURNS = 8;

it('OpenAI Responses: several calls at once, one of them failing, in one conversation', async () => {
  const { host } = await adapterHost();
  const server = await model({ calls: [add, picture, broken] }, { text: 'done' });
  const openai = toOpenAI(host);
  const input: { type: string }[] = [{ type: 'message' }];
  for (let turn = 0; turn < MOST_TURNS; turn += 1) {
    const { output } = await post<{ output: { type: string }[] }>(server, '/v1/responses', {
      input,
      tools: openai.tools,
    });
    const items = await openai.executeAll(output);
    if (items.length === 0) break;
    input.push(...output, ...items);
  }
  expect(server.requests).toHaveLength(2);
  const outputs = server.requests[1].input.slice(-3);
  expect(outputs.map((item: { output: unknown }) => typeof item.output)).toEqual([
    'string',
    'object',
    'string',
  ]);
  expect([outputs[0].output, outputs[2].output]).toEqual(['3', 'Error: the disk is full']);
});

it('OpenAI Chat Completions: the images of all calls come after the last tool message', async () => {
  const { host } = await adapterHost();
  const server = await model({ calls: [picture, add] }, { text: 'done' });
  const openai = toOpenAI(host, { api: 'chat' });
  const messages: unknown[] = [{ role: 'user', content: 'go' }];
  for (let turn = 0; turn < MOST_TURNS; turn += 1) {
    const { choices } = await post<{ choices: { message: { tool_calls?: { type: string }[] } }[] }>(
      server,
      '/v1/chat/completions',
      { messages, tools: openai.tools },
    );
    const message = choices[0]?.message;
    const made = await openai.executeAll(message?.tool_calls);
    if (made.length === 0) break;
    messages.push(message, ...made);
  }
  const roles = server.requests[1].messages.map(({ role }: { role: string }) => role);
  expect(roles).toEqual(['user', 'assistant', 'tool', 'tool', 'user']);
});

async function converse(server: ModelServer, anthropic: ReturnType<typeof toAnthropic>): Promise<unknown[]> {
  const messages: unknown[] = [{ role: 'user', content: 'go' }];
  for (let turn = 0; turn < MOST_TURNS; turn += 1) {
    const { content } = await post<{ content: { type: string }[] }>(server, '/v1/messages', {
      messages,
      tools: anthropic.tools,
    });
    const results = await anthropic.executeAll(content);
    if (results.length === 0) break;
    messages.push({ role: 'assistant', content }, { role: 'user', content: results });
  }
  return messages;
}

it('Anthropic: several calls at once, one of them failing, in one message', async () => {
  const { host } = await adapterHost();
  const server = await model({ text: 'Let me see.', calls: [add, picture, broken] }, { text: 'done' });
  const messages = await converse(server, toAnthropic(host));
  const last = messages.at(-1) as { content: { is_error?: boolean }[] };
  expect(last.content.map((result) => result.is_error)).toEqual([undefined, undefined, true]);
});

const search = { name: 'tool_search', args: { query: 'select:mcp__s__add' } };

it('Anthropic: what a search found is referred to, deferred, and stays so when its server has gone', async () => {
  const { host } = await adapterHost({ toolSearch: true });
  const server = await model({ calls: [search] }, { calls: [add] }, { text: 'done' }, { text: 'again' });
  const anthropic = toAnthropic(host, { deferLoading: true });
  const messages = await converse(server, anthropic);
  expect(server.requests.map(({ tools }) => tools.map((tool: { name: string }) => tool.name))).toEqual([
    ['tool_search'],
    ['tool_search', 'mcp__s__add'],
    ['tool_search', 'mcp__s__add'],
  ]);
  expect(messages[2]).toEqual({
    role: 'user',
    content: [
      {
        type: 'tool_result',
        tool_use_id: 'call_1_0',
        content: [{ type: 'tool_reference', tool_name: 'mcp__s__add' }],
      },
    ],
  });
  expect(server.requests[1].tools[1]).toMatchObject({ name: 'mcp__s__add', defer_loading: true });
  await host.add('t', { command: 'scripted' });
  await host.remove('s');
  await post(server, '/v1/messages', { messages, tools: anthropic.tools });
  const gone = { type: 'tool_use', id: 'c', name: 'mcp__s__add', input: {} } as const;
  expect(await anthropic.execute(gone)).toMatchObject({ is_error: true });
});

it('Anthropic: a search without results answers with text', async () => {
  const { host } = await adapterHost({ toolSearch: true });
  const anthropic = toAnthropic(host, { deferLoading: true });
  const call = {
    type: 'tool_use',
    id: 'c',
    name: 'tool_search',
    input: { query: 'select:nothing' },
  } as const;
  const { content } = await anthropic.execute(call);
  expect(content).toMatchObject([{ type: 'text', text: expect.stringContaining('No tool matches') }]);
});

it("OpenAI Responses: the provider's own search is answered with definitions, which stay in the conversation", async () => {
  const { host } = await adapterHost({ toolSearch: true });
  const server = await model({ search: search.args }, { calls: [add] }, { text: 'done' });
  const openai = toOpenAI(host, { deferLoading: true });
  const input: { type: string }[] = [];
  for (let turn = 0; turn < MOST_TURNS; turn += 1) {
    const { output } = await post<{ output: { type: string }[] }>(server, '/v1/responses', {
      input,
      tools: openai.tools,
    });
    const items = await openai.executeAll(output);
    if (items.length === 0) break;
    input.push(...output, ...items);
  }
  const types = server.requests.map(({ tools }) => tools.map((tool: { type: string }) => tool.type));
  expect(types).toEqual([['tool_search'], ['tool_search'], ['tool_search']]);
  expect(input[1]).toMatchObject({
    type: 'tool_search_output',
    execution: 'client',
    call_id: 'call_s1',
    status: 'completed',
    tools: [{ type: 'function', name: 'mcp__s__add', strict: true, defer_loading: true }],
  });
  expect(input[3]).toEqual({ type: 'function_call_output', call_id: 'call_2_0', output: '3' });
});

it('Gemini: function calls and their answers, by id', async () => {
  const { host } = await adapterHost();
  const server = await model({ calls: [{ ...add, args: { a: 1, b: 2 } }, broken] }, { text: 'done' });
  const gemini = toGemini(host);
  const contents: unknown[] = [{ role: 'user', parts: [{ text: 'go' }] }];
  for (let turn = 0; turn < MOST_TURNS; turn += 1) {
    interface Answer {
      candidates: { content: { parts: { functionCall?: { id: string; name: string } }[] } }[];
    }
    const { candidates } = await post<Answer>(server, '/v1beta/models/m:generateContent', {
      contents,
      tools: gemini.tools,
    });
    const content = candidates[0]?.content;
    const parts = await gemini.executeAll(content?.parts.flatMap(({ functionCall }) => functionCall ?? []));
    if (parts.length === 0) break;
    contents.push(content, { role: 'user', parts });
  }
  expect(server.requests[1].contents.at(-1).parts).toEqual([
    {
      functionResponse: {
        id: 'call_1_0',
        name: 'mcp__s__add',
        response: { output: '3' },
      },
    },
    { functionResponse: { id: 'call_1_1', name: 'mcp__s__broken', response: { error: 'the disk is full' } } },
  ]);
});
