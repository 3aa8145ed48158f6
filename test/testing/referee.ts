/** The official SDK's client as a referee: a server that it accepts speaks MCP. */

import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';

export type Mode = 'auto' | 'legacy';

export async function refereeOnStdio(program: string, mode: Mode, args: string[] = []): Promise<Client> {
  const client = new Client({ name: 'referee', version: '1.0.0' }, { versionNegotiation: { mode } });
  await client.connect(new StdioClientTransport({ command: process.execPath, args: [program, ...args] }));
  return client;
}

export async function refereeOnHttp(
  url: string,
  mode: Mode,
  headers: Record<string, string> = {},
): Promise<Client> {
  const client = new Client({ name: 'referee', version: '1.0.0' }, { versionNegotiation: { mode } });
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }));
  return client;
}
