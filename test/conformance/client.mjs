// The product as the client under test of the conformance suite: client.mjs <server url>
//
// It does what an agent does with any server: connects, lists, calls every tool, reads, asks for prompts, and answers
// questions. Of the scenario it reads only the tool calls that the context asks for.

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createHost } from '../../dist/index.js';

const url = process.argv.at(-1);
const { toolCalls } = JSON.parse(process.env.MCP_CONFORMANCE_CONTEXT ?? '{}');
const home = await mkdtemp(join(tmpdir(), 'plugboard-conformance-'));

/** Arguments that fit: what is required, in its type; an object takes the definition of the first tool. */
function fitting({ inputSchema }, tools) {
  const values = { number: 1, integer: 1, boolean: true, object: tools[0]?.inputSchema, array: [] };
  const required = inputSchema.required ?? [];
  return Object.fromEntries(
    required.map((name) => [name, values[inputSchema.properties?.[name]?.type] ?? 'x']),
  );
}

const host = await createHost({
  home,
  cwd: home,
  watch: false,
  servers: { target: { type: 'http', url } },
  approve: () => 'allow',
  elicit: () => ({ action: 'accept', content: {} }),
  sample: () => ({ role: 'assistant', model: 'none', content: { type: 'text', text: 'yes' } }),
  roots: [{ uri: 'file:///tmp', name: 'tmp' }],
});

try {
  await host.connect('target');
  const tools = host.tools();
  const calls = toolCalls ?? tools.map((tool) => ({ name: tool.tool, arguments: fitting(tool, tools) }));
  for (const { name, arguments: args } of calls) {
    const tool = tools.find((known) => known.tool === name);
    // A tool that is held back (its headers are not valid) is not called: that is the point.
    if (tool !== undefined)
      await host.call(tool.name, args).catch((error) => console.error(JSON.stringify(error)));
  }
  const { resources } = await host.resources();
  for (const { server, uri } of resources) await host.read(server, uri).catch(() => {});
  for (const { server, name, arguments: wanted = [] } of await host.prompts()) {
    const args = Object.fromEntries(wanted.map((argument) => [argument.name, 'x']));
    await host.prompt(server, name, args).catch(() => {});
  }
} catch (error) {
  console.error(JSON.stringify(error));
  process.exitCode = 1;
} finally {
  await host.close();
  await rm(home, { recursive: true, force: true });
}
