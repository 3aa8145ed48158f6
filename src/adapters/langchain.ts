/** Tools for LangChain and LangGraph: a live list, of plain tools or of LangChain's own. */

import { TOOL_SEARCH } from '../catalog/deferral.ts';
import type { JsonSchema } from '../catalog/schemas/write-schema.ts';
import { PlugboardError } from '../errors.ts';
import { isRecord } from '../lib/json.ts';
import type { AdapterHost, AdapterOptions } from './adapter-host.ts';
import { type Answer, failed } from './answer.ts';
import { checkAdapter } from './check-options.ts';
import { keepLive } from './live-tools.ts';
import { MEDIA_TYPES } from './media.ts';
import { type OutputPart, outputOf } from './openai-responses.ts';
import { dataUrl, errorText, isImage, mapParts, type Part, textOf } from './parts.ts';
import { Toolbox } from './toolbox.ts';

/** For ChatOpenAI with the Responses API, parts of that API: before 1.6 it serializes all others as JSON text. */
type LangChainContent =
  | string
  | ({ type: 'text'; text: string } | { type: 'image_url'; image_url: { url: string } })[]
  | OutputPart[];

/** The fields of a `ToolMessage` of LangChain. */
export interface LangChainToolMessage {
  readonly role: 'tool';
  readonly name: string;
  readonly tool_call_id: string;
  readonly status: 'success' | 'error';
  readonly content: LangChainContent;
  /** The whole answer, for programs; models do not get it. */
  readonly artifact: Answer;
}

interface Config {
  readonly signal?: AbortSignal | undefined;
  readonly toolCall?: { readonly id?: string | undefined } | undefined;
  /** Names the thread and the task of a graph. */
  readonly configurable?: unknown;
  /** The state of the graph, in agents. */
  readonly state?: unknown;
}

/** The fields that `tool` of `@langchain/core/tools` accepts. */
interface LangChainFields {
  name: string;
  description: string;
  schema: JsonSchema;
  responseFormat: 'content_and_artifact';
  metadata: Record<string, unknown>;
}

type Run = (input: unknown, config?: Config) => Promise<[LangChainContent, Answer]>;

/** A structured tool of LangChain. */
export interface LangChainTool {
  readonly name: string;
  readonly description: string;
  readonly schema: JsonSchema;
  /** Called with arguments it returns content, with a tool call a message; never rejects. */
  invoke(input: unknown, config?: Config): Promise<LangChainContent | LangChainToolMessage>;
}

/** Options of `toLangChain`; `tools` as in {@link LangChainOptions}. */
export interface LangChainAdapterOptions<Own = LangChainTool> extends AdapterOptions {
  /** Your own tools: first in the list. A tool of the host with the same name is omitted. */
  readonly tools?: readonly Own[] | undefined;
  /**
   * As for every adapter. Default: what the conversation's model accepts in messages of the role `tool`: images
   * (ChatAnthropic), images and PDF (ChatOpenAI with the Responses API), else none.
   */
  readonly media?: AdapterOptions['media'];
}

/** A question about one call, in the form of LangChain's `humanInTheLoopMiddleware`. */
export interface LangChainApproval {
  readonly actionRequests: readonly {
    readonly name: string;
    readonly args: unknown;
    readonly description: string;
  }[];
  readonly reviewConfigs: readonly {
    readonly actionName: string;
    readonly allowedDecisions: readonly ('approve' | 'reject')[];
  }[];
}

export interface LangChainOptions<Made> extends LangChainAdapterOptions<Made> {
  /** `tool` of `@langchain/core/tools`: creates tools that agents and graphs can run. */
  readonly tool: (run: Run, fields: LangChainFields) => Made;
  /**
   * `interrupt` of `@langchain/langgraph`: calls that the host would ask about interrupt the graph, which needs a checkpointer, and
   * can go on in another process: resume with `{ decisions: [{ type: 'approve' }] }` or `{ type: 'reject', message }`, as for
   * `humanInTheLoopMiddleware`. A `ToolNode` with several calls runs again for each answer: a call that was made is not made again
   * if this process resumes the graph. In agents of `createAgent` that holds for every process. Default: the host's `approve` is asked.
   */
  readonly interrupt?: ((request: LangChainApproval) => unknown) | undefined;
}

/**
 * Returns a list for `bindTools` and agents that is kept up to date with the host. Where it is copied, as in
 * `createAgent`, tools that `tool_search` finds are called through `call_tool`. Pass LangChain's `tool` to get
 * LangChain's own tools; they validate arguments before we do, and report invalid ones in LangChain's way. Their
 * messages have the status `success` also for errors; `artifact.isError` is correct.
 *
 * @param host - The host, or a session of it.
 * @param options - LangChain's `tool`, your own tools, media.
 * @returns A live list of tools.
 * @throws PlugboardError `CONFIG_INVALID` if the first argument is not a host, or for an invalid option.
 * @example
 * const tools = toLangChain(host); // or toLangChain(host, { tool })
 * const message = await tools[0].invoke({ type: 'tool_call', id: 'call_1', name: tools[0].name, args: { a: 1, b: 2 } });
 * [message.status, message.content]; // → ['success', '3']
 */
