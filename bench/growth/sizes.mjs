/** What a result of 1 KB to 60 MB costs on its way: through `host.call`, and through the gateway over HTTP and stdio. */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { createHost } from '../../dist/index.js';
import { stdioClient } from '../stdio-client.mjs';
import { cpuMsOf, curve, ownCpuMs } from './curve.mjs';
import { HTTP, LIMIT, overHttp, overStdio, STDIO, throughLimit, WHOLE_TOKENS } from './gateways.mjs';

const KB = 1024;
const MB = 1024 * KB;
const SIZES = [KB, 16 * KB, 256 * KB, MB, 4 * MB, 16 * MB, 60 * MB];
/** Small ones are too cheap for one to be measured. */
const BYTES_A_RUN = 256 * KB;
/** It takes no larger message unless it is told to, and then needs minutes: each chunk copies all that came before. */
const SDK_BYTES = 4 * MB;
const axis = 'bytes of a result';
const unit = 'ms of CPU for one';
const server = fileURLToPath(new URL('large-server.mjs', import.meta.url));

const times = (bytes) => Math.max(1, Math.ceil(BYTES_A_RUN / bytes));

/** One result, by as many of them as can be measured. */
const one = (measure, bytes, call) => async () => {
  const count = times(bytes);
  const cost = await measure(async () => {
    for (let n = 0; n < count; n += 1) await call({ bytes });
  });
  return cost / count;
};

function whole({ content: [{ text }] }, bytes) {
  if (text.length < bytes * 0.9) throw new Error(`${text.length} characters of ${bytes}`);
}

async function host(bytes, settings) {
  const home = mkdtempSync(join(tmpdir(), 'plugboard-bench-'));
  const entry = { command: process.execPath, args: [server], lifecycle: 'eager', ...settings };
  const opened = await createHost({
    home,
    cwd: home,
    watch: false,
    servers: { large: entry },
    approve: () => 'allow',
  });
  await opened.ready();
  return {
    run: one(ownCpuMs, bytes, async (args) => {
      const result = await opened.call('mcp__large__sized', args);
      if (settings.maxOutputTokens !== undefined) whole(result, bytes);
    }),
    async close() {
      await opened.close();
      rmSync(home, { recursive: true, force: true });
    },
  };
}

await curve({
  axis,
  measure: 'a result over stdio',
  unit,
  sizes: SIZES,
  budgetMs: 20_000,
  contenders: [
    {
      name: 'parsed and nothing more (limit)',
      async open(bytes) {
        const client = stdioClient(process.execPath, [server]);
        await client.initialize();
        const call = async (args) =>
          whole((await client.request('tools/call', { name: 'sized', arguments: args })).result, bytes);
        return { run: one(ownCpuMs, bytes, call), close: () => client.end() };
      },
    },
    {
      name: 'SDK v2 client',
      most: SDK_BYTES,
      async open(bytes) {
        const client = new Client({ name: 'bench', version: '1' });
        const parameters = { command: process.execPath, args: [server] };
        await client.connect(new StdioClientTransport(parameters));
        const call = async (args) => whole(await client.callTool({ name: 'sized', arguments: args }), bytes);
        return { run: one(ownCpuMs, bytes, call), close: () => client.close() };
      },
    },
    {
      name: 'host.call, the whole result',
      open: (bytes) => host(bytes, { maxOutputTokens: WHOLE_TOKENS }),
    },
    { name: 'host.call, as a model gets it', open: (bytes) => host(bytes, {}) },
  ],
});

const through = (open, tool) => async (bytes) => {
  const { pids, request, close } = await open([server]);
  const call = async (args) =>
    whole((await request('tools/call', { name: tool, arguments: args })).result, bytes);
  return { run: one((work) => cpuMsOf(pids, work), bytes, call), close };
};

await curve({
  axis,
  measure: 'a result through the gateway',
  unit,
  sizes: SIZES,
  budgetMs: 20_000,
  contenders: [
    { name: LIMIT, open: through(throughLimit, 'sized') },
    { name: HTTP, open: through(overHttp, 'echo0__sized') },
    { name: STDIO, open: through(overStdio, 'echo0__sized') },
  ],
});
