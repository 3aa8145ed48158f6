/** Requests exactly as they are written, and answers exactly as they came: JSON or a stream of events. */

import { request } from 'node:http';

export interface Bare {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** Every JSON-RPC message of the answer, in order. */
  readonly messages: readonly Record<string, unknown>[];
}

const ACCEPT = 'application/json, text/event-stream';

export function post(url: string, body: unknown, headers: Record<string, string> = {}): Promise<Bare> {
  return send(url, 'POST', typeof body === 'string' ? body : JSON.stringify(body), headers);
}

export function send(
  url: string,
  method: string,
  body: string | undefined,
  headers: Record<string, string> = {},
): Promise<Bare> {
  return new Promise((resolve, reject) => {
    const sent = request(
      url,
      { method, headers: { 'content-type': 'application/json', accept: ACCEPT, ...headers } },
      (answer) => {
        let text = '';
        answer.setEncoding('utf8').on('data', (chunk: string) => {
          text += chunk;
        });
        answer.on('error', reject);
        answer.on('end', () => {
          const streamed = answer.headers['content-type'] === 'text/event-stream';
          try {
            resolve({
              status: answer.statusCode ?? 0,
              headers: answer.headers,
              messages: streamed ? events(text) : text === '' ? [] : [JSON.parse(text)].flat(),
            });
          } catch (error) {
            reject(error);
          }
        });
      },
    );
    sent.on('error', reject);
    sent.end(body);
  });
}

function events(text: string): Record<string, unknown>[] {
  return text.split('\n').flatMap((line) => (line.startsWith('data: ') ? [JSON.parse(line.slice(6))] : []));
}

const META = 'io.modelcontextprotocol/';

/** A request of 2026-07-28 with everything that era requires. */
export function modern(
  url: string,
  id: number | string,
  method: string,
  params: Record<string, unknown> = {},
  capabilities: Record<string, unknown> = {},
  headers: Record<string, string> = {},
): Promise<Bare> {
  const name = params['name'] ?? params['uri'] ?? params['taskId'];
  const envelope = {
    [`${META}protocolVersion`]: '2026-07-28',
    [`${META}clientInfo`]: { name: 'bare', version: '1' },
    [`${META}clientCapabilities`]: capabilities,
  };
  const own = (params['_meta'] ?? {}) as Record<string, unknown>;
  return post(
    url,
    { jsonrpc: '2.0', id, method, params: { ...params, _meta: { ...envelope, ...own } } },
    {
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': method,
      ...(typeof name === 'string' ? { 'mcp-name': name } : {}),
      ...headers,
    },
  );
}

/** Opens a legacy session; gives the headers that its further requests carry. */
export async function legacySession(
  url: string,
  version = '2025-11-25',
  capabilities: Record<string, unknown> = {},
  headers: Record<string, string> = {},
  clientInfo: { readonly name: string; readonly version: string } = { name: 'bare', version: '1' },
): Promise<Record<string, string>> {
  const params = { protocolVersion: version, capabilities, clientInfo };
  const answer = await post(url, { jsonrpc: '2.0', id: 0, method: 'initialize', params }, headers);
  const session = {
    'mcp-session-id': String(answer.headers['mcp-session-id']),
    'mcp-protocol-version': version,
    ...headers,
  };
  await post(url, { jsonrpc: '2.0', method: 'notifications/initialized' }, session);
  return session;
}
