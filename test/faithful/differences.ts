/**
 * The deliberate differences between a server of one's own and the same server through the gateway: each row says what
 * and why, and undoes it here, in what was recorded through the gateway, so that everything else must be equal.
 * docs/faithful.md is written from this table.
 */

import type { GeneratedSpec } from '../fixtures/generated-spec.mjs';
import type { Answer, Json, Kind } from './sdk-client.ts';

export interface Difference {
  readonly what: string;
  readonly why: string;
}

export type DifferenceId =
  | 'names'
  | 'order'
  | 'addresses'
  | 'attribution'
  | 'identity'
  | 'era'
  | 'tasks'
  | 'logs'
  | 'pins'
  | 'roots'
  | 'blocks'
  | 'defaults'
  | 'causes'
  | 'extensions';

export const DIFFERENCES: Readonly<Record<DifferenceId, Difference>> = {
  names: {
    what: 'Tools and prompts are called `server__name`; characters other than letters, digits, `_` and `-` become `_`.',
    why: 'Several servers are one server here, and providers accept no other characters. `"naming": "plain"` keeps the own names where they are unique.',
  },
  order: {
    what: 'Lists are sorted by server and name, and come as one page.',
    why: 'The same servers give the same list to every client, so prompt caches of models stay valid.',
  },
  addresses: {
    what: 'Links and embedded resources in results, and addresses that several servers list, are `plugboard://server/<server>/<address>`.',
    why: 'An address belongs to the server that gave it, and no other server is asked for it.',
  },
  attribution: {
    what: 'Questions begin with the name of the server that asks; requests for completions have it in the first line of `systemPrompt`.',
    why: 'Clients show every question as one of the gateway, so the text has to name the server.',
  },
  identity: {
    what: 'Server name, version, instructions and capabilities are those of the gateway, also in `_meta` of modern results.',
    why: 'The client is connected to the gateway; instructions of all servers are joined.',
  },
  era: {
    what: '`resultType`, `ttlMs`, `cacheScope`, `elicitationId`, `roots.listChanged` and the code of a missing resource are those of the era of the client, whatever the server is.',
    why: 'Each client is spoken to in its own era; how long a list is fresh is decided by the gateway, which has all of them.',
  },
  logs: {
    what: 'A log message without `logger` has the name of its server there, and `_meta` has `plugboard/server`. Repaired and omitted items are reported to the client as log messages.',
    why: 'Messages of all servers arrive on one connection, and nothing is changed silently.',
  },
  pins: {
    what: 'A definition of a remote server that changes is held back until it is accepted (not with `"pins": "warn"`).',
    why: 'A server that is trusted once could change what its tools do.',
  },
  blocks: {
    what: 'A content block of a type that no revision has is text: its JSON.',
    why: 'The official clients refuse the whole result of a call for one block that they do not know.',
  },
  defaults: {
    what: 'Results of tools always have `isError`; an empty `description` of a tool is left out.',
    why: 'Both mean what their absence means; programs that read `isError` without a default get one.',
  },
  causes: {
    what: 'The message of an error has `data.error` at its end, if that is text.',
    why: 'Servers that answer with a general message write the cause there, and clients show messages to people and models. Code and data stay as they are.',
  },
  extensions: {
    what: 'Legacy servers do not learn which extensions a client has.',
    why: 'They get capabilities once, when they start, and one process works for several clients; modern servers get them with each request.',
  },
  roots: {
    what: 'A client may be asked for its roots more often, or before a server asks.',
    why: 'A server has one set of roots for a process; the gateway has to know those of a client before it chooses the process for its call.',
  },
  tasks: {
    what: 'Servers see the tasks extension among the capabilities of every client. `execution.taskSupport` of a tool is `optional` for `required`, and absent for `forbidden`.',
    why: 'The gateway follows tasks for clients that do not have them, so any tool can be called either way.',
  },
};

