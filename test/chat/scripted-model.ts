/** A model's provider on loopback, by script: OpenAI's Chat Completions and Responses, and Anthropic's Messages, streaming over real HTTP. */

import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text as readAll } from 'node:stream/consumers';

export interface ModelCall {
  readonly name: string;
  readonly arguments: unknown;
  /** Group of the tool, in the Responses API. */
  readonly namespace?: string;
}

/** One answer of the model. */
export interface Reply {
  readonly text?: string;
  readonly calls?: readonly ModelCall[];
  /** An HTTP failure instead. */
  readonly status?: number;
  /** A chunk that is no JSON comes in the middle. */
  readonly malformed?: boolean;
  /** The first half of the text comes, and then nothing until the client leaves. */
  readonly hangs?: boolean;
  readonly finish?: 'length';
  /** What the request cost (100); null: the provider does not report it. OpenAI's Chat Completions only. */
  readonly inputTokens?: number | null;
}

export interface AskedRequest {
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  // biome-ignore lint/suspicious/noExplicitAny: tests look into it freely
  readonly body: any;
}

type Answer = (request: AskedRequest) => Reply | Promise<Reply>;

export class ScriptedModel {
  readonly requests: AskedRequest[] = [];
  /** Requests whose client left before the answer was complete. */
  abandoned = 0;
  readonly #server: Server;
  readonly #next: Answer;

  private constructor(next: Answer) {
    this.#next = next;
    this.#server = createServer((request, response) => void this.#serve(request, response));
  }

  /** Sends the replies in their order. */
  static async start(...replies: (Reply | Answer)[]): Promise<ScriptedModel> {
    return ScriptedModel.answering((request) => {
      const next = replies.shift() ?? { text: 'The script is over.' };
      return typeof next === 'function' ? next(request) : next;
    });
  }

  /** Computes every reply from its request. */
  static async answering(next: Answer): Promise<ScriptedModel> {
    const model = new ScriptedModel(next);
    await new Promise<void>((resolve) => model.#server.listen(0, '127.0.0.1', resolve));
    return model;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/v1`;
  }

  /** As `--model` takes it. */
  get name(): string {
    return `${this.url}#scripted`;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (request.method !== 'POST') {
      // Agents look for other routes first: whether the host is there, which models it has.
      response.writeHead(404, { 'content-type': 'application/json' }).end('{}');
      return;
    }
    const body: unknown = JSON.parse(await readAll(request));
    const asked = { path: request.url ?? '', headers: request.headers, body };
    this.requests.push(asked);
    const number = this.requests.length;
    const reply = await this.#next(asked);
    response.on('close', () => {
      if (!response.writableFinished) this.abandoned++;
    });
    if (reply.status !== undefined) {
      response.writeHead(reply.status, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ error: { message: `scripted ${reply.status}`, type: 'scripted' } }));
      return;
    }
    const isStream = typeof body === 'object' && body !== null && 'stream' in body && body.stream === true;
    const { pathname } = new URL(asked.path, 'http://model');
    if (pathname.endsWith('/messages'))
      (isStream ? streamAnthropic : answerAnthropic)(response, reply, number);
    else if (pathname.endsWith('/responses'))
      (isStream ? streamResponses : answerResponses)(response, reply, number);
    else (isStream ? streamOpenAi : answerOpenAi)(response, reply, number);
  }
}

function halves(text: string): [string, string] {
  const middle = Math.ceil(text.length / 2);
  return [text.slice(0, middle), text.slice(middle)];
}

/** Unique in a conversation: agents pair results with calls by it. */
const callId = (number: number, index: number): string => `call_${number}_${index}`;

function usageOf({ inputTokens = 100 }: Reply): object | undefined {
  if (inputTokens === null) return undefined;
  return { prompt_tokens: inputTokens, completion_tokens: 10, total_tokens: inputTokens + 10 };
}

function answerOpenAi(response: ServerResponse, reply: Reply, number: number): void {
  const { text = '', calls = [] } = reply;
  const tool_calls = calls.map(({ name, arguments: given }, index) => ({
    id: callId(number, index),
    type: 'function',
    function: { name, arguments: JSON.stringify(given) },
  }));
  const message = { role: 'assistant', content: text, ...(calls.length > 0 ? { tool_calls } : {}) };
  const finish_reason = calls.length > 0 ? 'tool_calls' : 'stop';
  response.writeHead(200, { 'content-type': 'application/json' });
  response.end(
    JSON.stringify({
      id: 'r',
      model: 'scripted',
      choices: [{ index: 0, message, finish_reason }],
      usage: usageOf(reply),
    }),
  );
}