export function toLangChain<Made extends object>(host: AdapterHost, options: LangChainOptions<Made>): Made[];
export function toLangChain<Own extends { readonly name: string } = LangChainTool>(
  host: AdapterHost,
  options?: LangChainAdapterOptions<Own>,
): (LangChainTool | Own)[];
export function toLangChain<Made extends object>(
  host: AdapterHost,
  options: LangChainAdapterOptions<Made> & Partial<LangChainOptions<Made>> = {},
): (Made | LangChainTool)[] {
  checkAdapter('toLangChain', host, options);
  const { tools: own = [], tool: ownMaker, interrupt, ...common } = options;
  const tools: (Made | LangChainTool)[] = [...own];
  const make = ownMaker ?? plainTool;
  const nodes = new GraphNodes<Answer>();
  const toolbox: Toolbox<Made | LangChainTool> = new Toolbox<Made | LangChainTool>(host, {
    ...common,
    provider: 'ai-sdk',
    media: options.media ?? 'text',
    taken: new Set(
      own.flatMap((tool) => ('name' in tool && typeof tool.name === 'string' ? [tool.name] : [])),
    ),
    define: ({ tool, description, schema }) => {
      const { name, server } = tool;
      const run: Run = async (input, config) => {
        const id = config?.toolCall?.id ?? '';
        const api = apiOf(config?.state);
        const media = options.media === undefined ? MEDIA_OF[api] : undefined;
        const call = (approved: boolean): Promise<Answer> =>
          toolbox.call({ name, id, input, signal: config?.signal, media, approved });
        const answer =
          interrupt === undefined
            ? await call(false)
            : await nodes.run(config ?? {}, JSON.stringify([id, name, input]), {
                isAsked: () => toolbox.isAskedAbout(name, input),
                ask: () => refusalOf(name, interrupt(approvalOf(name, description, input))),
                call,
              });
        // A search changes the tools of its caller only, so there is no event.
        if (name === TOOL_SEARCH) refresh();
        const parts = toolbox.parts(answer, media);
        return [api === 'responses' ? outputOf(answer, parts) : contentOf(answer, parts), answer];
      };
      const metadata = { server, tool: tool.tool };
      return make(run, { name, description, schema, responseFormat: 'content_and_artifact', metadata });
    },
  });
  let given: readonly (Made | LangChainTool)[] = [];
  const refresh = keepLive(toolbox, tools, (target, { definitions }) => {
    const before = new Set(given);
    const others = target.filter((tool) => !before.has(tool));
    given = [...definitions.values()];
    target.splice(0, target.length, ...others, ...given);
  });
  return tools;
}

function approvalOf(name: string, description: string, args: unknown): LangChainApproval {
  return {
    actionRequests: [{ name, args, description }],
    reviewConfigs: [{ actionName: name, allowedDecisions: ['approve', 'reject'] }],
  };
}

/** Undefined if the person approved; every other answer is a refusal. */
function refusalOf(name: string, resumed: unknown): Answer | undefined {
  const decisions = isRecord(resumed) ? resumed['decisions'] : undefined;
  const decision: unknown = Array.isArray(decisions) ? decisions[0] : undefined;
  if (!isRecord(decision)) return denied(name, '');
  if (decision['type'] === 'approve') return undefined;
  return denied(name, typeof decision['message'] === 'string' ? decision['message'] : '');
}

function denied(name: string, message: string): Answer {
  const why = message === '' ? 'the user denied it' : `the user denied it: ${message}`;
  return failed(new PlugboardError('DENIED', `${name} was not called: ${why}`));
}

type Api = 'anthropic' | 'responses' | 'other';

const MEDIA_OF: Readonly<Record<Api, ReadonlySet<string> | undefined>> = {
  anthropic: new Set(MEDIA_TYPES.anthropic.filter((type) => type.startsWith('image/'))),
  responses: new Set(MEDIA_TYPES['openai-responses']),
  other: undefined,
};

/** Returns the API of the model that made the calls: the last message of the state names its provider. */
function apiOf(state: unknown): Api {
  const messages = isRecord(state) ? state['messages'] : undefined;
  const last: unknown = Array.isArray(messages) ? messages.at(-1) : undefined;
  const metadata = isRecord(last) ? last['response_metadata'] : undefined;
  if (!isRecord(metadata)) return 'other';
  if (metadata['model_provider'] === 'anthropic') return 'anthropic';
  const isResponses = metadata['model_provider'] === 'openai' && metadata['object'] === 'response';
  return isResponses ? 'responses' : 'other';
}

