/** A model's provider on loopback, by script: OpenAI's Chat Completions and Anthropic's Messages, streaming over real HTTP. */

import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text as readAll } from 'node:stream/consumers';

/** One answer of the model. */
export interface Reply {
  readonly text?: string;
  readonly calls?: readonly { readonly name: string; readonly arguments: unknown }[];
  /** An HTTP failure instead. */
  readonly status?: number;
  /** A chunk that is no JSON comes in the middle. */
  readonly malformed?: boolean;
  /** The first half of the text comes, and then nothing until the client leaves. */
  readonly hangs?: boolean;
  readonly finish?: 'length';
}

export interface AskedRequest {
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  // biome-ignore lint/suspicious/noExplicitAny: tests look into it freely
  readonly body: any;
}

export class ScriptedModel {
  readonly requests: AskedRequest[] = [];
  /** Requests whose client left before the answer was complete. */
  abandoned = 0;
  readonly #server: Server;
  readonly #replies: (Reply | ((request: AskedRequest) => Reply))[];

  private constructor(replies: (Reply | ((request: AskedRequest) => Reply))[]) {
    this.#replies = replies;
    this.#server = createServer((request, response) => void this.#serve(request, response));
  }

  static async start(...replies: (Reply | ((request: AskedRequest) => Reply))[]): Promise<ScriptedModel> {
    const model = new ScriptedModel(replies);
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
    const body: unknown = JSON.parse(await readAll(request));
    const asked = { path: request.url ?? '', headers: request.headers, body };
    this.requests.push(asked);
    const next = this.#replies.shift() ?? { text: 'The script is over.' };
    const reply = typeof next === 'function' ? next(asked) : next;
    response.on('close', () => {
      if (!response.writableFinished) this.abandoned++;
    });
    if (reply.status !== undefined) {
      response.writeHead(reply.status, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ error: { message: `scripted ${reply.status}`, type: 'scripted' } }));
      return;
    }
    const isStream = typeof body === 'object' && body !== null && 'stream' in body && body.stream === true;
    if (asked.path.endsWith('/messages')) (isStream ? streamAnthropic : answerAnthropic)(response, reply);
    else (isStream ? streamOpenAi : answerOpenAi)(response, reply);
  }
}

function halves(text: string): [string, string] {
  const middle = Math.ceil(text.length / 2);
  return [text.slice(0, middle), text.slice(middle)];
}

const USAGE = { prompt_tokens: 100, completion_tokens: 10, total_tokens: 110 };

function answerOpenAi(response: ServerResponse, { text = '', calls = [] }: Reply): void {
  const tool_calls = calls.map(({ name, arguments: given }, index) => ({
    id: `call-${index}-${name}`,
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
      usage: USAGE,
    }),
  );
}

function streamOpenAi(response: ServerResponse, reply: Reply): void {
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
        { index, id: `call-${index}-${name}`, type: 'function', function: { name, arguments: head } },
      ],
    });
    delta({ tool_calls: [{ index, function: { arguments: tail } }] });
  });
  delta({}, reply.finish ?? (calls.length > 0 ? 'tool_calls' : 'stop'));
  send({ id: 'r', model: 'scripted', choices: [], usage: USAGE });
  response.end('data: [DONE]\n\n');
}

function answerAnthropic(response: ServerResponse, { text = '', calls = [] }: Reply): void {
  const uses = calls.map(({ name, arguments: input }, index) => ({
    type: 'tool_use',
    id: `toolu_${index}`,
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

function streamAnthropic(response: ServerResponse, reply: Reply): void {
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
      content_block: { type: 'tool_use', id: `toolu_${index}`, name, input: {} },
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
