/** The document is valid, says what every route answers, and is enough for a client that knows nothing else. */

import { Validator } from '@seriousme/openapi-schema-validator';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { OpenAPIClientAxios } from 'openapi-client-axios';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { homeAt } from '../../src/config/home.ts';
import { addToken } from '../../src/serve/token-file.ts';
import { type AuthServer, startAuthServer } from '../fixtures/auth-server.mjs';
import { browse } from '../world/login-world.ts';
import { type ManagedGateway, openManagedGateway, TOKEN } from '../world/managed-gateway.ts';

interface Operation {
  readonly operationId: string;
  readonly responses: Readonly<
    Record<string, { readonly content?: Readonly<Record<string, { schema: object }>> }>
  >;
}
interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
}

let world: ManagedGateway;
let auth: AuthServer;
let document: Document;
/** Which operations a client of the document has used, with their statuses. */
const used = new Set<string>();

beforeAll(async () => {
  auth = await startAuthServer();
  world = await openManagedGateway({
    script: {
      tools: {
        echo: ({ message }) => String(message),
        write: () => 'written',
      },
    },
    config: { permissions: { ask: ['mcp__small__write'] } },
    host: {
      servers: {
        small: { command: 'scripted', lifecycle: 'eager' },
        remote: { url: auth.url, lifecycle: 'eager' },
      },
      openUrl: browse,
    },
  });
  document = (await world.api('GET', '/api/openapi.json')).body as Document;
});
afterAll(async () => {
  await world.close();
  await auth.close();
});

const operations = (): [string, Operation][] =>
  Object.values(document.paths).flatMap((path) =>
    Object.values(path).map((operation): [string, Operation] => [operation.operationId, operation]),
  );

type Use = (
  operation: string,
  params?: object | null,
  body?: object,
) => Promise<{ status: number; data: unknown }>;

/** A client made of the document alone; every answer is checked against what the document says of it. */
async function generated(): Promise<Use> {
  const api = new OpenAPIClientAxios({
    // It has types for documents that are written in code; this one was fetched.
    definition: structuredClone(document) as unknown as ConstructorParameters<
      typeof OpenAPIClientAxios
    >[0]['definition'],
    axiosConfigDefaults: {
      baseURL: world.origin,
      proxy: false,
      headers: { authorization: `Bearer ${TOKEN}` },
      validateStatus: () => true,
    },
  });
  const client: Record<string, unknown> = await api.init();
  const ajv = new Ajv2020({ strict: false });
  ajv.addSchema(document, 'api');
  const byName = new Map(operations());
  return async (name, params, body) => {
    const operation = client[name] as (params?: unknown, body?: unknown) => ReturnType<Use>;
    const { status, data } = await operation(params, body);
    const schema = byName.get(name)?.responses[status]?.content?.['application/json']?.schema;
    if (schema === undefined) throw new Error(`${name} answered ${status}, which the document does not know`);
    const absolute = JSON.parse(JSON.stringify(schema).replaceAll('"#/components', '"api#/components'));
    const validate = ajv.compile(absolute);
    expect([name, status, validate(data), validate.errors]).toEqual([name, status, true, null]);
    used.add(`${name} ${status}`);
    return { status, data };
  };
}

const ROUTES_OF_0_2 = [
  'DELETE /api/servers/{name}',
  'DELETE /api/servers/{name}/auth',
  'GET /api/approvals',
  'GET /api/calls',
  'GET /api/events',
  'GET /api/openapi.json',
  'GET /api/search',
  'GET /api/servers',
  'GET /api/servers/{name}',
  'GET /api/servers/{name}/pins',
  'GET /api/stats',
  'GET /api/tools',
  'POST /api/approvals/{id}',
  'POST /api/call',
  'POST /api/servers',
  'POST /api/servers/{name}/approve',
  'POST /api/servers/{name}/auth',
  'POST /api/servers/{name}/auth/authenticate',
  'POST /api/servers/{name}/auth/callback',
  'POST /api/servers/{name}/connect',
  'POST /api/servers/{name}/disconnect',
  'POST /api/servers/{name}/pins',
  'POST /api/servers/{name}/reconnect',
];

