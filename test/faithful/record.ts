/** Everything that one client sees of one generated server, directly or through a gateway, in one normal form. */

import type { GeneratedSpec } from '../fixtures/generated-spec.mjs';
import type { Naming } from './differences.ts';
import type { Answer, Json, SdkClient } from './sdk-client.ts';

export type Seen = Record<string, unknown>;

const LOG_LEVELS = ['debug', 'warning', 'critical'] as const;
const LEVEL_KEY = 'io.modelcontextprotocol/logLevel';
/** What a client puts into `_meta` of each call: trace context, and keys of others. */
const SENT_META = {
  traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
  baggage: 'user=ada',
  'com.example/sent': { deep: ['می\u200cخواهم', null, 1.5] },
};

/** Uses a server as a client does, everything once. */
export async function record(client: SdkClient, spec: GeneratedSpec, naming: Naming): Promise<Seen> {
  const tour = new Tour(client, spec, naming);
  return {
    lists: await tour.lists(),
    calls: await tour.calls(),
    reads: await tour.reads(),
    prompts: await tour.prompts(),
    completions: await tour.completions(),
    changes: await tour.changes(),
    cancelled: await tour.cancelled(),
    extension: await tour.extension(),
    errors: await tour.errors(),
  };
}

class Tour {
  readonly #client: SdkClient;
  readonly #spec: GeneratedSpec;
  readonly #naming: Naming;
  readonly #level: string;

  constructor(client: SdkClient, spec: GeneratedSpec, naming: Naming) {
    this.#client = client;
    this.#spec = spec;
    this.#naming = naming;
    this.#level = LOG_LEVELS[spec.seed % LOG_LEVELS.length] ?? 'debug';
  }

