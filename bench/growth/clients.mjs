/** What 1 to 1,000 clients at once cost one gateway, in either era and until they are gone; and agents attached to one daemon. */

import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { connect } from '../gateway-client.mjs';
import { echoServer, end, limit, ours, processesOf } from '../gateway-peers.mjs';
import { stdioClient } from '../stdio-client.mjs';
import { cpuMsOf, curve } from './curve.mjs';
import { HTTP, LIMIT } from './gateways.mjs';

const SIZES = [1, 4, 16, 64, 250, 1_000];
const AGENTS = [1, 2, 5, 10, 20, 40];
const CALLS = 5;
const axis = 'clients';
const COMMAND = fileURLToPath(new URL('../../dist/bin/plugboard.cjs', import.meta.url));
const { NODE_EXTRA_CA_CERTS: _certificates, PLUGBOARD_DAEMON: _asked, ...inherited } = process.env;

const range = (count) => Array.from({ length: count }, (_, n) => n);

/** All of them come, list, call at the same time and go. */
const crowd = (open, options) => async (count) => {
  const gateway = await open();
  await (await connect(gateway, options)).close();
  const pids = processesOf(gateway);
  return {
    run: () =>
      cpuMsOf(pids, async () => {
        const clients = await Promise.all(range(count).map(() => connect(gateway, options)));
        await Promise.all(
          clients.map(async ({ call, request }, at) => {
            await request('tools/list', {});
            for (let n = 0; n < CALLS; n += 1) await call(at * CALLS + n);
          }),
        );
        await Promise.all(clients.map(({ close }) => close()));
      }),
    close: () => end([gateway]),
  };
};

await curve({
  axis,
  measure: `clients at once, each with a list and ${CALLS} calls`,
  unit: 'ms of CPU',
  sizes: SIZES,
  budgetMs: 15_000,
  contenders: [
    { name: LIMIT, open: crowd(() => limit()) },
    { name: `${HTTP}, legacy era`, open: crowd(() => ours()) },
    { name: `${HTTP}, modern era`, open: crowd(() => ours(), { modern: true }) },
  ],
});

/** The daemon of one home: its own process, not those of its servers. */
function daemonsOf(home) {
  return readdirSync('/proc').filter((pid) => {
    try {
      const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8');
      const isDaemon = /daemon\.cjs|plugboard daemon/.test(command);
      return isDaemon && readFileSync(`/proc/${pid}/environ`, 'utf8').includes(home);
    } catch {
      return false;
    }
  });
}

await curve({
  axis: 'agents',
  measure: `agents attached to one daemon, each with a list and ${CALLS} calls`,
  unit: 'ms of CPU',
  sizes: AGENTS,
  budgetMs: 10_000,
  contenders: [
    {
      name: 'plugboard daemon',
      async open(count) {
        const home = mkdtempSync(join(tmpdir(), 'plugboard-bench-'));
        const project = join(home, 'project');
        mkdirSync(join(project, '.git'), { recursive: true });
        const mcpServers = { echo0: { command: process.execPath, args: [echoServer], lifecycle: 'eager' } };
        writeFileSync(join(home, 'config.json'), JSON.stringify({ mcpServers }));
        const options = { cwd: project, env: { ...inherited, PLUGBOARD_HOME: home, CI: '1' } };
        spawnSync(process.execPath, [COMMAND, 'daemon', 'start'], options);
        const pids = daemonsOf(home);
        if (pids.length !== 1) throw new Error(`${pids.length} daemons`);
        return {
          run: () =>
            cpuMsOf(pids, async () => {
              const agents = range(count).map(() =>
                stdioClient(process.execPath, [COMMAND, 'serve'], options),
              );
              await Promise.all(
                agents.map(async ({ initialize, request }, at) => {
                  await initialize();
                  await request('tools/list', {});
                  for (let n = 0; n < CALLS; n += 1) {
                    const message = `${at}-${n}`;
                    const { result } = await request('tools/call', {
                      name: 'echo0__echo',
                      arguments: { message },
                    });
                    if (result.content[0].text !== message) throw new Error(JSON.stringify(result));
                  }
                }),
              );
              await Promise.all(agents.map((agent) => agent.end()));
            }),
          close() {
            spawnSync(process.execPath, [COMMAND, 'daemon', 'stop'], options);
            rmSync(home, { recursive: true, force: true });
          },
        };
      },
    },
  ],
});
