/** Three replicas behind a load balancer, which are killed or replaced one after the other. */

import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { CLIENTS } from './load.ts';
import { BEARER, end, freePort, type Replica, type ReplicaOptions, until, type World } from './replicas.ts';

/** Behind a balancer, replicas listen on every interface, and reach each other on this machine. */
const SERVER = fileURLToPath(new URL('../fixtures/cluster-server.mjs', import.meta.url));
const BEHIND = { host: '0.0.0.0', env: { PLUGBOARD_CLUSTER_ADDRESS: '127.0.0.1' } };

export interface Balanced {
  readonly url: string;
  readonly ports: readonly number[];
  readonly replicas: Replica[];
  /** Starts the replica of a place again, at its address. */
  restart(at: number): Promise<void>;
}

/** Starts three replicas, and a balancer with the file of `examples/cluster/`. */
export async function balance(
  world: World,
  balancer: 'nginx' | 'haproxy',
  options: Pick<ReplicaOptions, 'command'> = {},
): Promise<Balanced> {
  const ports = [await freePort(), await freePort(), await freePort()];
  const web = await freePort();
  world.program(process.execPath, [SERVER, world.calls, String(web)]);
  await until(() => isOpen(web), 'the server');
  const args = ['--server', world.server, '--server', `web=http://127.0.0.1:${web}/mcp`];
  const started = (at: number): Promise<Replica> =>
    world.start({ ...BEHIND, ...options, args, config: { clients: CLIENTS }, port: ports[at] ?? 0 });
  const replicas = await Promise.all(ports.map((_, at) => started(at)));
  const port = await freePort();
  const name = balancer === 'nginx' ? 'nginx.conf' : 'haproxy.cfg';
  const example = fileURLToPath(new URL(`../../examples/cluster/${name}`, import.meta.url));
  const file = join(world.folder, name);
  const text = ports.reduce(
    (config, own, at) => config.replaceAll(`replica-${at + 1}:7420`, `127.0.0.1:${own}`),
    readFileSync(example, 'utf8'),
  );
  writeFileSync(
    file,
    text.replace(/(?<=listen |127\.0\.0\.1:)8080/, balancer === 'nginx' ? `127.0.0.1:${port}` : `${port}`),
  );
  const own = `pid ${join(world.folder, 'nginx.pid')}; daemon off; master_process off;`;
  if (balancer === 'nginx')
    world.program('nginx', ['-p', world.folder, '-e', 'stderr', '-c', file, '-g', own]);
  else world.program('haproxy', ['-db', '-f', file]);
  await until(() => isOpen(port), 'the balancer');
  return {
    url: `http://127.0.0.1:${port}/mcp`,
    ports,
    replicas,
    async restart(at) {
      replicas[at] = await started(at);
    },
  };
}

async function isOpen(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}

/** Kills one replica after the other with SIGKILL, and starts it again at its address. */
export async function killInTurn(
  balanced: Balanced,
  isOver: (round: number) => boolean,
  progressed: () => Promise<void>,
): Promise<number> {
  for (let round = 0; ; round += 1) {
    if (isOver(round)) return round;
    const at = round % balanced.replicas.length;
    const victim = balanced.replicas[at];
    if (victim === undefined) return round;
    await progressed();
    await end(victim.process);
    await progressed();
    await balanced.restart(at);
    // A balancer tries a replica that failed again after a second; without any other it answers by itself.
    await until(() => hasCalls(balanced.ports[at]), 'a call at the new replica');
  }
}

/** True if the replica at a port has run a call. */
async function hasCalls(port = 0): Promise<boolean> {
  const response = await fetch(`http://127.0.0.1:${port}/metrics`, { headers: BEARER });
  return /^plugboard_calls_total\S* [1-9]/m.test(await response.text());
}
