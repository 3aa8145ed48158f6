/** One client of a kit server: dispatches its requests to handlers, and converts their outcomes (KIT-2). */

import type { ClientHandler } from '../endpoint/backend.ts';
import type { ClientConnection } from '../endpoint/client-connection.ts';
import type { ClientInfo, Params } from '../endpoint/client-era.ts';
import { invalidParams, resourceNotFound } from '../endpoint/rpc-failure.ts';
import type { Exchange, Work } from '../endpoint/work.ts';
import type { Unsubscribe } from '../lib/emitter.ts';
import { isRecord } from '../lib/json.ts';
import { type Access, clientOf, plainHeaders } from './access.ts';
import { callTool } from './call-handler.ts';
import { type Context, HandlerContext } from './handler-context.ts';
import { toContents, toPromptResult } from './handler-results.ts';
import type { KitBackend } from './kit-backend.ts';
import { KIT_METHODS } from './kit-methods.ts';
import type { Offer } from './offer.ts';

export class KitClient implements ClientHandler {
  readonly methods: typeof KIT_METHODS = KIT_METHODS;
  readonly #backend: KitBackend;
  readonly #clientConnection: ClientConnection;

  constructor(backend: KitBackend, clientConnection: ClientConnection) {
    this.#backend = backend;
    this.#clientConnection = clientConnection;
  }

  enter(): void {
    // Nothing to start: it is registered with the backend from its first request on.
  }

  leave(): void {
    this.#backend.leave(this.#clientConnection);
  }

  about(): Params {
    const { offer, instructions, capabilities } = this.#backend.parts;
    const { tools, resources, templates, prompts } = offer;
    const content = resources.size > 0 || templates.size > 0;
    return {
      capabilities: {
        ...(tools.size > 0 || (!content && prompts.size === 0) ? { tools: { listChanged: true } } : {}),
        ...(content ? { resources: { subscribe: true, listChanged: true } } : {}),
        ...(prompts.size > 0 ? { prompts: { listChanged: true } } : {}),
        ...(offer.completes ? { completions: {} } : {}),
        logging: {},
        ...capabilities,
      },
      ...(instructions === undefined ? {} : { instructions }),
    };
  }

  async initialized(params: Params, answer: Params): Promise<Params> {
    const changed = await this.#backend.parts.initialize?.(params, answer);
    return isRecord(changed) ? changed : answer;
  }

  get offer(): Offer {
    return this.#backend.parts.offer;
  }

  /** Describes the sender of a request that is answered at once. */
  access(clientInfo: ClientInfo, { caller, headers }: Exchange): Access {
    return {
      client: clientOf(clientInfo, this.#clientConnection.principal, caller),
      headers: plainHeaders(headers),
    };
  }

  /** True if there is one, or the author declared the capability. */
  offers(kind: 'resources' | 'prompts'): boolean {
    const { offer, capabilities } = this.#backend.parts;
    const some =
      kind === 'prompts' ? offer.prompts.size > 0 : offer.resources.size > 0 || offer.templates.size > 0;
    return some || capabilities[kind] !== undefined;
  }

  call(params: Params, context: Context): Promise<Params> {
    return callTool(this.#backend.parts, params, context);
  }

  async watch(uri: unknown, clientInfo: ClientInfo, changed: (uri: string) => void): Promise<Unsubscribe> {
    if (typeof uri !== 'string') throw invalidParams('The address of a resource must be text');
    const { resources, templates } = this.#backend.parts.offer;
    const known = resources.has(uri) || [...templates.values()].some(({ parsed }) => parsed.match(uri));
    if (!known) throw resourceNotFound(uri, clientInfo.era);
    return this.#backend.watch(uri, changed);
  }

  /** Runs the author's handler, in a span if tracing is on. */
  handled(
    method: string,
    name: unknown,
    params: Params,
    work: Work,
    run: (context: Context) => Promise<Params>,
  ): Promise<Params> {
    const { tracing, checker, identity } = this.#backend.parts;
    const context = new HandlerContext({
      work,
      params,
      principal: this.#clientConnection.principal,
      checker,
      log: (level, data, logger = identity.name) =>
        this.#clientConnection.log(level, { level, logger, data }, (each) => each === work),
    });
    if (tracing === undefined) return run(context);
    return tracing({ method, name: typeof name === 'string' ? name : undefined, context }, () =>
      run(context),
    );
  }

  async read(params: Params, context: Context): Promise<Params> {
    const { uri } = params;
    if (typeof uri !== 'string') throw invalidParams('resources/read needs an address');
    const { resources, templates } = this.#backend.parts.offer;
    const exact = resources.get(uri);
    if (exact !== undefined)
      return { contents: toContents(await exact.read(uri, context), uri, exact.mimeType) };
    for (const { template, parsed } of templates.values()) {
      const variables = parsed.match(uri);
      if (variables === undefined) continue;
      return { contents: toContents(await template.read(variables, context, uri), uri, template.mimeType) };
    }
    throw resourceNotFound(uri, context.client.era);
  }

  async prompt(params: Params, context: Context): Promise<Params> {
    const { name, arguments: given } = params;
    if (typeof name !== 'string') throw invalidParams('prompts/get needs the name of a prompt');
    if (given !== undefined && !isRecord(given)) throw invalidParams('The arguments must be an object');
    const prompt = this.#backend.parts.offer.prompts.get(name);
    if (prompt === undefined) throw invalidParams(`There is no prompt ${JSON.stringify(name)}`);
    const args: Record<string, string> = {};
    for (const [key, { required }] of Object.entries(prompt.arguments)) {
      const value = given !== undefined && Object.hasOwn(given, key) ? given[key] : undefined;
      if (typeof value === 'string') args[key] = value;
      else if (value !== undefined) throw invalidParams(`The argument ${key} must be text`);
      else if (required === true) throw invalidParams(`The argument ${key} is missing`);
    }
    // The arguments are those that the prompt itself declares.
    return toPromptResult(await prompt.get(args as never, context));
  }
}