describe('SRV-5: the OpenAPI document', () => {
  it('is valid by the official schema of OpenAPI 3.1', async () => {
    const result = await new Validator().validate({ ...structuredClone(document) });
    expect(result).toMatchObject({ valid: true });
  });

  it('has every route of the contract', () => {
    const routes = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
    );
    // New ones are recorded in test/surfaces/public-surface.txt too: they stay.
    expect(routes).toEqual(expect.arrayContaining(ROUTES_OF_0_2));
  });

  it('is enough for a generated client to do everything, and every answer matches it', async () => {
    const use = await generated();
    const entry = { command: 'scripted' };
    await use('listServers');
    await use('addServer', null, { name: 'more', scope: 'user', entry });
    await use('addServer', null, { name: 'more', scope: 'user', entry });
    await use('addServer', null, { name: 'more', entry: {} });
    const { data } = await use('getServer', { name: 'more' });
    await use('getServer', { name: 'none' });
    await use('approveServer', { name: 'more' }, { digest: 'another' });
    const { unapproved } = data as { unapproved: { digest: string } };
    await use('getTrust', { name: 'more' });
    await use('trustServer', { name: 'more' }, { digest: 'another' });
    await use('approveServer', { name: 'more' }, { digest: unapproved.digest });
    const trusted = (await use('getTrust', { name: 'more' })).data as { digest: string };
    await use('trustServer', { name: 'more' }, { digest: trusted.digest });
    await use('withdrawTrust', { name: 'more' });
    await use('disableServer', { name: 'more' }, {});
    await use('enableServer', { name: 'more' }, { scope: 'user' });
    const read = (await use('getEntry', { name: 'more' })).data as { entry: object; digest: string };
    await use('editEntry', { name: 'more' }, read);
    await use('editEntry', { name: 'more' }, { ...read, digest: 'another' });
    await use('inspectTools', { name: 'more' });
    await use('getDetails', { name: 'more' });
    await use('getLog', { name: 'more' });
    await use('listResources', { name: 'more' });
    await use('listPrompts', { name: 'more' });
    await use('complete', { name: 'more' }, { prompt: 'x', argument: { name: 'a', value: '' } });
    await use('switchTool', { name: 'more' }, { tool: 'echo', enabled: true });
    await use('disconnectServer', { name: 'more' });
    await use('connectServer', { name: 'more' });
    await use('reconnectServer', { name: 'more' });
    const { digest } = (await use('listHeld', { name: 'more' })).data as { digest: string };
    await use('acceptHeld', { name: 'more' }, { digest });
    await use('acceptHeld', { name: 'more' }, { digest: 'another' });
    await use('removeServer', { name: 'more' });
    await use('connectServer', { name: 'remote' });
    await use('startLogin', { name: 'remote' });
    await use('finishLogin', { name: 'remote' }, { code: 'wrong', state: 'wrong' });
    await use('removeLogin', { name: 'remote' });
    await use('authenticate', { name: 'remote' });
    await use('listTools');
    await use('searchTools', { q: 'echo' });
    await use('callTool', null, { name: 'mcp__small__echo', arguments: { message: 'hi' } });
    await use('callTool', null, { name: 'mcp__small__none' });
    const call = use('callTool', null, { name: 'mcp__small__write' });
    await expect
      .poll(async () => ((await use('listQuestions')).data as { approvals: unknown[] })?.approvals)
      .toHaveLength(1);
    await use('answerQuestion', { id: 'q1' }, { answer: 'deny' });
    await use('answerQuestion', { id: 'q1' }, { answer: 'deny' });
    await call;
    await use('listCalls');
    const started = await use('callTool', null, { name: 'mcp__small__write', wait: false });
    const { id } = started.data as { id: string };
    await use('getCall', { id });
    await use('getCallResult', { id });
    await use('cancelCall', { id });
    await use('cancelCall', { id: 'none' });
    await use('getCall', { id: 'none' });
    const [past] = ((await use('listCalls', { state: 'ok' })).data as { calls: { key: string }[] }).calls;
    await use('getCall', { id: past?.key });
    const echoed = { name: 'mcp__small__echo', arguments: { message: 'hi' }, wait: false };
    const { key } = (await use('callTool', null, echoed)).data as { key: string };
    await expect.poll(async () => (await use('getCallResult', { id: key })).status).toBe(200);
    await use('listRules');
    await use('addRule', null, { list: 'deny', rule: 'none__*' });
    await use('addRule', null, { list: 'deny', rule: 'a b' });
    await use('removeRule', { list: 'deny', rule: 'none__*' });
    await use('previewRule', null, { rule: 'small__*' });
    await use('previewRule', null, { rule: 'a b' });
    await use('getAbout');
    await use('getConnectLines');
    await use('addToken', null, { name: 'desk' });
    await use('addToken', null, { name: 'a b' });
    await use('listTokens');
    await use('removeToken', { name: 'desk' });
    await use('addProfile', null, { name: 'careful', profile: { servers: ['small'] } });
    await use('listProfiles');
    await use('tryProfile', { name: 'careful' }, { tool: 'small__echo' });
    await use('removeProfile', { name: 'careful' });
    await use('addServer', null, {
      name: 'asks',
      scope: 'user',
      entry: { ...entry, env: { K: '${input:k}' } },
    });
    await use('listInputs');
    await use('setInput', null, { id: 'k', value: 'v' });
    await use('removeInput', { id: 'k' });
    await use('listPresets');
    await use('addPreset', { id: 'git' }, { name: 'own', scope: 'user' });
    await use('addPreset', { id: 'none' }, {});
    await use('parseServers', null, { text: 'npx -y x' });
    await use('parseServers', null, { text: '{' });
    await use('listAgents');
    await use('importServers', null, {});
    await use('getHistory');
    await use('switchHistory', null, { enabled: true });
    await use('clearHistory');
    await addToken(homeAt(world.home), 'laptop', { now: 0 });
    await use('listClients');
    await use('revokeToken', { name: 'laptop' });
    await use('revokeToken', { name: 'laptop' });
    await use('getStats');
    await use('getCost');
    await use('getDocument');
    const names = operations().map(([name]) => name);
    const missing = names.filter((name) => ![...used].some((each) => each.startsWith(`${name} 2`)));
    // A stream has no end to wait for, a login is finished above by the browser, and this server has no content.
    expect(missing.toSorted()).toEqual([
      'finishLogin',
      'getPrompt',
      'readResource',
      'streamEvents',
      'streamLog',
    ]);
    expect([...used].filter((each) => !/ 2\d\d$/.test(each)).toSorted()).toEqual([
      'acceptHeld 400',
      'addPreset 404',
      'addRule 400',
      'addServer 400',
      'addServer 409',
      'addToken 400',
      'answerQuestion 404',
      'approveServer 409',
      'callTool 403',
      'callTool 404',
      'cancelCall 404',
      'connectServer 409',
      'editEntry 409',
      'finishLogin 400',
      'getCall 404',
      'getCallResult 409',
      'getServer 404',
      'parseServers 400',
      'revokeToken 404',
      'trustServer 409',
    ]);
  });
});
