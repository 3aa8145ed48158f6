/** An agent: runs turns of one conversation with a model and the tools of a host. */

import type { ModelMessage, UserContent } from 'ai';
import { isImage, mapParts, partsOf } from '../adapters/parts.ts';
import { TOOL_SEARCH } from '../catalog/deferral.ts';
import type { PromptMessage } from '../catalog/prompts.ts';
import { estimateTokens } from '../catalog/tokens.ts';
import { PlugboardError } from '../errors.ts';
import type { AgentEvent, AgentHost, Turn } from './agent-events.ts';
import type { OpenModel } from './chat-model.ts';
import { importSdk } from './chat-model.ts';
import type { Conversation } from './conversation.ts';
import { modelFailure } from './model-failure.ts';
import { runTurn } from './turn.ts';

/** Maximum requests to the model in one turn. */
const DEFAULT_MAX_STEPS = 100;
const DEFAULT_CONTEXT_TOKENS = 200_000;
/** Fraction of the context window above which the next turn starts with a summary. */
const COMPACT_AT = 0.8;

const BASE_INSTRUCTIONS = `You are a capable assistant in a terminal. Use the tools you are given when they help, in parallel
where they do not depend on each other, and say plainly when one failed. Answer briefly, in the language of the person.`;

/** Keys of messages that are excluded from the estimate, because their size does not reflect their token count. */
const BINARY: ReadonlySet<string> = new Set(['data', 'image']);
/** Maximum number of tools that one search may load. */
const MAX_SELECTED = 20;

export interface AgentOptions {
  readonly host: AgentHost;
  readonly model: OpenModel;
  readonly conversation: Conversation;
  /** Replaces the default instructions. */
  readonly baseInstructions?: string | undefined;
  /** Appended to the instructions. */
  readonly developerInstructions?: string | undefined;
  readonly compactPrompt?: string | undefined;
  readonly contextTokens?: number | undefined;
  readonly maxSteps?: number | undefined;
}

export interface SendOptions {
  readonly signal: AbortSignal;
  readonly emit: (event: AgentEvent) => void;
}

export class Agent {
  readonly conversation: Conversation;
  readonly #options: AgentOptions;
  #calls = new AbortController();
  #running = 0;

  constructor(options: AgentOptions) {
    this.#options = options;
    this.conversation = options.conversation;
  }

  /** Cancels the running calls, and lets the model continue with their results; false if none is running. */
  cancelCalls(): boolean {
    if (this.#running === 0) return false;
    const reason = new PlugboardError('CANCELLED', 'The person cancelled this call');
    this.#calls.abort(reason);
    this.#calls = new AbortController();
    return true;
  }

  /** Runs one turn. Its messages are stored even if it fails; rejects with a PlugboardError. */
  async send(text: string, { signal, emit }: SendOptions): Promise<Turn> {
    const { host, model, contextTokens = DEFAULT_CONTEXT_TOKENS } = this.#options;
    if (tokensOf(this.conversation) > contextTokens * COMPACT_AT) await this.compact({ signal, emit });
    await this.#findAgain(signal);
    const { messages, unknown } = await host.expand(text, { signal });
    for (const what of unknown) emit({ type: 'unknown', what });
    await this.conversation.append(toModelMessages(messages));
    return runTurn({
      host,
      model,
      system: this.#system(),
      messages: this.conversation.messages,
      maxSteps: this.#options.maxSteps ?? DEFAULT_MAX_STEPS,
      signal,
      callSignal: () => this.#calls.signal,
      emit: (event) => {
        if (event.type === 'call') this.#running++;
        if (event.type === 'result') this.#running--;
        emit(event);
      },
      keep: (fresh, { inputTokens, outputTokens = 0 }) =>
        this.conversation.append(fresh, {
          tokens: inputTokens === undefined ? undefined : inputTokens + outputTokens,
          found: foundBy(host),
        }),
    }).finally(() => {
      this.#running = 0;
    });
  }

  /** Replaces the messages so far with a summary. */
  async compact({ signal, emit }: SendOptions): Promise<void> {
    const { model, compactPrompt = DEFAULT_COMPACT_PROMPT } = this.#options;
    const before = this.conversation.messages.length;
    if (before === 0) return;
    await this.conversation.compact(
      await summarise({ model, messages: this.conversation.messages, prompt: compactPrompt, signal }),
    );
    emit({ type: 'compacted', before });
  }

  /** Loads the deferred tools that the model found earlier, because its conversation shows that it used them. */
  async #findAgain(signal: AbortSignal): Promise<void> {
    const { host } = this.#options;
    const given = new Set(host.tools().map(({ name }) => name));
    if (!given.has(TOOL_SEARCH)) return;
    const missing = this.conversation.state.found.filter((name) => !given.has(name));
    for (let at = 0; at < missing.length; at += MAX_SELECTED) {
      const names = missing.slice(at, at + MAX_SELECTED);
      await host.call(TOOL_SEARCH, { query: `select:${names.join(',')}`, limit: MAX_SELECTED }, { signal });
    }
  }

  #system(): string {
    const { host, baseInstructions = BASE_INSTRUCTIONS, developerInstructions = '' } = this.#options;
    return [baseInstructions, developerInstructions, host.instructions()]
      .filter((part) => part !== '')
      .join('\n\n');
  }
}

/** Returns the used tokens of the context window, as reported by the provider or estimated. */
function tokensOf({ state, messages }: Conversation): number {
  if (state.tokens !== undefined) return state.tokens;
  const text = JSON.stringify(messages, (key, value) => (BINARY.has(key) ? undefined : value));
  return estimateTokens(text);
}

function foundBy(host: AgentHost): readonly string[] {
  return host
    .tools()
    .filter(({ deferred }) => deferred === true)
    .map(({ name }) => name);
}

type UserPart = Exclude<UserContent, string>[number];

/** Converts the person's expanded input to messages for a model. */
function toModelMessages(messages: readonly PromptMessage[]): ModelMessage[] {
  return messages.map(({ role, content }): ModelMessage => {
    const parts = mapParts<UserPart>(
      partsOf({ content: [content], isError: false }),
      (text) => ({ type: 'text', text }),
      (part) =>
        isImage(part)
          ? { type: 'image', image: part.data, mediaType: part.mimeType }
          : { type: 'file', data: part.data, mediaType: part.mimeType },
    );
    if (role === 'user') return { role, content: parts };
    // A prompt may also contain assistant messages; they are sent as text, which every provider accepts.
    return {
      role,
      content: parts.map((part) => (part.type === 'text' ? part.text : `[${part.type}]`)).join('\n'),
    };
  });
}

/** Summarizes a conversation that is too long for its model. */
const DEFAULT_COMPACT_PROMPT: string = `Summarise this conversation for yourself, so that you can go on without it: what the person asked for, what was
decided, what was done with which tools and with what result (names, paths, numbers), and what is still open.`;

interface SummariseOptions {
  readonly model: OpenModel;
  readonly messages: readonly ModelMessage[];
  readonly prompt: string;
  readonly signal: AbortSignal;
}

async function summarise({ model, messages, prompt, signal }: SummariseOptions): Promise<ModelMessage[]> {
  const { generateText } = await importSdk();
  try {
    const { text } = await generateText({
      model: model.model,
      messages: [...messages, { role: 'user', content: prompt }],
      abortSignal: signal,
    });
    return [{ role: 'user', content: `What happened so far, summarised:\n\n${text}` }];
  } catch (thrown) {
    throw modelFailure(thrown, model.name);
  }
}