/** Differences that the generated servers do not show; other tests and pages have them. */
export const OTHERS: readonly Difference[] = [
  {
    what: '`_meta` and unknown members of a list result itself are not passed on; those of its items are.',
    why: 'A list is made of the lists of several servers and of caches, so it has no single author.',
  },
  {
    what: 'Notifications of extensions are passed in neither direction; requests of extensions are.',
    why: 'A notification does not name the client or server it is for, and one process works for several clients.',
  },
  {
    what: 'Members of an elicitation that no revision has are left out, in the question, its form and the answer; `_meta` is kept.',
    why: 'A client could show them as words of the gateway.',
  },
  {
    what: 'Hidden text is removed from text of servers, and reported once.',
    why: 'It can give a model orders that no person sees ([calls.md](calls.md), [security.md](security.md)).',
  },
  {
    what: 'A result of more than `maxOutputTokens` is cut; a note has the path of the whole result, and how to read it.',
    why: 'One answer could fill the context of a model ([calls.md](calls.md)).',
  },
  {
    what: 'A definition or result that the official schema of the revision refuses is repaired, or left out.',
    why: 'Official clients refuse a whole list for one such item, and with it the tools of all other servers ([gateway.md](gateway.md)).',
  },
  {
    what: 'Numbers in arguments and results are those of JavaScript: integers beyond 2^53 are rounded, `1.0` is `1`, and `1e400` is `null`. Ids of requests are exact.',
    why: 'JSON is read and written by JavaScript. Servers that need such numbers exactly have to use text.',
  },
  {
    what: 'A completion has at most 8 192 tokens, whatever `maxTokens` a server requests, and there are limits for their number.',
    why: 'Servers spend what the user pays for ([calls.md](calls.md)).',
  },
  {
    what: 'At most 100 log messages a second of one server pass, and one of more than 64 KB becomes text, cut.',
    why: 'One server could keep the connection of all from working.',
  },
  {
    what: 'Servers see `plugboard` as `clientInfo`, and a `progressToken`, a log level and empty `arguments` that the client did not send.',
    why: 'They are connected to the gateway, which has its own tokens and levels and passes on the messages that each client requested.',
  },
  {
    what: 'A question of a legacy server outside of any call is not put to a client, but for roots.',
    why: 'It does not name its call, and no client may be asked about the call of another.',
  },
];

/** How often each difference was undone: a row that is never used is out of date. */
export const used: Map<DifferenceId, number> = new Map();

function count(id: DifferenceId): void {
  used.set(id, (used.get(id) ?? 0) + 1);
}

/** What a server's things are called on one way, and what is recorded of what comes back. */
export interface Naming {
  readonly way: string;
  tool(name: string): string;
  prompt(name: string): string;
  uri(uri: string): string;
  /** The items of a list that are this server's, in a fixed order. */
  own(key: string, items: readonly Json[]): readonly Json[];
  answer(answer: Answer): Answer;
  said(value: unknown): unknown;
  logs(messages: readonly Json[]): readonly unknown[];
  asked(questions: readonly Json[]): readonly Json[];
  /** The code of an error, as a legacy server and a modern one would both have it. */
  code(code: unknown): unknown;
}

const NOT_FOUND_LEGACY = -32002;
const NOT_FOUND_MODERN = -32602;

/** Ids of pages are in legacy messages alone: they are compared where both ends are legacy. */
function hasPageIds({ era }: GeneratedSpec, kind: Kind): boolean {
  return era === 'legacy' && kind !== 'SDK v2 modern';
}

function withoutPageId({ elicitationId, ...params }: Json): Json {
  if (elicitationId !== undefined) count('era');
  return params;
}

const META = 'io.modelcontextprotocol/serverInfo';
const ENVELOPE = new Set(['resultType', 'ttlMs', 'cacheScope']);

function sorted(key: string, all: readonly Json[]): readonly Json[] {
  const items = key === 'tools' ? all.map(withoutDefaults) : all;
  const id = key === 'resources' ? 'uri' : key === 'resourceTemplates' ? 'uriTemplate' : 'name';
  return items.toSorted((a, b) => (String(a[id]) < String(b[id]) ? -1 : 1));
}

/** A tool without members that mean what their absence means. */
function withoutDefaults(tool: Json): Json {
  const { description, execution, ...rest } = tool;
  const isForbidden = (execution as Json | undefined)?.['taskSupport'] === 'forbidden';
  return {
    ...rest,
    ...(description === undefined || description === '' ? {} : { description }),
    ...(execution === undefined || isForbidden ? {} : { execution }),
  };
}

