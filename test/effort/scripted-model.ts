/**
 * A model behind OpenAI's Responses and Chat Completions that calls the tools of a plan, one in each turn, and then says
 * "done". It finds a tool by the end of its name, because every library prefixes names in its own way.
 */

import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface PlannedCall {
  readonly tool: string;
  readonly args?: Readonly<Record<string, unknown>>;
}

interface Declared {
  readonly name?: string;
  readonly function?: { readonly name: string };
}

export interface ModelRequest {
  readonly tools?: readonly Declared[];
  readonly stream?: boolean;
  readonly input?: readonly unknown[];
  readonly messages?: readonly unknown[];
}

export interface ScriptedModel {
  readonly url: string;
  readonly requests: readonly ModelRequest[];
  close(): Promise<void>;
}

export async function scriptedModel(plan: readonly PlannedCall[]): Promise<ScriptedModel> {
  const requests: ModelRequest[] = [];
  const server = createServer(async (request, response) => {
    const body = await bodyOf(request);
    const turn = requests.push(body);
    const step = plan[turn - 1];
    const name = step === undefined ? undefined : nameOf(body, step.tool);
    const call = name === undefined ? undefined : { name, arguments: JSON.stringify(step?.args ?? {}) };
    const isChat = request.url?.endsWith('/chat/completions') === true;
    const isStream = isChat && body.stream === true;
    response.setHeader('content-type', isStream ? 'text/event-stream' : 'application/json');
    if (isStream) response.end(streamed(chatMessage(call, turn), turn));
    else response.end(JSON.stringify(isChat ? chat(call, turn) : responses(call, turn)));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    requests,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

type Call = { readonly name: string; readonly arguments: string } | undefined;

async function bodyOf(request: IncomingMessage): Promise<ModelRequest> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return JSON.parse(Buffer.concat(chunks).toString()) as ModelRequest;
}

function nameOf({ tools = [] }: ModelRequest, wanted: string): string | undefined {
  const names = tools.map((tool) => tool.name ?? tool.function?.name ?? '');
  return names.find((name) => name === wanted || name.endsWith(`__${wanted}`));
}

function responses(call: Call, turn: number): object {
  const output =
    call === undefined
      ? {
          type: 'message',
          id: `msg_${turn}`,
          role: 'assistant',
          status: 'completed',
          content: [{ type: 'output_text', text: 'done', annotations: [] }],
        }
      : { type: 'function_call', id: `fc_${turn}`, call_id: `call_${turn}`, status: 'completed', ...call };
  const usage = { input_tokens: 1, output_tokens: 1, total_tokens: 2 };
  const about = {
    id: `resp_${turn}`,
    object: 'response',
    created_at: 1,
    model: 'gpt-5',
    status: 'completed',
  };
  return { ...about, output: [output], usage };
}

function chatMessage(call: Call, turn: number): object {
  return call === undefined
    ? { role: 'assistant', content: 'done' }
    : {
        role: 'assistant',
        content: null,
        tool_calls: [{ index: 0, id: `call_${turn}`, type: 'function', function: call }],
      };
}

function chat(call: Call, turn: number): object {
  const finish_reason = call === undefined ? 'stop' : 'tool_calls';
  const choices = [{ index: 0, message: chatMessage(call, turn), finish_reason }];
  const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };
  return { id: `chat_${turn}`, object: 'chat.completion', created: 1, model: 'gpt-5', choices, usage };
}

function streamed(delta: object, turn: number): string {
  const about = { id: `chat_${turn}`, object: 'chat.completion.chunk', created: 1, model: 'gpt-5' };
  const finish_reason = 'tool_calls' in delta ? 'tool_calls' : 'stop';
  const chunks = [
    { ...about, choices: [{ index: 0, delta, finish_reason: null }] },
    { ...about, choices: [{ index: 0, delta: {}, finish_reason }] },
  ];
  return [...chunks.map((chunk) => JSON.stringify(chunk)), '[DONE]']
    .map((data) => `data: ${data}\n\n`)
    .join('');
}
