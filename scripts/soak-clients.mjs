/** The clients of a soak: as small as they can be, and suspicious of every answer. */

import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';

const META = 'io.modelcontextprotocol/';
const MODERN = '2026-07-28';
const LEGACY = '2025-11-25';
const ENVELOPE = {
  [`${META}protocolVersion`]: MODERN,
  [`${META}clientInfo`]: { name: 'soak', version: '1' },
  [`${META}clientCapabilities`]: {},
};
const HELLO = { protocolVersion: LEGACY, capabilities: {}, clientInfo: { name: 'soak', version: '1' } };
/** Longer than any call may take there. */
const ANSWER_MS = 30_000;

let clients = 0;

/** The text of a result; an error of the protocol is thrown by its code. */
function read({ result, error }) {
  if (error !== undefined) throw new Error(`error ${error.code}`);
  return { text: result.content?.[0]?.text, isError: result.isError === true };
}

/** A client over HTTP: with a session, or without one and everything on each request. */
export class HttpClient {
  strays = [];
  #gateway;
  #era;
  #session;
  #next = 0;

  constructor(gateway, era) {
    this.#gateway = gateway;
    this.#era = era;
    this.name = `http-${era}-${clients++}`;
  }

  async open() {
    if (this.#era === 'modern') return;
    const { headers } = await this.#post({ id: this.#next++, method: 'initialize', params: HELLO });
    this.#session = headers.get('mcp-session-id');
    await this.#post({ method: 'notifications/initialized' });
  }

  async call(name, args) {
    const id = this.#next++;
    const params = { name, arguments: args, ...(this.#era === 'modern' ? { _meta: ENVELOPE } : {}) };
    const { messages } = await this.#post({ id, method: 'tools/call', params }, name);
    const answers = messages.filter((message) => 'id' in message && !('method' in message));
    if (answers.length !== 1 || answers[0].id !== id) {
      this.strays.push(`${answers.length} answers to ${id}: ${JSON.stringify(answers).slice(0, 200)}`);
    }
    return read(answers[0] ?? { error: { code: 'none' } });
  }

  async close() {}

  async #post(message, name) {
    const modern = this.#era === 'modern';
    const response = await fetch(this.#gateway.url, {
      method: 'POST',
      signal: AbortSignal.timeout(ANSWER_MS),
      headers: {
        authorization: `Bearer ${this.#gateway.token}`,
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        'mcp-protocol-version': modern ? MODERN : LEGACY,
        ...(modern
          ? { 'mcp-method': message.method, ...(name === undefined ? {} : { 'mcp-name': name }) }
          : {}),
        ...(this.#session == null ? {} : { 'mcp-session-id': this.#session }),
      },
      body: JSON.stringify({ jsonrpc: '2.0', ...message }),
    });
    const text = await response.text();
    const streamed = response.headers.get('content-type')?.startsWith('text/event-stream');
    const lines = streamed
      ? text.split('\n').flatMap((line) => (line.startsWith('data: ') ? [line.slice(6)] : []))
      : [text];
    return {
      headers: response.headers,
      messages: lines.filter((line) => line !== '').map((line) => JSON.parse(line)),
    };
  }
}

/** A client of `plugboard serve --stdio`, which is a relay to the daemon. */
export class StdioClient {
  strays = [];
  #command;
  #options;
  #era;
  #child;
  #waiting = new Map();
  #next = 0;

  constructor(command, options, era) {
    this.#command = command;
    this.#options = options;
    this.#era = era;
    this.name = `stdio-${era}-${clients++}`;
  }

  async open() {
    this.#child = spawn(process.execPath, [this.#command, 'serve', '--stdio'], {
      ...this.#options,
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    createInterface({ input: this.#child.stdout }).on('line', (line) => this.#receive(JSON.parse(line)));
    if (this.#era === 'modern') return;
    await this.#request('initialize', HELLO);
    this.#send({ method: 'notifications/initialized' });
  }

  async call(name, args) {
    const meta = this.#era === 'modern' ? { _meta: ENVELOPE } : {};
    return read(await this.#request('tools/call', { name, arguments: args, ...meta }));
  }

  async close() {
    const gone = new Promise((resolve) => this.#child.once('close', resolve));
    this.#child.stdin.end();
    await gone;
  }

  #request(method, params) {
    const id = this.#next++;
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.strays.push(`no answer to ${id} (${method})`);
        reject(new Error('no answer'));
      }, ANSWER_MS);
      this.#waiting.set(id, (message) => {
        clearTimeout(timer);
        resolve(message);
      });
      this.#send({ id, method, params });
    });
  }

  #receive(message) {
    if ('method' in message) return;
    const waiting = this.#waiting.get(message.id);
    if (waiting === undefined)
      this.strays.push(`an answer nobody waits for: ${JSON.stringify(message).slice(0, 200)}`);
    this.#waiting.delete(message.id);
    waiting?.(message);
  }

  #send(message) {
    this.#child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  }
}
