/** The daemon's socket, from both sides: who greets it badly is sent away, and a relay outlives what a daemon says. */

import { once } from 'node:events';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { homeAt } from '../../../src/config/home.ts';
import { sendRequest } from '../../../src/daemon/client/attach.ts';
import { relay } from '../../../src/daemon/client/relay.ts';
import { PROTOCOL } from '../../../src/daemon/protocol/daemon-messages.ts';
import { type DaemonRecord, readRecord } from '../../../src/daemon/protocol/daemon-place.ts';
import { Daemon } from '../../../src/daemon/server/daemon.ts';
import { systemClock } from '../../../src/lib/clock.ts';
import { type Edge, orRefused } from '../edge.ts';

const TOKEN = 'THE-TOKEN-OF-THE-DAEMON';
/** How long a conversation with nothing more to say is listened to. */
const PATIENCE_MS = 100;

function attachMessage(hello: object, ...lines: readonly string[]): Buffer {
  return Buffer.from([JSON.stringify({ plugboard: PROTOCOL, token: TOKEN, hello }), ...lines, ''].join('\n'));
}

const SCREEN = {
  stdout: { isTerminal: true, columns: 80, rows: 24 },
  stderr: { isTerminal: false },
  canAsk: false,
};
const INITIALIZE =
  '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"f","version":"1"}}}';

export const daemon: Edge = {
  name: 'daemon',
  runs: 30,
  async open() {
    const base = realpathSync(mkdtempSync(join(tmpdir(), 'plugboard-fuzz-daemon-')));
    const project = join(base, 'project');
    mkdirSync(join(project, '.git'), { recursive: true });
    const home = homeAt(join(base, 'home'));
    mkdirSync(home.run, { recursive: true, mode: 0o700 });
    writeFileSync(home.config, '{"workspace":false,"mcpServers":{}}');
    const record = join(home.run, 'daemon.json');
    const place = {
      build: { version: '1.0.0', id: 'f', madeAt: 1 },
      entry: '',
      record,
      lock: join(home.run, 'l'),
      log: join(home.run, 'log'),
    };
    const start = (): Promise<Daemon> =>
      Daemon.start({
        home,
        place,
        env: { PLUGBOARD_DAEMON_IDLE_MS: '600000' },
        clock: systemClock,
        log: () => {},
      });
    let running = await start();
    const here = { cwd: project, env: { HOME: base } };
    return {
      corpus: [
        attachMessage(
          { kind: 'mcp', approvals: 'client', ...here },
          INITIALIZE,
          '{"jsonrpc":"2.0","id":2,"method":"tools/list"}',
        ),
        attachMessage(
          { kind: 'mcp', approvals: 'enforce', workspace: false, servers: {}, ...here },
          INITIALIZE,
        ),
        attachMessage({ kind: 'command', words: ['--json', 'list'], screen: SCREEN, ...here }),
        attachMessage({ kind: 'status' }),
        attachMessage({ kind: 'reload' }),
        attachMessage({ kind: 'stay' }),
        attachMessage({ kind: 'stop', when: 'idle' }),
      ],
      async check(input) {
        const known = readRecord(record);
        if (known === undefined) throw new Error('the daemon has no record');
        await say(known, input);
        // Who is in possession of the token may end it.
        if (readRecord(record) === undefined) {
          await running.closed;
          running = await start();
        }
        const now = readRecord(record);
        const attached = now && (await sendRequest(now, { kind: 'status' }));
        attached?.socket.destroy();
        if (attached?.response.ok !== true) throw new Error('the daemon does not answer any more');
      },
      async close() {
        await running.close();
        rmSync(base, { recursive: true, force: true });
      },
    };
  },
};

async function say({ socket: path, token }: DaemonRecord, input: Buffer): Promise<void> {
  const socket = connect(path);
  socket.on('error', () => {});
  socket.resume();
  socket.setTimeout(PATIENCE_MS, () => socket.destroy());
  const closed = once(socket, 'close');
  socket.end(Buffer.from(input.toString('latin1').replaceAll(TOKEN, token), 'latin1'));
  await closed;
}

const ANSWERS = [
  '{"ok":true,"result":{"sessions":0}}',
  '{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"p","version":"1"}}}',
  `{"jsonrpc":"2.0","id":2,"result":{"content":[{"type":"text","text":"${'x'.repeat(600)}"}]}}`,
  '{"jsonrpc":"2.0","id":"q1","method":"elicitation/create","params":{"message":"who?"}}',
  '{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}',
  `{"jsonrpc":"2.0","result":{"text":"${'y'.repeat(600)}"},"id":"plugboard-relay-1"}`,
];

/** The first line is the daemon's response, the others are for the client. */
export const relayed: Edge = {
  name: 'relay',
  runs: 100,
  async open() {
    const folder = mkdtempSync(join(tmpdir(), 'plugboard-fuzz-relay-'));
    const path = join(folder, 's');
    let says = Buffer.alloc(0);
    const server = createServer((socket) => {
      socket.on('error', () => {});
      socket.once('data', () => socket.write(says));
      socket.once('end', () => socket.end());
    }).listen(path);
    await once(server, 'listening');
    return {
      corpus: [...ANSWERS, ANSWERS.join('\n')].map((text) => Buffer.from(text)),
      async check(input) {
        says = Buffer.concat([input, Buffer.from('\n')]);
        const socket = await orRefused(() => sendRequest(recordOf(path), { kind: 'status' }));
        socket?.socket.destroy();
        await relayLines(path, server, input);
      },
      close() {
        server.close();
        rmSync(folder, { recursive: true, force: true });
      },
    };
  },
};

function recordOf(socket: string): DaemonRecord {
  return { pid: 1, protocol: PROTOCOL, build: undefined, socket, token: 't', since: 1 };
}

async function relayLines(path: string, server: Server, input: Buffer): Promise<void> {
  const client = new PassThrough();
  const connected = once(server, 'connection');
  const output = new PassThrough().setEncoding('utf8');
  const first = connect({ path, allowHalfOpen: true });
  const [there] = (await connected) as [Socket];
  there.removeAllListeners('data');
  there.resume();
  let heard = '';
  const last = new Promise<void>((done) => {
    output.on('data', (text: string) => {
      heard += text;
      if (heard.includes('"the last"')) done();
    });
  });
  const ended = relay({
    input: client,
    output,
    first,
    reattach: () => Promise.reject(new Error('there is no other')),
    signal: new AbortController().signal,
  });
  client.write(`${INITIALIZE}\n`);
  there.write(Buffer.concat([input, Buffer.from('\n{"jsonrpc":"2.0","id":"the last","result":{}}\n')]));
  await last;
  client.destroy();
  await ended;
}
