/** No route of the management API is reachable without its own token, from another origin, or through a proxy (A8, A31, A46). */

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  CALLING_TOKEN,
  type ManagedGateway,
  openManagedGateway,
  send,
  TOKEN,
} from '../world/managed-gateway.ts';

let world: ManagedGateway;
let routes: readonly { readonly method: string; readonly path: string; readonly hasBody: boolean }[];

beforeAll(async () => {
  world = await openManagedGateway({
    script: { tools: { echo: () => 'x' } },
    config: { mcpServers: { docs: { command: 'scripted' } } },
  });
  const { paths } = (await world.api('GET', '/api/openapi.json')).body as {
    readonly paths: Readonly<Record<string, Readonly<Record<string, { readonly requestBody?: unknown }>>>>;
  };
  routes = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { requestBody }]) => ({
      method: method.toUpperCase(),
      path: path.replaceAll(/\{\w+\}/g, 'docs'),
      hasBody: requestBody !== undefined,
    })),
  );
});
afterAll(() => world.close());

/** Sends a request to every route, and returns the statuses that are not `status`. */
async function exceptions(
  status: number,
  headers: (route: (typeof routes)[number]) => Readonly<Record<string, string>>,
): Promise<readonly unknown[]> {
  const before = world.readConfig();
  const odd: unknown[] = [];
  for (const route of routes) {
    const { method, path, hasBody } = route;
    const answer = await send(`${world.origin}${path}`, method, hasBody ? {} : undefined, headers(route));
    if (answer.status !== status) odd.push([method, path, answer.status]);
  }
  expect(world.readConfig()).toEqual(before);
  return odd;
}

describe('the management API', () => {
  it('A31: has all routes in its document', () => {
    expect(routes.length).toBeGreaterThan(60);
  });

  it('A46: refuses the token of an agent at every route', async () => {
    // After ten wrong tokens the answer is 429; both are refusals.
    const odd = await exceptions(429, () => ({ authorization: `Bearer ${CALLING_TOKEN}` }));
    expect(odd.map((each) => (each as unknown[])[2])).toEqual(Array.from({ length: 10 }, () => 401));
  });

  it('A46: refuses requests without a token at every route', async () => {
    expect(await exceptions(429, () => ({}))).toEqual([]);
  });

  it('A8: refuses another origin at every route, also with the token', async () => {
    const headers = { authorization: `Bearer ${TOKEN}`, origin: 'https://evil.example' };
    expect(await exceptions(403, () => headers)).toEqual([]);
  });

  it('A8: refuses another host name at every route, also with the token', async () => {
    const headers = { authorization: `Bearer ${TOKEN}`, host: 'evil.example' };
    expect(await exceptions(403, () => headers)).toEqual([]);
  });

  it('A8: refuses forwarded requests at every route, also with the token', async () => {
    const headers = { authorization: `Bearer ${TOKEN}`, 'x-forwarded-for': '10.0.0.1' };
    expect(await exceptions(403, () => headers)).toEqual([]);
  });

  it('A8: a body that a form of another page could send is refused', async () => {
    for (const { method, path, hasBody } of routes) {
      if (!hasBody) continue;
      const headers = { authorization: `Bearer ${TOKEN}`, 'content-type': 'text/plain' };
      const answer = await send(`${world.origin}${path}`, method, '{}', headers);
      expect([method, path, answer.status]).toEqual([method, path, 415]);
    }
  });

  it('A46: no address carries the token: it is not read from the query', async () => {
    const answer = await send(`${world.origin}/api/calls?token=${TOKEN}`, 'GET', undefined, {});
    expect([401, 429]).toContain(answer.status);
  });
});
