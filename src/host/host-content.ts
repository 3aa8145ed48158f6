/** Resources, prompts, completion and mentions of all servers of a host. */

import type { ContentAction } from '../call/approve-content.ts';
import {
  type AcceptedList,
  acceptPrompts,
  acceptResources,
  acceptTemplates,
  type Prompt,
  type Resource,
  type ResourceTemplate,
} from '../catalog/accept-lists.ts';
import { type ContentCache, openContentCache } from '../catalog/catalog-cache.ts';
import {
  type Completion,
  type CompletionOptions,
  type CompletionRef,
  complete,
} from '../catalog/completion.ts';
import { type Capability, ContentList } from '../catalog/content-lists.ts';
import { metaOf } from '../catalog/content-response.ts';
import { attach, findMentions, type Mention } from '../catalog/mentions.ts';
import { commandIn, mayBeOf, mayCollide, readArguments, withCommands } from '../catalog/prompt-commands.ts';
import { getPrompt, type ListedPrompt, type PromptMessage, type PromptResult } from '../catalog/prompts.ts';
import {
  presentResource,
  presentTemplate,
  type ReadResult,
  type ResourceListing,
  readResource,
} from '../catalog/resources.ts';
import { type ResourceListener, ResourceSubscriptions } from '../catalog/resources-subscribe.ts';
import { limitsFor } from '../config/limits.ts';
import type { Connection } from '../connection/connection.ts';
import type { HandedOn } from '../connection/handed-on.ts';
import type { ListKind } from '../connection/listing.ts';
import type { ListEvent } from '../connection/live-connection.ts';
import type { Params, RequestOptions } from '../connection/peer.ts';
import { asPlugboardError } from '../errors.ts';
import type { Cancellation } from '../lib/cancellation.ts';
import type { Unsubscribe } from '../lib/emitter.ts';
import { oneLine, shownName, visibleUri } from '../policy/clean.ts';
import { cleanRecord } from '../policy/clean-value.ts';
import type { PinnedPart } from '../policy/pins.ts';
import { partHeld } from '../policy/pins-refusal.ts';
import type { HostCore } from './host-core.ts';

/** Options of reading resources and prompts. */
export interface ContentOptions {
  readonly signal?: AbortSignal | undefined;
  /** Whether a model reads it: then text is cleaned. Default: the host's `forModel`. */
  readonly forModel?: boolean | undefined;
  /** Fields that the client of this request sent, to be forwarded. */
  readonly handedOn?: HandedOn | undefined;
  /** Longest time without a response or progress; replaces the server's `toolTimeoutMs`. */
  readonly timeoutMs?: number | undefined;
  /** @internal The work that a question of the server is attributed to. */
  readonly owner?: object | undefined;
  /** @internal Cancelled when the requesting session ends. */
  readonly until?: Cancellation | undefined;
}

/** The expansion of a text: the text, the resources it mentions, or the messages of its command. */
export interface Expansion {
  readonly messages: readonly PromptMessage[];
  /** Mentions and commands that could not be resolved, as they were written; they stay in the text. */
  readonly unknown: readonly string[];
}

/** The caller on whose behalf a text is expanded. */
export interface ContentCaller {
  /** Rejects if the rules deny the caller a resource or a prompt. */
  readonly approve: (content: Pick<ContentAction, 'server' | 'kind' | 'name' | 'arguments'>) => Promise<void>;
  /** Returns the process of a server that the caller uses. */
  readonly used: (primary: Connection) => Connection;
}

type ContentKind = Exclude<ListKind, 'tools'>;

export interface ContentLists {
  readonly resources: ContentList<Resource>;
  readonly templates: ContentList<ResourceTemplate>;
  readonly prompts: ContentList<Prompt>;
}

interface Of<T> {
  readonly server: string;
  readonly item: T;
}

export class HostContent {
  readonly #core: HostCore;
  readonly #cache: ContentCache;
  readonly #resources: ContentList<Resource>;
  readonly #templates: ContentList<ResourceTemplate>;
  readonly #prompts: ContentList<Prompt>;
  readonly #subscriptions: ResourceSubscriptions;

