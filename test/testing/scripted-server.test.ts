import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import {
  createGate,
  NO_ANSWER,
  RpcError,
  type ScriptedServer,
  scriptedServer,
} from '../../src/testing/index.ts';
import { answerTo, collector } from './collector.ts';
import { refereeOnStdio } from './referee.ts';

const META = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientCapabilities': {},
};
const SERVER_INFO = { 'io.modelcontextprotocol/serverInfo': { name: 'scripted', version: '1.0.0' } };

const PROGRAM = fileURLToPath(new URL('./scripted-program.mjs', import.meta.url));

/** A client that only counts ids; `ask` waits for the answer, `post` does not. */
async function connect(server: ScriptedServer) {
  const transport = server.transport();
  const inbox = collector();
  await transport.open(inbox);
  let id = 0;
  const post = async (method: string, params: Record<string, unknown> = {}) => {
    id += 1;
    const mine = id;
    await transport.send({ jsonrpc: '2.0', id: mine, method, params });
    return mine;
  };
  const ask = async (method: string, params: Record<string, unknown> = {}) => {
    const mine = await post(method, params);
    for (let count = inbox.messages.length; ; count += 1) {
      const answer = answerTo(inbox.messages, mine);
      if (answer) return 'result' in answer ? answer.result : 'error' in answer ? answer.error : answer;
      await inbox.received(count + 1);
    }
  };
  return { transport, inbox, post, ask };
}

describe('both eras', () => {
  it('KIT-3: answers initialize, ping and tools as a legacy server', async () => {
    const server = scriptedServer({
      tools: { greet: ({ who }) => `Hello ${who}` },
      instructions: 'Be kind.',
    });
    const { ask } = await connect(server);
    expect(await ask('initialize', { protocolVersion: '2025-06-18' })).toEqual({
      protocolVersion: '2025-06-18',
      capabilities: { tools: { listChanged: true } },
      serverInfo: { name: 'scripted', version: '1.0.0' },
      instructions: 'Be kind.',
    });
    expect(await ask('ping')).toEqual({});
    expect(await ask('tools/list')).toEqual({
      tools: [{ name: 'greet', description: 'The tool greet.', inputSchema: { type: 'object' } }],
    });
    expect(await ask('tools/call', { name: 'greet', arguments: { who: 'Ada' } })).toEqual({
      content: [{ type: 'text', text: 'Hello Ada' }],
    });
    expect(await ask('nothing/like-it')).toEqual({
      code: -32601,
      message: 'Method not found: nothing/like-it',
    });
  });

  it('KIT-3: answers discovery and dresses results as a modern server', async () => {
    const { ask } = await connect(scriptedServer({ tools: { greet: () => 'hi' } }));
    expect(await ask('server/discover', { _meta: META })).toEqual({
      supportedVersions: ['2026-07-28'],
      capabilities: { tools: { listChanged: true } },
      resultType: 'complete',
      ttlMs: 0,
      cacheScope: 'private',
      _meta: SERVER_INFO,
    });
    expect(await ask('tools/call', { name: 'greet', _meta: META })).toEqual({
      content: [{ type: 'text', text: 'hi' }],
      resultType: 'complete',
      _meta: SERVER_INFO,
    });
  });

  it('KIT-3: a modern-only server checks _meta on every request', async () => {
    const { ask } = await connect(scriptedServer({ eras: 'modern' }));
    expect(await ask('initialize', { protocolVersion: '2025-11-25' })).toEqual({
      code: -32022,
      message: 'Unsupported protocol version: 2025-11-25',
      data: { supported: ['2026-07-28'], requested: '2025-11-25' },
    });
    expect(await ask('tools/list')).toMatchObject({ code: -32602 });
    const { 'io.modelcontextprotocol/clientCapabilities': _, ...half } = META;
    expect(await ask('tools/list', { _meta: half })).toMatchObject({ code: -32602 });
  });

  it('KIT-3: a legacy-only server does not support discovery', async () => {
    const { ask } = await connect(scriptedServer({ eras: 'legacy' }));
    expect(await ask('server/discover', { _meta: META })).toMatchObject({ code: -32601 });
  });

  it.each([
    ['both', 'auto', 'modern'],
    ['both', 'legacy', 'legacy'],
    ['legacy', 'auto', 'legacy'],
    ['modern', 'auto', 'modern'],
  ] as const)('KIT-3: as a program with eras %s, the SDK in mode %s finds it %s', async (eras, mode, era) => {
    const client = await refereeOnStdio(PROGRAM, mode, [eras]);
    const found = client.getProtocolEra();
    const result = await client.callTool({ name: 'echo', arguments: { message: 'hi' } });
    const noise = await client.callTool({ name: 'noise', arguments: {} });
    await client.close();
    expect([found, result.content, noise.content]).toEqual([
      era,
      [{ type: 'text', text: 'hi' }],
      [{ type: 'text', text: 'after the noise' }],
    ]);
  });
});

