/** A gateway of ours in front of one bare server, over HTTP or stdio, and the limit beside it: what two axes ask. */

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { connect } from '../gateway-client.mjs';
import { end, limit, ours, processesOf } from '../gateway-peers.mjs';
import { stdioClient } from '../stdio-client.mjs';

const COMMAND = fileURLToPath(new URL('../../dist/bin/plugboard.cjs', import.meta.url));
/** Large enough that a result of any size is passed on whole. */
export const WHOLE_TOKENS = 100_000_000;
export const HTTP = 'plugboard serve --http';
export const STDIO = 'plugboard serve, stdio';
export const LIMIT = 'bare pass-through (limit)';

/** Over HTTP: `{ pids, request(method, params), close }`. */
export async function overHttp(server, { modern = false } = {}) {
  return asked(await ours(1, { server, settings: wholeResults() }), { modern });
}

export async function throughLimit(server) {
  return asked(await limit(server));
}

async function asked(gateway, options) {
  const client = await connect(gateway, options);
  return {
    pids: processesOf(gateway),
    request: client.request,
    async close() {
      await client.close();
      await end([gateway]);
    },
  };
}

/** Over stdio, in one process with its servers' transports. */
export async function overStdio(args) {
  const home = mkdtempSync(join(tmpdir(), 'plugboard-bench-'));
  const mcpServers = { echo0: { command: process.execPath, args, lifecycle: 'eager' } };
  writeFileSync(join(home, 'config.json'), JSON.stringify({ mcpServers, ...wholeResults() }));
  const { NODE_EXTRA_CA_CERTS: _certificates, ...env } = process.env;
  const client = stdioClient(process.execPath, [COMMAND, 'serve', '--no-daemon', '--no-workspace'], {
    cwd: home,
    env: { ...env, PLUGBOARD_HOME: home },
  });
  await client.initialize();
  return {
    pids: [client.child.pid],
    request: client.request,
    async close() {
      await client.end();
      rmSync(home, { recursive: true, force: true });
    },
  };
}

function wholeResults() {
  return { toolSearch: false, defaults: { maxOutputTokens: WHOLE_TOKENS } };
}
