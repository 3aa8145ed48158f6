/** Clients of both eras that call replicas behind a load balancer, while replicas are killed. */

import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { legacySession } from '../serve/bare-client.ts';
import { BEARER, end, freePort, type Replica, until, type World } from './replicas.ts';

const LEGACY_CLIENTS = 6;
const MODERN_CLIENTS = 2;
export const CLIENTS: number = LEGACY_CLIENTS + MODERN_CLIENTS;
/** Behind a balancer, replicas listen on every interface, and reach each other on this machine. */
const BEHIND = { host: '0.0.0.0', env: { PLUGBOARD_CLUSTER_ADDRESS: '127.0.0.1' } };

const ACCEPTS = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
const MODERN_HEADERS = {
  ...BEARER,
  'mcp-protocol-version': '2026-07-28',
  'mcp-method': 'tools/call',
  'mcp-name': 'work__write',
};
const MODERN_META = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 'bare', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': {},
};

export interface Balanced {
  readonly url: string;
  readonly ports: readonly number[];
  readonly replicas: Replica[];
}

/** Starts three replicas, and a balancer with the file of `examples/cluster/`. */
export async function balance(world: World, balancer: 'nginx' | 'haproxy'): Promise<Balanced> {
  const ports = [await freePort(), await freePort(), await freePort()];
  const replicas = await Promise.all(ports.map((port) => world.start({ ...BEHIND, port })));
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
  const own = `pid ${join(world.folder, 'nginx.pid')}; daemon off;`;
  if (balancer === 'nginx')
    world.program('nginx', ['-p', world.folder, '-e', 'stderr', '-c', file, '-g', own]);
  else world.program('haproxy', ['-db', '-f', file]);
  await until(() => isOpen(port), 'the balancer');
  return { url: `http://127.0.0.1:${port}/mcp`, ports, replicas };
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

export interface Outcomes {
  /** Calls that were answered with their result. */
  readonly ok: readonly string[];
  /** Calls that failed: with an error, or because the balancer lost the connection. */
  readonly failed: readonly string[];
  /** Calls whose session was unknown. */
  readonly lostSessions: readonly string[];
  /** Answers that belong to another call. */
  readonly foreign: readonly string[];
  /** The calls that servers ran. */
  readonly ran: readonly string[];
}

/** Calls through the balancer until `work` ends. */
export async function callDuring(
  world: World,
  { url }: Balanced,
  work: () => Promise<void>,
): Promise<Outcomes> {
  const outcomes = {
    ok: [] as string[],
    failed: [] as string[],
    lostSessions: [] as string[],
    foreign: [] as string[],
  };
  let isOver = false;
  const client = async (name: string, headers: Record<string, string>, meta?: object): Promise<void> => {
    for (let at = 0; !isOver; at += 1) {
      const id = `${name}-${at}`;
      const params = {
        name: 'work__write',
        arguments: { id },
        ...(meta === undefined ? {} : { _meta: meta }),
      };
      const body = JSON.stringify({ jsonrpc: '2.0', id, method: 'tools/call', params });
      // A balancer that lost its replica answers with a page, or not at all.
      const answer = await fetch(url, { method: 'POST', headers: { ...ACCEPTS, ...headers }, body })
        .then(async (response) => ({ status: response.status, text: await response.text() }))
        .catch(() => ({ status: 0, text: '' }));
      if (answer.status === 404) outcomes.lostSessions.push(id);
      else if (answer.text.includes(`"written ${id}"`)) outcomes.ok.push(id);
      else if (answer.text.includes('"written ')) outcomes.foreign.push(id);
      else outcomes.failed.push(id);
    }
  };
  const sessions = await Promise.all(
    Array.from({ length: LEGACY_CLIENTS }, () => legacySession(url, '2025-11-25', {}, BEARER)),
  );
  const clients = [
    ...sessions.map((session, at) => client(`legacy-${at}`, session)),
    ...Array.from({ length: MODERN_CLIENTS }, (_, at) => client(`modern-${at}`, MODERN_HEADERS, MODERN_META)),
  ];
  try {
    await work();
  } finally {
    isOver = true;
    await Promise.all(clients);
  }
  const ran = existsSync(world.calls)
    ? readFileSync(world.calls, 'utf8')
        .split('\n')
        .filter((line) => line !== '')
    : [];
  return { ...outcomes, ran };
}

/** Kills one replica after the other with SIGKILL, and starts it again at its address. */
export async function killInTurn(
  world: World,
  balanced: Balanced,
  rounds: number,
  progressed: () => Promise<void>,
): Promise<void> {
  for (let round = 0; round < rounds; round += 1) {
    const at = round % balanced.replicas.length;
    const victim = balanced.replicas[at];
    if (victim === undefined) return;
    await progressed();
    await end(victim.process);
    await progressed();
    balanced.replicas[at] = await world.start({ ...BEHIND, port: balanced.ports[at] ?? 0 });
  }
}