describe('scripts', () => {
  it('KIT-3: holds an answer until it is released, while others are answered', async () => {
    const gate = createGate();
    const server = scriptedServer({
      tools: {
        slow: async () => {
          await gate.opened;
          return 'slow';
        },
        quick: () => 'quick',
      },
    });
    const { ask, inbox } = await connect(server);
    const slow = ask('tools/call', { name: 'slow' });
    await ask('tools/call', { name: 'quick' });
    expect(inbox.messages).toHaveLength(1);
    gate.open();
    expect(await slow).toEqual({ content: [{ type: 'text', text: 'slow' }] });
  });

  it('KIT-3: once() answers one request, then the usual answer is back', async () => {
    const server = scriptedServer({ tools: { greet: () => 'hi' } });
    server.once('tools/list', () => {
      throw new RpcError(-32603, 'not today', { retry: true });
    });
    server.once('tools/list', () => ({ tools: null }));
    const { ask } = await connect(server);
    expect(await ask('tools/list')).toEqual({ code: -32603, message: 'not today', data: { retry: true } });
    expect(await ask('tools/list')).toEqual({ tools: null });
    expect(await ask('tools/list')).toMatchObject({ tools: [{ name: 'greet' }] });
  });

  it('KIT-3: can leave a request without an answer', async () => {
    const server = scriptedServer();
    server.on('tools/call', () => NO_ANSWER);
    const { post, inbox, ask } = await connect(server);
    const id = await post('tools/call', { name: 'x' });
    await server.seen('tools/call');
    await ask('ping');
    expect(answerTo(inbox.messages, id)).toBeUndefined();
  });

  it('KIT-3: a cancelled handler is notified and its late answer is not sent', async () => {
    const gate = createGate();
    const aborted = createGate();
    const server = scriptedServer({
      tools: {
        slow: async (_, { signal }) => {
          signal.addEventListener('abort', () => aborted.open());
          await gate.opened;
          return 'too late';
        },
      },
    });
    const { post, transport, inbox, ask } = await connect(server);
    const id = await post('tools/call', { name: 'slow' });
    await transport.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: id } });
    await aborted.opened;
    gate.open();
    await ask('ping');
    expect(answerTo(inbox.messages, id)).toBeUndefined();
  });

  it('KIT-3: a crash ends the connection with its exit code; a new one can be made', async () => {
    const server = scriptedServer({ tools: { leave: (_, { crash }) => crash(9) } });
    const { post, inbox } = await connect(server);
    await post('tools/call', { name: 'leave' });
    const error = await inbox.ended;
    expect([error?.code, error?.detail, inbox.messages, server.connections]).toEqual([
      'CONNECTION_LOST',
      { exitCode: 9 },
      [],
      0,
    ]);
    const again = await connect(server);
    expect(await again.ask('ping')).toEqual({});
  });

  it('KIT-3: as a program, a crash is an exit code and nothing is sent after it', async () => {
    const child = spawn(process.execPath, [PROGRAM], { stdio: ['pipe', 'pipe', 'inherit'] });
    const exited = once(child, 'exit');
    const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    child.stdin.write('{"jsonrpc":"2.0","id":1,"method":"ping"}\nnot json\n');
    expect([await lines.next(), await lines.next()]).toEqual([
      { done: false, value: '{"jsonrpc":"2.0","id":1,"result":{}}' },
      { done: false, value: '{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"Parse error"}}' },
    ]);
    child.stdin.write('{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"leave"}}\n');
    expect(await lines.next()).toEqual({ done: true, value: undefined });
    expect((await exited)[0]).toBe(9);
  });

  it('KIT-3: sends malformed frames exactly as given', async () => {
    const server = scriptedServer();
    server.on('tools/list', ({ id, line }) => {
      line('warming up');
      line(`{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":{"_meta":null},"extra":1}`);
      return NO_ANSWER;
    });
    const { post, inbox } = await connect(server);
    await post('tools/list');
    expect(await inbox.received(1)).toEqual([{ jsonrpc: '2.0', id: 1, result: { _meta: null }, extra: 1 }]);
    expect(inbox.notices).toEqual(['Ignored a line that is not JSON-RPC: warming up']);
  });

  it('KIT-3: reports progress only to those who asked for it', async () => {
    const server = scriptedServer({
      tools: {
        work: (_, { progress }) => {
          progress(1, 2, 'half');
          return 'done';
        },
      },
    });
    const { ask, inbox } = await connect(server);
    await ask('tools/call', { name: 'work' });
    expect(inbox.messages).toHaveLength(1);
    await ask('tools/call', { name: 'work', _meta: { progressToken: 'p' } });
    expect(inbox.messages[1]).toEqual({
      jsonrpc: '2.0',
      method: 'notifications/progress',
      params: { progressToken: 'p', progress: 1, total: 2, message: 'half' },
    });
  });

  it('KIT-3: asks the client and gets its answer or its error', async () => {
    const server = scriptedServer();
    server.on('tools/call', async ({ request }) => ({ content: [], roots: await request('roots/list') }));
    const { post, transport, inbox } = await connect(server);
    await post('tools/call', { name: 'x' });
    expect(await inbox.received(1)).toEqual([
      { jsonrpc: '2.0', id: 'server-1', method: 'roots/list', params: {} },
    ]);
    await transport.send({ jsonrpc: '2.0', id: 'server-1', result: { roots: [] } });
    expect((await inbox.received(2))[1]).toEqual({
      jsonrpc: '2.0',
      id: 1,
      result: { content: [], roots: { roots: [] } },
    });
    const refused = server.request('sampling/createMessage');
    await inbox.received(3);
    await transport.send({ jsonrpc: '2.0', id: 'server-2', error: { code: -1, message: 'no' } });
    await expect(refused).rejects.toThrow(new RpcError(-1, 'no'));
  });

  it('KIT-3: a thrown error is a tool error, an RpcError is a protocol error', async () => {
    const server = scriptedServer({
      tools: {
        throws: () => {
          throw new Error('bad luck');
        },
        refuses: () => {
          throw new RpcError(-32602, 'no such thing');
        },
      },
    });
    const { ask } = await connect(server);
    expect(await ask('tools/call', { name: 'throws' })).toEqual({
      content: [{ type: 'text', text: 'bad luck' }],
      isError: true,
    });
    expect(await ask('tools/call', { name: 'refuses' })).toEqual({ code: -32602, message: 'no such thing' });
    expect(await ask('tools/call', { name: 'toString' })).toEqual({
      code: -32602,
      message: 'Unknown tool: toString',
    });
  });
});

