/** Transports for a server: this process's stdio, HTTP, or a custom channel. */

import type { Readable, Writable } from 'node:stream';
import type { Backend, Served } from '../endpoint/backend.ts';
import { ClientConnection } from '../endpoint/client-connection.ts';
import type { ServedHttp } from '../endpoint/listen-http.ts';
import { serveLines } from '../endpoint/serve-lines.ts';
import { PlugboardError } from '../errors.ts';
import { isRecord } from '../lib/json.ts';
import { unwritable } from '../lib/json-rpc.ts';
import type { Transport } from '../transport/contract.ts';
import { checkWebOptions, type WebOptions } from './http-options.ts';

type Write = typeof process.stdout.write;

/** The writer to the real stdout, for the protocol, and the function that restores it. */
interface OwnedStdout {
  readonly write: (text: string) => boolean;
  release(): void;
}

/** Reserves stdout for the protocol. `console.log` writes through `process.stdout.write` too, so this one place is enough. */
function ownStdout(): OwnedStdout {
  const { stdout, stderr } = process;
  const original: Write = stdout.write;
  const diverted = ((...args: Parameters<Write>) => stderr.write(...args)) as Write;
  stdout.write = diverted;
  return {
    write: (text) => original.call(stdout, text),
    release() {
      if (stdout.write === diverted) stdout.write = original;
    },
  };
}

const DEFAULT_HTTP_PORT = 3000;
/** How long a program may continue after its client has disconnected. */
const EXIT_GRACE_MS = 2_000;

/** Accepts clients, and serves each of them. */
export interface Listener<Result extends Served = Served> {
  /** Begins to serve; called by `serve()`. */
  listen(backend: Backend): Promise<Result>;
}

/** A connection to one client: the interface of every transport of Plugboard, `memoryPair()` for example. */
export type Channel = Pick<Transport, 'open' | 'send' | 'close'>;

/** Options of `stdio()`. */
export interface StdioOptions {
  /** Default: this process's own; then nothing else can write to stdout, and the process exits with its client. */
  readonly input?: Readable | undefined;
  readonly output?: Writable | undefined;
}

/**
 * One JSON-RPC message per line, for the client that started this process. When the client closes its side, running
 * handlers may finish, and the process exits with code 0.
 *
 * @param options - Streams other than those of the process.
 * @returns The listener, for `server.serve()`.
 * @example
 * const server = defineServer({ name: 'echo', tools: [tool({ name: 'echo', run: ({ message }) => message })] });
 * const { input, output } = streams;
 * const served = await server.serve(stdio({ input, output }));
 * await served.close();
 */
export function stdio(options: StdioOptions = {}): Listener {
  const { input = process.stdin, output = process.stdout } = options;
  return {
    async listen(backend) {
      if (output !== process.stdout) return serveLines(backend, { input, output });
      const { write, release } = ownStdout();
      const served = serveLines(backend, { input, output, write });
      const closed = served.closed.then(() => {
        release();
        if (input === process.stdin) leaveSoon();
      });
      return { closed, close: () => served.close().then(() => closed) };
    },
  };
}

/**
 * Exits after a while: a timer or socket that the author forgot must not keep an orphan alive. The timer is unref'd.
 */
function leaveSoon(): void {
  setTimeout(() => process.exit(), EXIT_GRACE_MS).unref();
}

/** Options of `http()`. */
export interface HttpOptions extends WebOptions {
  /** Default 3000; 0 selects any free port. */
  readonly port?: number | undefined;
  /** Default 127.0.0.1. Other interfaces require a token or a verifier. */
  readonly host?: string | undefined;
  /** Whether SIGTERM and SIGINT close it: running calls may finish, and the process exits. Default false. */
  readonly closeOnSignal?: boolean | undefined;
}

/**
 * Streamable HTTP at `/mcp`, for clients of both eras. To serve inside another program, use `server.handler()`.
 *
 * @param options - Port, host, path, token or verifier, CORS, routes and limits.
 * @returns The listener, for `server.serve()`.
 * @example
 * const server = defineServer({ name: 'echo', tools: [tool({ name: 'echo', run: ({ message }) => message })] });
 * const served = await server.serve(http({ port: 0 }));
 * new URL(served.url).pathname; // → '/mcp'
 * await served.close();
 */
export function http(options: HttpOptions = {}): Listener<ServedHttp> {
  checkWebOptions(options);
  return {
    async listen(backend) {
      // Imported lazily: programs on stdio do not need it.
      const [{ checkReach, listenHttp }, { answerWithRoute, HttpFront }, { PublicAddress }] =
        await Promise.all([
          import('../endpoint/listen-http.ts'),
          import('./http-front.ts'),
          import('./public-address.ts'),
        ]);
      const { host, port = DEFAULT_HTTP_PORT, path, verifier, maxBodyBytes, maxSessions } = options;
      const token = options.token || undefined;
      checkReach(host, {
        proof: token !== undefined || verifier !== undefined,
        hint: 'Give http() a token or a verifier, or serve on 127.0.0.1.',
      });
      const address = new PublicAddress(options);
      const front = new HttpFront(options, () => backend.isClosing);
      const served = await listenHttp(backend, {
        host,
        port,
        path,
        token,
        verifier,
        maxBodyBytes,
        maxSessions,
        isOurHost: (name) => address.isConfigured(name),
        isKnownOrigin: (origin) => front.isKnownOrigin(origin),
        metadataUrl: (headers) => address.metadata(headers),
        resource: (headers) => address.resource(headers),
        front(request, response, asked) {
          if (front.answer(request, response, asked)) return true;
          const route = front.route(request.method, asked);
          if (route !== undefined) answerWithRoute(request, response, route);
          return route !== undefined;
        },
      });
      if (options.closeOnSignal === true) closeOnSignal(served);
      return served;
    },
  };
}

const SIGNALS = ['SIGTERM', 'SIGINT'] as const;

/** The first signal closes; a second one ends the process as if there were no handler. */
function closeOnSignal(served: Served): void {
  const stop = (): void => {
    for (const signal of SIGNALS) process.off(signal, stop);
    void served.close();
  };
  for (const signal of SIGNALS) process.on(signal, stop);
  void served.closed.then(() => {
    for (const signal of SIGNALS) process.off(signal, stop);
  });
}

/** Serves the one client at the other end of a channel. */
export async function serveChannel(backend: Backend, channel: Channel): Promise<Served> {
  const send = (message: Parameters<Channel['send']>[0]): boolean => {
    channel.send(message).catch((thrown: unknown) => {
      // A result that could not be sent may not be serializable. A channel that cannot deliver at all closes.
      if ('result' in message) channel.send(unwritable(message.id, thrown)).catch(() => {});
    });
    return true;
  };
  const clientConnection = new ClientConnection(backend, {
    principal: 'local',
    stateless: false,
    broadcast: send,
  });
  let gone = (): void => {};
  const left = new Promise<void>((resolve) => {
    gone = resolve;
  });
  const closed = left.then(async () => {
    clientConnection.close(new PlugboardError('CANCELLED', 'The client disconnected'));
    await backend.close();
  });
  await channel.open({
    message(frame) {
      if (!isRecord(frame)) return;
      void clientConnection.receive(frame, { send, onGone: undefined })?.then((answer) => {
        if (answer !== undefined) send(answer);
      });
    },
    lost: () => {},
    notice: () => {},
    closed: () => gone(),
  });
  return {
    closed,
    async close() {
      await backend.close();
      await channel.close();
      await closed;
    },
  };
}
