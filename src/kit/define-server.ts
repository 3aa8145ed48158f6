/** The `Server` class of the kit: what a server offers, and where it is served. */

import { type ArgumentChecker, createArgumentChecker } from '../call/argument-check.ts';
import type { Served } from '../endpoint/backend.ts';
import { type Clock, systemClock } from '../lib/clock.ts';
import type { Unsubscribe } from '../lib/emitter.ts';
import type { ErrorStyle, Item, Prompt, Resource, ResourceTemplate, Tool } from './definitions.ts';
import type { LogLevel } from './handler-context.ts';
import { checkWebOptions, type WebOptions } from './http-options.ts';
import { KitBackend, type KitParts } from './kit-backend.ts';
import type { TaskOptions } from './kit-tasks.ts';
import { type McpHandler, mountedLater } from './mounting.ts';
import { Offer } from './offer.ts';
import { both, type HandledEvent, spans, tellingTo } from './tracing.ts';
import { type Channel, type Listener, serveChannel } from './transports.ts';

/** Everything that `defineServer` takes. */
export interface ServerDefinition {
  readonly name: string;
  /** Default 0.0.0. */
  readonly version?: string | undefined;
  /** For people. */
  readonly title?: string | undefined;
  /** For the model: the purpose of the server, and how its tools work together. */
  readonly instructions?: string | undefined;
  readonly tools?: readonly Tool[] | undefined;
  readonly resources?: readonly (Resource | ResourceTemplate)[] | undefined;
  readonly prompts?: readonly Prompt[] | undefined;
  /**
   * How a failing tool is reported. `result` (default): a result with `isError`; `protocol`: the error −32000, in the
   * modern era −32603.
   */
  readonly errors?: ErrorStyle | undefined;
  /** Capabilities in addition to those that follow from the definitions. */
  readonly capabilities?: Readonly<Record<string, unknown>> | undefined;
  /** May change the response to `initialize`: its return value is sent in place of `answer`. */
  readonly initialize?:
    | ((params: Readonly<Record<string, unknown>>, answer: Readonly<Record<string, unknown>>) => unknown)
    | undefined;
  /** Where tasks of tools with `task` are kept, and for how long. */
  readonly tasks?: TaskOptions | undefined;
  /** Called after every handler with its name, outcome and duration. */
  readonly onHandled?: ((event: HandledEvent) => void) | undefined;
  /** Creates spans for every handler, through the OpenTelemetry SDK that the program has set up. */
  readonly telemetry?: boolean | undefined;
  /** Called with problems that the author should fix, such as names that clients reject. Default: stderr. */
  readonly warn?: ((text: string) => void) | undefined;
  readonly clock?: Clock | undefined;
}

/** A server that was defined; served by `serve()`. */
export class Server {
  readonly name: string;
  readonly #offer: Offer;
  readonly #parts: KitParts;
  readonly #telemetry: boolean;
  readonly #served = new Map<KitBackend, Served | undefined>();

  constructor(definition: ServerDefinition) {
    const { name, version = '0.0.0', title, onHandled, warn = toStderr, clock = systemClock } = definition;
    this.name = name;
    let loading: Promise<ArgumentChecker> | undefined;
    const checker = (): Promise<ArgumentChecker> => {
      loading ??= createArgumentChecker();
      return loading;
    };
    this.#telemetry = definition.telemetry ?? false;
    this.#offer = new Offer({ checker, warn });
    this.#parts = {
      identity: { name, version, ...(title === undefined ? {} : { title }) },
      offer: this.#offer,
      clock,
      checker,
      instructions: definition.instructions,
      capabilities: definition.capabilities ?? {},
      errors: definition.errors ?? 'result',
      initialize: definition.initialize,
      tasks: definition.tasks ?? {},
      tracing: onHandled === undefined ? undefined : tellingTo(onHandled, clock, warn),
      warn,
    };
    const { tools = [], resources = [], prompts = [] } = definition;
    for (const item of [...tools, ...resources, ...prompts]) this.#offer.add(item);
  }

  /** Adds an item and notifies connected clients. The returned function removes it. */
  add(item: Item): Unsubscribe {
    return this.#offer.add(item);
  }

  /** Notifies subscribers that a resource has changed. */
  updated(uri: string): void {
    for (const backend of this.#served.keys()) backend.updated(uri);
  }

  /** Sends a log message outside of any request, to every client that requested the level. */
  log(level: LogLevel, data: unknown, logger: string = this.name): void {
    for (const backend of this.#served.keys()) backend.log(level, data, logger);
  }

  /**
   * Serves over `stdio()`, `http()` or a custom channel; several at the same time if needed. Resolves when it is
   * being served.
   */
  serve<Result extends Served>(transport: Listener<Result>): Promise<Result>;
  serve(transport: Channel): Promise<Served>;
  async serve(transport: Listener | Channel): Promise<Served> {
    const backend = new KitBackend(this.#telemetry ? await this.#withSpans() : this.#parts);
    this.#served.set(backend, undefined);
    try {
      const served =
        'listen' in transport ? await transport.listen(backend) : await serveChannel(backend, transport);
      this.#served.set(backend, served);
      void served.closed.then(() => this.#served.delete(backend));
      return served;
    } catch (error) {
      this.#served.delete(backend);
      await backend.close();
      throw error;
    }
  }

  /**
   * Returns handlers to serve inside another program: `fetch` for Hono, Workers, Next, Bun and Deno, `node` for
   * Express, Fastify and `node:http`. Both serve clients of both eras. Nothing is opened before the first request.
   *
   * @example
   * const server = defineServer({ name: 'echo', tools: [tool({ name: 'echo', run: ({ message }) => message })] });
   * const mcp = server.handler({ health: true });
   * const response = await mcp.fetch(new Request('http://localhost/health'));
   * await response.json(); // → { status: 'ok' }
   * await mcp.close();
   */
  handler(options: WebOptions = {}): McpHandler {
    checkWebOptions(options);
    return mountedLater(options, async (mount) => {
      const backend = new KitBackend(this.#telemetry ? await this.#withSpans() : this.#parts);
      const mounted = mount(backend);
      this.#served.set(backend, mounted);
      void mounted.closed.then(() => this.#served.delete(backend));
      return mounted;
    });
  }

  async #withSpans(): Promise<KitParts> {
    const { tracing } = this.#parts;
    const spanning = await spans(this.name);
    return { ...this.#parts, tracing: tracing === undefined ? spanning : both(spanning, tracing) };
  }

  /** Stops everything that is being served. May be called twice. */
  async close(): Promise<void> {
    await Promise.all([...this.#served.values()].map((served) => served?.close()));
  }
}

/**
 * Defines a server: tools, resources and prompts under a name.
 *
 * @param definition - Name, tools, resources, prompts and options.
 * @returns The server; `serve()` serves it.
 * @throws PlugboardError `USAGE` for two items of one name, or a template or schema that cannot be used.
 * @example
 * const server = defineServer({
 *   name: 'echo',
 *   tools: [tool({ name: 'echo', description: 'Gives the message back.', run: ({ message }) => message })],
 * });
 * server.name; // → 'echo'
 */
export function defineServer(definition: ServerDefinition): Server {
  return new Server(definition);
}

function toStderr(text: string): void {
  process.stderr.write(`${text}\n`);
}
