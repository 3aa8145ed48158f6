/** A server and its authorization server at one address, without protected-resource metadata, as before 2025-06-18. */

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export const TOKEN_LIFE_MS = 3_600_000;

export interface PlainLogin {
  readonly url: string;
  readonly origin: string;
  /** The path and the `resource` of each request for authorization or tokens. */
  readonly resources: [path: string, resource: string | null][];
  close(): Promise<void>;
}

export async function startPlainLogin(): Promise<PlainLogin> {
  const resources: PlainLogin['resources'] = [];
  let issued = 0;
  const server = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (chunk: string) => {
      body += chunk;
    });
    request.on('end', () => {
      const origin = `http://${request.headers.host}`;
      const { pathname, searchParams } = new URL(request.url ?? '/', origin);
      const json = (value: object, status = 200, headers: Record<string, string> = {}): void => {
        response.writeHead(status, { 'content-type': 'application/json', ...headers });
        response.end(JSON.stringify(value));
      };
      switch (pathname) {
        case '/.well-known/oauth-authorization-server':
          return json({
            issuer: origin,
            authorization_endpoint: `${origin}/authorize`,
            token_endpoint: `${origin}/token`,
            registration_endpoint: `${origin}/register`,
            response_types_supported: ['code'],
            code_challenge_methods_supported: ['S256'],
            token_endpoint_auth_methods_supported: ['none'],
          });
        case '/register':
          return json({ ...(JSON.parse(body) as object), client_id: 'registered' }, 201);
        case '/authorize': {
          resources.push([pathname, searchParams.get('resource')]);
          const back = new URL(searchParams.get('redirect_uri') ?? '');
          back.searchParams.set('code', 'code');
          back.searchParams.set('state', searchParams.get('state') ?? '');
          return void response.writeHead(302, { location: back.href }).end();
        }
        case '/token':
          resources.push([pathname, new URLSearchParams(body).get('resource')]);
          issued += 1;
          return json({
            access_token: `at${issued}`,
            token_type: 'Bearer',
            expires_in: TOKEN_LIFE_MS / 1000,
            refresh_token: 'rt',
          });
        case '/mcp': {
          if (request.headers.authorization === undefined)
            return json({}, 401, { 'www-authenticate': 'Bearer' });
          const { id, method } = JSON.parse(body === '' ? '{}' : body) as { id?: number; method?: string };
          if (id === undefined) return void response.writeHead(202).end();
          const result = { protocolVersion: '2025-06-18', capabilities: { tools: {} }, tools: [] };
          const unknown = { jsonrpc: '2.0', id, error: { code: -32601, message: 'no such method' } };
          return json(method === 'server/discover' ? unknown : { jsonrpc: '2.0', id, result });
        }
        default:
          return json({}, 404);
      }
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url: `${origin}/mcp`,
    origin,
    resources,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