/** The envelope of an era, and who answered: not part of what a server says. */
function bare({ result, ...rest }: Answer): Answer {
  if (result === undefined) return rest;
  const entries = Object.entries(result).filter(([key]) => !ENVELOPE.has(key));
  const { _meta, isError, ...others } = Object.fromEntries(entries);
  const kept = isError === undefined || isError === false ? others : { ...others, isError };
  if (isError === false) count('defaults');
  if (entries.length < Object.keys(result).length) count('era');
  if (typeof _meta !== 'object' || _meta === null) return { ...rest, result: kept };
  const { [META]: server, ...meta } = _meta as Json;
  if (server !== undefined) count('identity');
  // Modern results have `_meta` in any case.
  return { ...rest, result: Object.keys(meta).length === 0 ? kept : { ...kept, _meta: meta } };
}

export function direct(spec: GeneratedSpec, kind: Kind): Naming {
  const same = (name: string): string => name;
  return {
    way: 'direct',
    tool: same,
    prompt: same,
    uri: same,
    own: sorted,
    answer: (answer) => withKnownBlocks(bare(answer)),
    said: (value) => (spec.era === 'both' ? withoutRootChanges(value) : withoutExtensions(value)),
    logs: (messages) => messages,
    asked: (questions) =>
      questions.filter(isForPeople).map(({ method, params }) => {
        const given = withLines(params as Json);
        return { method, params: hasPageIds(spec, kind) ? given : withoutPageId(given) };
      }),
    code: (code) => (kind === 'SDK v2 modern' && code === NOT_FOUND_LEGACY ? NOT_FOUND_MODERN : code),
  };
}

/** Roots are compared where they arrive: the server repeats them in its answer. */
function isForPeople({ method }: Json): boolean {
  if (method === 'roots/list') count('roots');
  return method !== 'roots/list';
}

const BLOCKS = new Set<unknown>(['text', 'image', 'audio', 'resource', 'resource_link']);

/** What the gateway makes of a result with blocks that the SDKs refuse. */
function withKnownBlocks(answer: Answer): Answer {
  const content = answer.result?.['content'] as Json[] | undefined;
  if (content === undefined || content.every(({ type }) => BLOCKS.has(type))) return answer;
  count('blocks');
  const shown = content.map((block) => {
    if (BLOCKS.has(block['type'])) return block;
    const { annotations, _meta } = block;
    return {
      type: 'text',
      text: JSON.stringify(block),
      ...(annotations === undefined ? {} : { annotations }),
      ...(_meta === undefined ? {} : { _meta }),
    };
  });
  return { accepted: true, result: { ...answer.result, content: shown } };
}

/** The gateway quotes the lines of a message one by one. */
function withLines(params: Json): Json {
  const { message } = params;
  return typeof message === 'string' ? { ...params, message: message.replaceAll('\r\n', '\n') } : params;
}

export function throughGateway(way: string, spec: GeneratedSpec, kind: Kind): Naming {
  const { name: server } = spec;
  const named = (name: string): string => `${server}__${name.replace(/[^A-Za-z0-9_-]/g, '_')}`;
  const boundPrefix = `plugboard://server/${server}/`;
  const unbound = (text: string): string => {
    if (!text.startsWith(boundPrefix)) return text;
    count('addresses');
    return decodeURIComponent(text.slice(boundPrefix.length));
  };
  const said = (value: unknown): unknown => {
    if (typeof value === 'string') return unbound(value);
    if (Array.isArray(value)) return value.map(said);
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, said(inner)]));
  };
  const ownNames = new Map<string, string>(
    [...spec.tools, ...spec.prompts].map(({ definition: { name } }) => [named(name), name]),
  );
  const uris = new Set<unknown>([
    ...spec.resources.map(({ definition }) => definition.uri),
    ...spec.templates.map(({ definition }) => definition.uriTemplate),
  ]);
  const isOwn = (key: string, item: Json): boolean => {
    if (key === 'tools' || key === 'prompts') return String(item['name']).startsWith(`${server}__`);
    const uri = String(item['uri'] ?? item['uriTemplate']);
    return uri.startsWith(boundPrefix) || uris.has(uri);
  };
  const shared = new Set<string>();
  return {
    way,
    tool: named,
    prompt: named,
    uri: (uri) => (shared.has(uri) || !uris.has(uri) ? `${boundPrefix}${encodeURIComponent(uri)}` : uri),
    own: (key, items) => {
      count('order');
      const own = items.filter((item) => isOwn(key, item));
      for (const { uri } of own) {
        if (typeof uri === 'string' && uri.startsWith(boundPrefix)) shared.add(unbound(uri));
      }
      return sorted(
        key,
        own.map((item) => {
          const { name } = item;
          const isNamed = key === 'tools' || key === 'prompts';
          if (isNamed) count('names');
          const plain = ownNames.get(String(name)) ?? String(name).slice(server.length + 2);
          return said(isNamed ? { ...item, name: plain } : item) as Json;
        }),
      );
    },
    answer: (answer) => said(withoutCause(bare(answer))) as Answer,
    said: (value) => {
      const shown = withoutTasks(value);
      return said(spec.era === 'both' ? withoutRootChanges(shown) : withoutExtensions(shown));
    },
    logs: (messages) => messages.filter(isOfServer).map((message) => said(unlabelled(server, message))),
    asked: (questions) =>
      questions.filter(isForPeople).map((question) => {
        const { method, params } = unattributed(server, question);
        return { method, params: hasPageIds(spec, kind) ? params : withoutPageId(params as Json) };
      }),
    code: (code) => code,
  };
}