  async lists(): Promise<Seen> {
    if (this.#client.era === 'legacy') await this.#client.request('logging/setLevel', { level: this.#level });
    const list = async (method: string, key: string): Promise<unknown> => {
      const items: Json[] = [];
      let accepted = true;
      let cursor: unknown;
      do {
        const answer = await this.#client.request(method, cursor === undefined ? {} : { cursor });
        accepted &&= answer.accepted;
        items.push(...((answer.result?.[key] ?? []) as Json[]));
        cursor = answer.result?.['nextCursor'];
      } while (cursor !== undefined && items.length < 1_000);
      return { accepted, items: this.#naming.own(key, items) };
    };
    return {
      tools: await list('tools/list', 'tools'),
      resources: await list('resources/list', 'resources'),
      templates: await list('resources/templates/list', 'resourceTemplates'),
      prompts: await list('prompts/list', 'prompts'),
    };
  }

  async calls(): Promise<Seen> {
    const seen: Seen = {};
    for (const { definition, args } of this.#spec.tools)
      seen[definition.name] = await this.#call(definition.name, args);
    const { answer } = await this.#call('meta', {});
    const [block] = (answer.result?.['content'] ?? []) as { text: string }[];
    seen['meta'] = block === undefined ? answer : this.#naming.said(JSON.parse(block.text));
    return seen;
  }

  async #call(name: string, args: Json): Promise<{ readonly answer: Answer } & Seen> {
    const { received, asked, era } = this.#client;
    const [from, before] = [received.length, asked.length];
    const meta = era === 'modern' ? { ...SENT_META, [LEVEL_KEY]: this.#level } : SENT_META;
    const params = { name: this.#naming.tool(name), arguments: args, _meta: meta };
    const answer = await this.#client.request('tools/call', params, { onprogress: () => {} });
    const arrived = received.slice(from);
    const notified = (method: string): Json[] =>
      arrived.filter((message) => message['method'] === method).map(({ params: given }) => given as Json);
    return {
      answer: this.#naming.answer(answer),
      progress: notified('notifications/progress').map(({ progressToken: _, ...rest }) => rest),
      logs: this.#naming.logs(notified('notifications/message')),
      asked: this.#naming.asked(asked.slice(before)),
    };
  }

  async reads(): Promise<Seen> {
    const { resources, templates, seed } = this.#spec;
    const uris = [
      ...resources.map(({ definition }) => definition.uri),
      ...templates.map(({ definition }) => definition.uriTemplate.replace('{name}', 'a%20b')),
      `gen${seed}://linked/3`,
    ];
    const seen: Seen = {};
    for (const uri of uris) seen[uri] = await this.#ask('resources/read', { uri: this.#naming.uri(uri) });
    return seen;
  }

  async prompts(): Promise<Seen> {
    const seen: Seen = {};
    for (const { definition } of this.#spec.prompts) {
      const params = { name: this.#naming.prompt(definition.name), arguments: { topic: 'tea', tone: 'dry' } };
      seen[definition.name] = await this.#ask('prompts/get', params);
    }
    return seen;
  }

  async completions(): Promise<Seen> {
    const seen: Seen = {};
    const argument = { name: 'topic', value: 't' };
    for (const { definition } of this.#spec.prompts) {
      const ref = { type: 'ref/prompt', name: this.#naming.prompt(definition.name) };
      seen[definition.name] = await this.#ask('completion/complete', { ref, argument });
    }
    for (const { definition } of this.#spec.templates) {
      const ref = { type: 'ref/resource', uri: definition.uriTemplate };
      seen[definition.uriTemplate] = await this.#ask('completion/complete', { ref, argument });
    }
    return seen;
  }

  async #ask(method: string, params: Json): Promise<Answer> {
    return this.#naming.answer(await this.#client.request(method, { ...params, _meta: SENT_META }));
  }

  /** Resource updates and a list of tools that changes, and changes back. */
  async changes(): Promise<Seen> {
    const uri = this.#spec.resources[0]?.definition.uri;
    const watched = uri === undefined ? undefined : this.#naming.uri(uri);
    const end = await this.#client.listen(watched === undefined ? [] : [watched]);
    const { received } = this.#client;
    let updated: unknown;
    if (uri !== undefined) {
      const from = received.length;
      await this.#call('watch', { uri });
      const update = await this.#client.seen(
        from,
        ({ method, params }) =>
          method === 'notifications/resources/updated' && (params as Json)['uri'] === watched,
      );
      updated = this.#naming.said(withoutSubscription(update?.['params']));
    }
    const flips: unknown[] = [];
    for (const hasExtra of [true, false]) {
      const from = received.length;
      await this.#call('flip', {});
      flips.push(await this.#hasListed(hasExtra, from));
    }
    await end();
    return { updated, flips };
  }

  /** Lists again after each announcement, as clients do, until the list is right or nothing is announced. */
  async #hasListed(hasExtra: boolean, from: number): Promise<boolean> {
    const { received } = this.#client;
    for (let next = from; ; ) {
      const changed = await this.#client.seen(
        next,
        ({ method }) => method === 'notifications/tools/list_changed',
      );
      if (changed === undefined) return false;
      next = received.indexOf(changed) + 1;
      const tools = JSON.stringify((await this.lists())['tools']);
      if (tools.includes('"extra"') === hasExtra) return true;
    }
  }

  /** A call that the client gives up reaches the server as cancelled. */
  async cancelled(): Promise<unknown> {
    const { received } = this.#client;
    const key = `${this.#client.kind} ${this.#naming.way} ${received.length}`;
    const giveUp = new AbortController();
    const call = this.#client.request(
      'tools/call',
      { name: this.#naming.tool('wait'), arguments: { key } },
      { signal: giveUp.signal, onprogress: () => {} },
    );
    // The server reports progress when it has begun.
    await this.#client.seen(received.length, ({ method }) => method === 'notifications/progress');
    giveUp.abort('enough');
    const { accepted } = await call;
    const { answer } = await this.#call('waited', { key });
    return { accepted, server: answer.result?.['content'] };
  }

  /** A method that no one but the server knows: of the extension `com.example/<server>`. */
  extension(): Promise<Answer> {
    return this.#ask(`${this.#spec.name}/bounce`, { value: [null, 'می\u200cخواهم', { deep: 1.5 }] });
  }

  async errors(): Promise<Seen> {
    const codeOf = ({ accepted, error }: Answer): unknown => ({
      accepted,
      code: this.#naming.code(error?.['code']),
    });
    const missing = this.#naming.uri(`gen${this.#spec.seed}://missing`);
    return {
      tool: codeOf(
        await this.#client.request('tools/call', { name: this.#naming.tool('nothing'), arguments: {} }),
      ),
      prompt: codeOf(await this.#client.request('prompts/get', { name: this.#naming.prompt('nothing') })),
      resource: codeOf(await this.#client.request('resources/read', { uri: missing })),
      // Over HTTP its code is a status, which SDKs read differently.
      method: (await this.#client.request('com.example/nothing', {})).accepted,
    };
  }
}

function withoutSubscription(params: unknown): unknown {
  if (typeof params !== 'object' || params === null) return params;
  const { _meta: _, ...rest } = params as Json;
  return rest;
}