function streamOpenAi(response: ServerResponse, reply: Reply, number: number): void {
  const { text = '', calls = [] } = reply;
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  const send = (value: unknown): void => void response.write(`data: ${JSON.stringify(value)}\n\n`);
  const delta = (body: object, finish: string | null = null): void =>
    send({ id: 'r', model: 'scripted', choices: [{ index: 0, delta: body, finish_reason: finish }] });
  const [first, second] = halves(text);
  if (first !== '') delta({ role: 'assistant', content: first });
  if (reply.hangs) return;
  if (reply.malformed) response.write('data: {"choices": [{"delta"\n\n');
  if (second !== '') delta({ content: second });
  calls.forEach(({ name, arguments: given }, index) => {
    const args = typeof given === 'string' ? given : JSON.stringify(given);
    const [head, tail] = halves(args);
    delta({
      tool_calls: [
        { index, id: callId(number, index), type: 'function', function: { name, arguments: head } },
      ],
    });
    delta({ tool_calls: [{ index, function: { arguments: tail } }] });
  });
  delta({}, reply.finish ?? (calls.length > 0 ? 'tool_calls' : 'stop'));
  send({ id: 'r', model: 'scripted', choices: [], usage: usageOf(reply) });
  response.end('data: [DONE]\n\n');
}

function answerResponses(response: ServerResponse, { text = '', calls = [] }: Reply, number: number): void {
  const message = {
    type: 'message',
    id: `msg_${number}`,
    role: 'assistant',
    status: 'completed',
    content: [{ type: 'output_text', text, annotations: [] }],
  };
  const uses = calls.map(({ name, arguments: given }, index) => ({
    type: 'function_call',
    id: `fc_${number}_${index}`,
    call_id: callId(number, index),
    name,
    arguments: JSON.stringify(given),
    status: 'completed',
  }));
  response.writeHead(200, { 'content-type': 'application/json' });
  response.end(
    JSON.stringify({
      id: `resp_${number}`,
      object: 'response',
      created_at: 0,
      model: 'scripted',
      status: 'completed',
      output: [...(text === '' ? [] : [message]), ...uses],
      usage: { input_tokens: 100, output_tokens: 10, total_tokens: 110 },
    }),
  );
}

function answerAnthropic(response: ServerResponse, { text = '', calls = [] }: Reply, number: number): void {
  const uses = calls.map(({ name, arguments: input }, index) => ({
    type: 'tool_use',
    id: callId(number, index),
    name,
    input,
  }));
  response.writeHead(200, { 'content-type': 'application/json' });
  response.end(
    JSON.stringify({
      id: 'm',
      type: 'message',
      role: 'assistant',
      model: 'scripted',
      content: [...(text === '' ? [] : [{ type: 'text', text }]), ...uses],
      stop_reason: calls.length > 0 ? 'tool_use' : 'end_turn',
      usage: { input_tokens: 100, output_tokens: 10 },
    }),
  );
}

function streamAnthropic(response: ServerResponse, reply: Reply, number: number): void {
  const { text = '', calls = [] } = reply;
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  const send = (type: string, rest: object): void =>
    void response.write(`event: ${type}\ndata: ${JSON.stringify({ type, ...rest })}\n\n`);
  send('message_start', {
    message: {
      id: 'm',
      type: 'message',
      role: 'assistant',
      model: 'scripted',
      content: [],
      usage: { input_tokens: 100, output_tokens: 1 },
    },
  });
  let index = 0;
  if (text !== '') {
    const [first, second] = halves(text);
    send('content_block_start', { index, content_block: { type: 'text', text: '' } });
    send('content_block_delta', { index, delta: { type: 'text_delta', text: first } });
    if (reply.hangs) return;
    if (reply.malformed) response.write('event: content_block_delta\ndata: {"type": "content_\n\n');
    send('content_block_delta', { index, delta: { type: 'text_delta', text: second } });
    send('content_block_stop', { index });
    index++;
  }
  for (const { name, arguments: given } of calls) {
    send('content_block_start', {
      index,
      content_block: { type: 'tool_use', id: callId(number, index), name, input: {} },
    });
    send('content_block_delta', {
      index,
      delta: { type: 'input_json_delta', partial_json: JSON.stringify(given) },
    });
    send('content_block_stop', { index });
    index++;
  }
  const stop_reason = reply.finish === 'length' ? 'max_tokens' : calls.length > 0 ? 'tool_use' : 'end_turn';
  send('message_delta', { delta: { stop_reason }, usage: { output_tokens: 10 } });
  send('message_stop', {});
  response.end();
}

function streamResponses(response: ServerResponse, { text = '', calls = [] }: Reply, number: number): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  const send = (type: string, rest: object): void =>
    void response.write(`event: ${type}\ndata: ${JSON.stringify({ type, ...rest })}\n\n`);
  const id = `resp_${number}`;
  const said = {
    type: 'message',
    id: `msg_${number}`,
    role: 'assistant',
    status: 'completed',
    content: [{ type: 'output_text', text, annotations: [] }],
  };
  const called = calls.map(({ arguments: given, ...tool }, index) => ({
    type: 'function_call',
    id: `fc_${number}_${index}`,
    call_id: callId(number, index),
    arguments: typeof given === 'string' ? given : JSON.stringify(given),
    status: 'completed',
    ...tool,
  }));
  const output = [...(text === '' ? [] : [said]), ...called];
  send('response.created', { response: { id, object: 'response', status: 'in_progress', output: [] } });
  output.forEach((item, output_index) => {
    send('response.output_item.added', { output_index, item });
    send('response.output_item.done', { output_index, item });
  });
  const usage = {
    input_tokens: 100,
    input_tokens_details: { cached_tokens: 0 },
    output_tokens: 10,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: 110,
  };
  send('response.completed', { response: { id, object: 'response', status: 'completed', output, usage } });
  response.end();
}
