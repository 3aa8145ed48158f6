/** All servers of the user behind one address, for an agent that can only speak HTTP: here the SDK's own client. */

import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { createHost, workspaceServer } from 'plugboard';
import { serveHttp } from 'plugboard/serve';

const token = crypto.randomUUID();
const host = await createHost({
  servers: { files: workspaceServer({ root: process.cwd() }) },
});
const served = await serveHttp(host, { port: 0, token });
console.error(`serving at ${served.url}`);

const agent = new Client({ name: 'agent', version: '1.0.0' });
await agent.connect(
  new StreamableHTTPClientTransport(new URL(served.url), {
    requestInit: { headers: { authorization: `Bearer ${token}` } },
  }),
);
const { tools } = await agent.listTools();
console.log(tools.map(({ name }) => name).join('\n'));

await agent.close();
await served.close();
await host.close();