describe('changes', () => {
  it('KIT-3: tools are added and removed; legacy clients are notified at once', async () => {
    const server = scriptedServer({ tools: { old: () => '' } });
    const { ask, inbox } = await connect(server);
    await ask('initialize', { protocolVersion: '2025-11-25' });
    server.removeTool('old').tool('new', { description: null });
    server.notify('notifications/tools/list_changed');
    expect((await inbox.received(2))[1]).toEqual({
      jsonrpc: '2.0',
      method: 'notifications/tools/list_changed',
    });
    expect(await ask('tools/list')).toEqual({
      tools: [{ name: 'new', description: null, inputSchema: { type: 'object' } }],
    });
  });

  it('KIT-3: modern clients are notified of changes on the subscriptions that asked for them', async () => {
    const server = scriptedServer();
    const { post, inbox, transport, ask } = await connect(server);
    const id = await post('subscriptions/listen', { notifications: { toolsListChanged: true }, _meta: META });
    const _meta = { 'io.modelcontextprotocol/subscriptionId': id };
    expect(await inbox.received(1)).toEqual([
      {
        jsonrpc: '2.0',
        method: 'notifications/subscriptions/acknowledged',
        params: { notifications: { toolsListChanged: true }, _meta },
      },
    ]);
    server.notify('notifications/prompts/list_changed');
    server.notify('notifications/tools/list_changed');
    expect((await inbox.received(2))[1]).toEqual({
      jsonrpc: '2.0',
      method: 'notifications/tools/list_changed',
      params: { _meta },
    });
    await transport.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: id } });
    await server.seen('notifications/cancelled');
    server.notify('notifications/tools/list_changed');
    await ask('server/discover', { _meta: META });
    expect(inbox.messages).toHaveLength(3);
  });
});