function plainTool(run: Run, { name, description, schema }: LangChainFields): LangChainTool {
  return {
    name,
    description,
    schema,
    async invoke(input, config) {
      const call = isToolCall(input) ? input : undefined;
      const id = call?.id ?? config?.toolCall?.id;
      const [content, artifact] = await run(call === undefined ? input : call.args, {
        ...config,
        toolCall: { id },
      });
      if (id === undefined) return content;
      const status = artifact.isError ? 'error' : 'success';
      return { role: 'tool', name, tool_call_id: id, status, content, artifact };
    },
  };
}

function isToolCall(input: unknown): input is { readonly id?: string; readonly args: unknown } {
  return isRecord(input) && input['type'] === 'tool_call' && 'args' in input;
}

function contentOf(answer: Answer, parts: readonly Part[]): LangChainContent {
  if (answer.isError) return errorText(answer, parts);
  if (!parts.some((part) => part.type === 'media' && isImage(part))) return textOf(parts);
  return mapParts<{ type: 'text'; text: string } | { type: 'image_url'; image_url: { url: string } }>(
    parts,
    (text) => ({ type: 'text', text }),
    (part) => (isImage(part) ? { type: 'image_url', image_url: { url: dataUrl(part) } } : undefined),
  );
}

/** Nodes whose calls are kept, in this process. Those that wait for a person are kept longer. */
const MAX_RUNNING = 100;
const MAX_INTERRUPTED = 1000;

/** One call, in the steps that a node repeats. */
interface Steps<Result> {
  isAsked(): Promise<boolean>;
  /** Throws to interrupt the graph. Returns the result of a refused call, or undefined to go on. */
  ask(): Result | undefined;
  /** Never rejects. */
  call(approved: boolean): Promise<Result>;
}

interface Node<Result> {
  readonly asked: Set<string>;
  readonly results: Map<string, Promise<Result>>;
  /** LangGraph hands out answers by the order of the questions, so they are asked one by one. */
  turn: Promise<unknown>;
}

/** Calls in nodes of LangGraph: it runs a whole node again for each answer of a person, and no call may be made twice. */
class GraphNodes<Result> {
  readonly #running = new Map<string, Node<Result>>();
  readonly #interrupted = new Map<string, Node<Result>>();
  /** How often each run of a node has made a call: ids of some models are not unique. */
  readonly #made = new WeakMap<object, Map<string, number>>();

  /** Returns the result that the call had when its node ran before; else asks about the call and makes it. */
  async run(config: Config, identity: string, steps: Steps<Result>): Promise<Result> {
    const { place, run } = placeOf(config);
    const node = this.#nodeAt(place);
    const key = `${this.#count(run, identity)} ${identity}`;
    const decided = node.turn.then(async () => {
      // Also if the call was allowed since: its answer would be taken for that of the next question.
      const isAsked = node.asked.has(key) || (await steps.isAsked());
      if (!isAsked) return { isAsked, refused: undefined };
      node.asked.add(key);
      try {
        return { isAsked, refused: steps.ask() };
      } catch (interruption) {
        if (place !== undefined) this.#keep(place, node);
        throw interruption;
      }
    });
    node.turn = decided.catch(() => undefined);
    const { isAsked, refused } = await decided;
    if (refused !== undefined) return refused;
    const result = node.results.get(key) ?? steps.call(isAsked);
    node.results.set(key, result);
    await result;
    // A run that was cancelled and is resumed makes its calls again.
    if (config.signal?.aborted === true) node.results.delete(key);
    return result;
  }

  #nodeAt(place: string | undefined): Node<Result> {
    const known =
      place === undefined ? undefined : (this.#interrupted.get(place) ?? this.#running.get(place));
    if (known !== undefined) return known;
    const node = { asked: new Set<string>(), results: new Map(), turn: Promise.resolve() };
    if (place !== undefined) bound(this.#running.set(place, node), MAX_RUNNING);
    return node;
  }

  #keep(place: string, node: Node<Result>): void {
    this.#running.delete(place);
    bound(this.#interrupted.set(place, node), MAX_INTERRUPTED);
  }

  #count(run: object | undefined, identity: string): number {
    if (run === undefined) return 0;
    const made = this.#made.get(run) ?? new Map<string, number>();
    const count = made.get(identity) ?? 0;
    this.#made.set(run, made.set(identity, count + 1));
    return count;
  }
}

/** The thread and the task, which a resumed run has again and a replayed one has not; and an object of this run alone. */
function placeOf({ configurable }: Config): { readonly place?: string; readonly run?: object } {
  if (!isRecord(configurable)) return {};
  const { thread_id: thread, checkpoint_ns: task, __pregel_scratchpad: scratchpad } = configurable;
  if (typeof task !== 'string' || task === '') return {};
  const place = JSON.stringify([thread, task]);
  return typeof scratchpad === 'object' && scratchpad !== null ? { place, run: scratchpad } : { place };
}

function bound(nodes: Map<string, unknown>, limit: number): void {
  if (nodes.size <= limit) return;
  for (const oldest of nodes.keys()) return void nodes.delete(oldest);
}