const OWN_MESSAGES = /^repaired for clients of the gateway: |: kept as JSON text$/;

function isOfServer({ data }: Json): boolean {
  return typeof data !== 'string' || !OWN_MESSAGES.test(data);
}

function unlabelled(server: string, { _meta, logger, ...rest }: Json): Json {
  const { 'plugboard/server': from, ...meta } = (_meta ?? {}) as Json;
  if (from !== undefined) count('logs');
  return {
    ...rest,
    ...(logger === server || logger === undefined ? {} : { logger }),
    ...(Object.keys(meta).length === 0 ? {} : { _meta: meta }),
  };
}

/** Modern clients send servers no notifications, so only legacy ones announce that their roots change. */
function withoutRootChanges(value: unknown): unknown {
  const { meta, capabilities } = (value ?? {}) as { meta?: Json; capabilities?: Json };
  return capabilities?.['roots'] === undefined
    ? value
    : { meta, capabilities: { ...capabilities, roots: {} } };
}

function withoutExtensions(value: unknown): unknown {
  const { meta, capabilities } = (value ?? {}) as { meta?: Json; capabilities?: Json };
  if (capabilities === undefined) return value;
  const { extensions, ...rest } = capabilities;
  if (extensions !== undefined) count('extensions');
  return { meta, capabilities: rest };
}

const TASKS = 'io.modelcontextprotocol/tasks';

/** What the tool `meta` reports that its server received about the client. */
function withoutTasks(value: unknown): unknown {
  const { meta, capabilities } = (value ?? {}) as { meta?: Json; capabilities?: Json };
  const { [TASKS]: tasks, ...extensions } = (capabilities?.['extensions'] ?? {}) as Json;
  if (tasks === undefined) return value;
  count('tasks');
  return { meta, capabilities: { ...capabilities, extensions } };
}

function withoutCause(answer: Answer): Answer {
  const { message, data } = (answer.error ?? {}) as { message?: string; data?: { error?: unknown } };
  const cause = typeof data?.error === 'string' ? `: ${data.error}` : undefined;
  if (cause === undefined || message?.endsWith(cause) !== true) return answer;
  count('causes');
  return { ...answer, error: { ...answer.error, message: message.slice(0, -cause.length) } };
}

/** A question without the words by which the gateway says whose it is. */
function unattributed(server: string, { method, params }: Json): Json {
  const { _meta, ...given } = params as Json;
  const { 'plugboard/server': _server, ...meta } = (_meta ?? {}) as Json;
  const kept = Object.keys(meta).length === 0 ? given : { ...given, _meta: meta };
  const { message, systemPrompt, ...rest } = kept;
  if (typeof message === 'string') {
    count('attribution');
    return { method, params: { ...kept, message: ownMessage(server, message) } };
  }
  if (typeof systemPrompt !== 'string') return { method, params: kept };
  const [first, , ...lines] = systemPrompt.split('\n');
  if (first !== `${server} asks for this completion.`) return { method, params: kept };
  count('attribution');
  return { method, params: lines.length === 0 ? rest : { ...rest, systemPrompt: lines.join('\n') } };
}

function ownMessage(server: string, message: string): string {
  const [first = '', ...lines] = message.split('\n');
  const head = `${server} asks:`;
  if (first.startsWith(`${head} `)) return first.slice(head.length + 1);
  const quoted = lines.filter((line) => line.startsWith('> ')).map((line) => line.slice(2));
  return first === head ? quoted.join('\n') : message;
}