  constructor(core: HostCore) {
    this.#core = core;
    const { clock, hidden, pins, pool } = core;
    this.#cache = openContentCache(core.home, clock);
    const warn = (server: string, message: string): void => core.log(server, 'warning', message);
    const made = <T>(
      kind: ContentKind,
      accept: (raw: unknown) => AcceptedList<T>,
      partOf: (item: T) => PinnedPart,
    ): ContentList<T> =>
      new ContentList({
        kind,
        capability: kind === 'prompts' ? 'prompts' : 'resources',
        accept,
        clock,
        warn,
        hidden,
        cache: this.#cache,
        keyOf: ({ spec }) => core.loader.keyOf(spec),
        pins,
        partOf,
        read: (connection, items, isNews) => this.#wasRead(kind, connection, items, isNews),
      });
    this.#resources = made('resources', acceptResources, (each) => ({
      id: each.uri,
      definition: { ...each },
    }));
    this.#templates = made('resourceTemplates', acceptTemplates, (each) => ({
      id: each.uriTemplate,
      definition: { ...each },
    }));
    this.#prompts = made('prompts', acceptPrompts, (each) => ({ id: each.name, definition: { ...each } }));
    this.#subscriptions = new ResourceSubscriptions({ connection: (server) => pool.get(server), warn });
  }

  /** The lists themselves, for responses that do not wait for every server. */
  get lists(): ContentLists {
    return { resources: this.#resources, templates: this.#templates, prompts: this.#prompts };
  }

  /** Resolves when every list that was read is on disk. */
  async flush(): Promise<void> {
    await Promise.all([this.#resources.flush(), this.#templates.flush(), this.#prompts.flush()]);
    await this.#cache.flush();
  }

  /**
   * Lists the resources of one server, whose failure rejects; or of all, where a failure is logged and the others are
   * still listed.
   */
  async resources(only?: Connection): Promise<ResourceListing> {
    const [resources, templates] = await Promise.all([
      this.#gather(this.#resources, only),
      this.#gather(this.#templates, only),
    ]);
    return {
      resources: resources.map(({ server, item }) => presentResource(server, item)),
      templates: templates.map(({ server, item }) => presentTemplate(server, item)),
    };
  }

  async read(
    connection: Connection,
    uri: string,
    options: ContentOptions & Pick<RequestOptions, 'onProgress'> = {},
  ): Promise<ReadResult> {
    // Contents are not pinned: a new address can be read like an unlisted one, but not one whose definition changed.
    if (this.#core.pins.stateOf(connection.spec, 'resources', uri) === 'changed')
      throw partHeld(connection.name, `the resource ${visibleUri(uri)}`, visibleUri(uri));
    const asked = this.#asked(connection, options);
    const { onProgress } = options;
    const request = onProgress === undefined ? asked.request : { ...asked.request, onProgress };
    return readResource(connection, uri, { ...asked, request });
  }

  /** Sends a request of an extension; the result is passed on unchanged except for hidden text. */
  async request(
    connection: Connection,
    method: string,
    params: Params,
    options: ContentOptions & Pick<RequestOptions, 'onProgress'>,
  ): Promise<Params> {
    const { request, forModel } = this.#asked(connection, options);
    const { onProgress } = options;
    // The peer accepts only objects as results.
    const result = (await connection.request(method, params, { ...request, onProgress })) as Params;
    const { _meta: _given, resultType: _type, ...rest } = result;
    return { ...(forModel ? cleanRecord(rest) : rest), ...metaOf(result, forModel) };
  }

  subscribe(connection: Connection, uri: string, listener: ResourceListener): Promise<Unsubscribe> {
    return this.#subscriptions.subscribe(connection, uri, listener);
  }

  async prompts(only?: Connection): Promise<readonly ListedPrompt[]> {
    const { naming } = this.#core.catalog;
    if (only === undefined) return withCommands(await this.#gather(this.#prompts), naming);
    await this.#prompts.of(only);
    // A command's name depends on the other prompts that could claim the same one.
    const rivals = await this.#gather(this.#prompts, undefined, (server) => mayCollide(server, only.name));
    return withCommands(rivals, naming).filter(({ server }) => server === only.name);
  }

  async prompt(
    connection: Connection,
    name: string,
    args: Readonly<Record<string, unknown>>,
    options: ContentOptions = {},
  ): Promise<PromptResult> {
    // A prompt can be read even if listing prompts fails.
    const listed = await this.#prompts.of(connection).catch(() => []);
    if (this.#core.pins.stateOf(connection.spec, 'prompts', name) !== 'free')
      throw partHeld(connection.name, `the prompt ${shownName(name)}`, oneLine(name));
    return getPrompt(connection, name, args, { ...this.#asked(connection, options), listed });
  }

  async expand(text: string, caller: ContentCaller, options: ContentOptions = {}): Promise<Expansion> {
    const command = commandIn(text, this.#core.catalog.naming);
    const prompt = command === undefined ? undefined : await this.#findCommand(command);
    const connection = prompt === undefined ? undefined : this.#core.pool.get(prompt.server);
    if (command !== undefined && prompt !== undefined && connection !== undefined) {
      const args = readArguments(prompt, text.slice(command.length));
      await caller.approve({ server: prompt.server, kind: 'prompt', name: prompt.name, arguments: args });
      const { messages } = await this.prompt(caller.used(connection), prompt.name, args, options);
      return { messages, unknown: [] };
    }
    const servers = this.#core.pool.all().map(({ name }) => name);
    const found = findMentions(text, servers);
    const attached = await attach(found.mentions, (mention) => this.#readMention(mention, caller, options));
    return {
      messages: [{ role: 'user', content: { type: 'text', text: found.text } }, ...attached.messages],
      unknown: [...(command === undefined ? [] : [command]), ...attached.unknown],
    };
  }

  complete(
    connection: Connection,
    ref: CompletionRef,
    argument: { readonly name: string; readonly value: string },
    options?: CompletionOptions,
  ): Promise<Completion> {
    return complete(connection, ref, argument, options);
  }

  /** Checks held-back items again and returns the servers whose lists changed. */
  review(): readonly { readonly kind: Capability; readonly server: string }[] {
    return this.#core.pool.all().flatMap((connection) => {
      const { name: server } = connection;
      const [resources, templates] = [this.#resources.review(connection), this.#templates.review(connection)];
      return [
        ...(resources || templates ? [{ kind: 'resources' as const, server }] : []),
        ...(this.#prompts.review(connection) ? [{ kind: 'prompts' as const, server }] : []),
      ];
    });
  }

  // Events of connections.

  connected(connection: Connection): void {
    this.#subscriptions.connected(connection);
  }

  listChanged(connection: Connection, kind: ListEvent): void {
    if (kind === 'prompts') this.#prompts.drop(connection);
    if (kind !== 'resources') return;
    this.#resources.drop(connection);
    this.#templates.drop(connection);
  }

  /** Rechecks all lists, because list-changed notifications may have been lost. */
  missed(connection: Connection): void {
    for (const list of [this.#resources, this.#templates, this.#prompts]) list.recheck(connection);
  }

  resourceUpdated(connection: Connection, uri: string): void {
    this.#subscriptions.updated(connection, uri);
  }

  // Private members.

  /** Handles a list that was read from its server. */
  #wasRead(kind: ContentKind, connection: Connection, items: readonly unknown[], isNews: boolean): void {
    const { known, transports, firstLists } = this.#core;
    const { spec } = connection;
    if (!transports.keepsNothingOf(spec)) {
      // Each list has the items of its kind.
      if (kind === 'prompts') known.keepPrompts(spec, items as readonly Prompt[]);
      if (kind === 'resources') known.keepResources(spec, items as readonly Resource[]);
    }
    firstLists.read(kind, connection, items, isNews);
  }

  /** Returns the items of a list of one server, or of all available ones; ordered by server in code-unit order. */
  async #gather<T>(
    list: ContentList<T>,
    only?: Connection,
    wanted: (server: string) => boolean = () => true,
  ): Promise<readonly Of<T>[]> {
    if (only !== undefined) return (await list.of(only)).map((item) => ({ server: only.name, item }));
    const asked = this.#core.pool
      .all()
      .filter((connection) => this.#mayHave(list.capability, connection) && wanted(connection.name))
      .sort((a, b) => (a.name < b.name ? -1 : 1));
    const lists = await Promise.all(
      asked.map(async (connection) => {
        const { name: server } = connection;
        try {
          return (await list.of(connection)).map((item) => ({ server, item }));
        } catch (error) {
          this.#core.log(server, 'warning', asPlugboardError(error).message);
          return [];
        }
      }),
    );
    return lists.flat();
  }

  #mayHave(capability: Capability, connection: Connection): boolean {
    const { name, state } = connection;
    if (this.#core.approvals.contentDenial(name) !== undefined) return false;
    // Agents list prompts and resources as soon as they start: that alone must not start every server.
    if (state.status === 'idle' && this.#core.loader.lacks(name, capability)) return false;
    return isAvailable(connection);
  }

  /** Lists, and starts, only servers that the command could belong to. */
  async #findCommand(command: string): Promise<ListedPrompt | undefined> {
    const { naming } = this.#core.catalog;
    const candidates = await this.#gather(this.#prompts, undefined, (server) =>
      mayBeOf(command, server, naming),
    );
    return withCommands(candidates, naming).find((prompt) => prompt.command === command);
  }

  async #readMention(
    { server, uri }: Mention,
    caller: ContentCaller,
    options: ContentOptions,
  ): Promise<ReadResult | undefined> {
    const connection = this.#core.pool.get(server);
    if (connection === undefined) return undefined;
    try {
      await caller.approve({ server, kind: 'resource', name: uri });
      return await this.read(caller.used(connection), uri, options);
    } catch (error) {
      if (options.signal?.aborted) throw error;
      this.#core.log(server, 'warning', `${uri} was not attached: ${asPlugboardError(error).message}`);
      return undefined;
    }
  }

  #asked(
    connection: Connection,
    { signal, forModel = this.#core.session.forModel, handedOn, timeoutMs, owner, until }: ContentOptions,
  ): {
    request: RequestOptions;
    forModel: boolean;
    warn: (message: string) => void;
    hidden: (place: string) => void;
  } {
    const limits = limitsFor(connection.spec.entry, this.#core.config.settings);
    return {
      request: {
        signal,
        owner,
        idleMs: timeoutMs ?? limits.toolTimeoutMs,
        totalMs: limits.maxTotalMs,
        handedOn,
        until,
      },
      forModel,
      warn: (message) => this.#core.log(connection.name, 'warning', message),
      hidden: (place) => this.#core.hidden(connection.name, place),
    };
  }
}

/** True if a server is connected, connecting or idle. Failed or refused servers are not retried for a list. */
export function isAvailable({ state }: Connection): boolean {
  return state.status === 'connected' || state.status === 'connecting' || state.status === 'idle';
}
