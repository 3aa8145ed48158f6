/** Clients over stdio as contenders, each connected to one program: the bare minimum, other clients of npm, our host. */

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { createHost } from '../dist/index.js';
import { importSeparate, moduleUrl, sdkV1Url } from './peers.mjs';
import { stdioClient } from './stdio-client.mjs';

const MAX_TOKENS = 100_000_000;

/** `{ name, open() }`; what is opened has `call(tool, args)`, which resolves with the result, and `close()`. */
export function stdioClients(args) {
  const parameters = { command: process.execPath, args };
  return [
    { name: 'bare ping-pong (limit)', open: () => bare(args) },
    { name: 'SDK v2 client', open: () => sdk(new Client(INFO), new StdioClientTransport(parameters)) },
    { name: 'SDK v1 client', open: () => sdkV1(parameters) },
    { name: '@ai-sdk/mcp', open: () => aiSdk(parameters) },
    { name: 'mcp-use', open: () => mcpUse(parameters) },
    { name: 'LangChain adapters', open: () => langChain(parameters) },
    { name: 'host.call', open: () => host(parameters) },
  ];
}

const INFO = { name: 'bench', version: '1' };

async function bare(args) {
  const client = stdioClient(process.execPath, args);
  await client.initialize();
  return {
    call: async (name, given) => (await client.request('tools/call', { name, arguments: given })).result,
    close: () => client.end(),
  };
}

async function sdk(client, transport) {
  await client.connect(transport);
  return {
    call: (name, given) => client.callTool({ name, arguments: given }),
    close: () => client.close(),
  };
}

async function sdkV1(parameters) {
  const { Client: ClientV1 } = await import(await sdkV1Url('client/index.js'));
  const { StdioClientTransport: Transport } = await import(await sdkV1Url('client/stdio.js'));
  return sdk(new ClientV1(INFO), new Transport(parameters));
}

async function aiSdk(parameters) {
  const { createMCPClient } = await import(await moduleUrl('@ai-sdk/mcp/dist/index.js'));
  const { Experimental_StdioMCPTransport: Transport } = await import(
    await moduleUrl('@ai-sdk/mcp/dist/mcp-stdio/index.js')
  );
  return aiSdkTools(await createMCPClient({ transport: new Transport(parameters) }));
}

/** As a program that uses it calls a tool. */
export async function aiSdkTools(client) {
  const tools = await client.tools();
  return {
    call: (name, given) => tools[name].execute(given, { toolCallId: '1', messages: [] }),
    close: () => client.close(),
  };
}

async function mcpUse(parameters) {
  const { MCPClient } = await importSeparate('mcp-use', '/client');
  const client = new MCPClient({ mcpServers: { echo: parameters } });
  const session = await client.createSession('echo');
  return {
    call: (name, given) => session.callTool(name, given),
    close: () => client.closeAllSessions(),
  };
}

/** Its tools answer with the text alone. */
async function langChain(parameters) {
  const { MultiServerMCPClient } = await importSeparate('@langchain/mcp-adapters');
  const client = new MultiServerMCPClient({ mcpServers: { echo: { transport: 'stdio', ...parameters } } });
  const tools = new Map((await client.getTools()).map((tool) => [tool.name, tool]));
  return {
    call: async (name, given) => ({ content: [{ type: 'text', text: await tools.get(name).invoke(given) }] }),
    close: () => client.close(),
  };
}

/** With its whole pipeline: approved by a rule, as in real use, and with somebody who looks on, as an agent does. */
async function host(parameters) {
  const home = mkdtempSync(join(tmpdir(), 'plugboard-bench-'));
  writeFileSync(join(home, 'config.json'), JSON.stringify({ permissions: { allow: ['mcp__echo__*'] } }));
  const entry = { ...parameters, lifecycle: 'eager', maxOutputTokens: MAX_TOKENS };
  const opened = await createHost({ home, cwd: home, watch: false, servers: { echo: entry } });
  await opened.ready();
  let ended = 0;
  opened.on('call.begin', () => {});
  opened.on('call.end', () => {
    ended += 1;
  });
  return {
    call: (name, given) => opened.call(`mcp__echo__${name}`, given),
    async close() {
      await opened.close();
      rmSync(home, { recursive: true, force: true });
      if (ended === 0) throw new Error('no call was told to have ended');
    },
  };
}
