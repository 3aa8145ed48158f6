/** The handlers of a server that is mounted in another program; what serves requests is loaded for the first of them. */

import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Backend, Served } from '../endpoint/backend.ts';
import { PlugboardError } from '../errors.ts';
import type { WebOptions } from './http-options.ts';
import type { MountedServer } from './mounted-server.ts';

/** Called for a request that is not this server's, or with an error. */
export type NextHandler = (error?: unknown) => void;

/** A server inside another program. Its functions do not use `this`. */
export interface McpHandler extends Served {
  /** Answers a request of the Fetch standard; 404 for a path that is not this server's. */
  readonly fetch: (request: Request) => Promise<Response>;
  /**
   * Answers a request of Node's servers. With `next`, as middleware: requests that are not this server's are passed on.
   * A body that another middleware has parsed is taken from `request.body`.
   */
  readonly node: (request: IncomingMessage, response: ServerResponse, next?: NextHandler) => void;
}

/** `open` is called once, with the function that mounts a backend. */
export function mountedLater(
  options: WebOptions,
  open: (mount: (backend: Backend) => MountedServer) => Promise<MountedServer>,
): McpHandler {
  let mounted: MountedServer | undefined;
  let opening: Promise<MountedServer> | undefined;
  let isClosed = false;
  let ended = (): void => {};
  const closed = new Promise<void>((resolve) => {
    ended = resolve;
  });
  const opened = (): Promise<MountedServer> => {
    if (isClosed && opening === undefined)
      return Promise.reject(new PlugboardError('CANCELLED', 'This server is closed'));
    // Workers may not start timers before their first request.
    opening ??= import('./mounted-server.ts').then(async (module) => {
      mounted = await open((backend) => new module.MountedServer(backend, options));
      void mounted.closed.then(ended);
      return mounted;
    });
    return opening;
  };
  return {
    closed,
    fetch: async (request) => (mounted ?? (await opened())).fetch(request),
    node(request, response, next) {
      if (mounted !== undefined) return mounted.node(request, response, next);
      opened().then(
        (server) => server.node(request, response, next),
        (error: unknown) => {
          if (next !== undefined) next(error);
          else response.writeHead(503).end();
        },
      );
    },
    async close() {
      isClosed = true;
      if (opening === undefined) ended();
      else await (mounted ?? (await opening)).close();
    },
  };
}
