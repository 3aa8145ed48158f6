import type { Client } from '@modelcontextprotocol/client';
import { expect, it } from 'vitest';
import { fixture, startProgram } from './program.ts';
import { refereeOnHttp, refereeOnStdio } from './referee.ts';

async function play(client: Client): Promise<unknown> {
  const era = client.getProtocolEra();
  const version = client.getNegotiatedProtocolVersion();
  const { tools } = await client.listTools();
  const echo = await client.callTool({ name: 'echo', arguments: { message: 'grüße' } });
  const add = await client.callTool({ name: 'add', arguments: { a: 2, b: 3 } });
  const fail = await client.callTool({ name: 'fail', arguments: {} });
  await client.close();
  return {
    era,
    version,
    tools: tools.map((tool) => tool.name),
    echo: echo.content,
    add: add.structuredContent,
    fail: fail.isError,
  };
}

const played = (era: string, version: string) => ({
  era,
  version,
  tools: ['echo', 'add', 'fail', 'wait', 'crash'],
  echo: [{ type: 'text', text: 'grüße' }],
  add: { sum: 5 },
  fail: true,
});

it('CON-5: echo.mjs is a legacy stdio server', async () => {
  const client = await refereeOnStdio(fixture('echo.mjs'), 'auto');
  expect(await play(client)).toEqual(played('legacy', '2025-11-25'));
});

it('CON-5: modern.mjs is a modern stdio server and refuses initialize', async () => {
  const client = await refereeOnStdio(fixture('modern.mjs'), 'auto');
  expect(await play(client)).toEqual(played('modern', '2026-07-28'));
  await expect(refereeOnStdio(fixture('modern.mjs'), 'legacy')).rejects.toMatchObject({ code: -32022 });
});

it('CON-5: echo-http.mjs is a legacy HTTP server', async () => {
  const server = await startProgram(fixture('echo-http.mjs'));
  try {
    expect(await play(await refereeOnHttp(server.firstLine, 'auto'))).toEqual(played('legacy', '2025-11-25'));
  } finally {
    await server.stop();
  }
});

it('CON-5: modern-http.mjs is a modern HTTP server that checks the mirrored headers', async () => {
  const server = await startProgram(fixture('modern-http.mjs'));
  try {
    expect(await play(await refereeOnHttp(server.firstLine, 'auto'))).toEqual(played('modern', '2026-07-28'));
    const answer = await fetch(server.firstLine, {
      method: 'POST',
      headers: { 'mcp-method': 'tools/list' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'server/discover', params: {} }),
    });
    expect([answer.status, await answer.json()]).toEqual([
      400,
      {
        jsonrpc: '2.0',
        id: 1,
        error: { code: -32020, message: 'The header mcp-method does not match the body.' },
      },
    ]);
  } finally {
    await server.stop();
  }
});
