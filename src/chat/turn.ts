/** Runs one turn: sends the person's message to the model and executes its calls until its final answer. */

import type { LanguageModelUsage, ModelMessage } from 'ai';
import { toAiSdk } from '../adapters/ai-sdk.ts';
import type { Answer } from '../adapters/answer.ts';
import { asPlugboardError, PlugboardError } from '../errors.ts';
import type { AgentEvent, AgentHost, Turn } from './agent-events.ts';
import type { OpenModel } from './chat-model.ts';
import { importSdk } from './chat-model.ts';
import { modelFailure } from './model-failure.ts';

export interface TurnOptions {
  readonly host: AgentHost;
  readonly model: OpenModel;
  readonly system: string;
  readonly messages: readonly ModelMessage[];
  readonly maxSteps: number;
  readonly signal: AbortSignal;
  /** Cancels the running calls and lets the turn continue. */
  readonly callSignal: () => AbortSignal;
  readonly emit: (event: AgentEvent) => void;
  /** Called with the messages of each completed step, so that only complete steps are stored. */
  readonly keep: (messages: readonly ModelMessage[], usage: LanguageModelUsage) => Promise<void>;
}

/** A call as the SDK names it. */
interface Called {
  readonly toolCallId: string;
  readonly toolName: string;
}

/** Maximum number of retries after a temporary error of the provider. */
const MAX_RETRIES = 2;

export async function runTurn(options: TurnOptions): Promise<Turn> {
  const { model, signal } = options;
  const { streamText, stepCountIs } = await importSdk();
  let kept = 0;
  let failure: unknown;
  let requests = 0;
  const totals = { inputTokens: 0, outputTokens: 0, saved: 0, calls: 0 };
  const begun = new Map<string, number>();
  const end = ({ toolCallId: id, toolName: name }: Called, answer: Answer): void => {
    const now = performance.now();
    const ms = now - (begun.get(id) ?? now);
    begun.delete(id);
    options.emit({ type: 'result', id, name, ms, answer });
  };
  const result = streamText({
    model: model.model,
    system: options.system,
    messages: [...options.messages],
    tools: toAiSdk(callsEndedBy(options), {
      // The set of tools is read again for each request.
      found: 'name',
      // A turn belongs to one conversation.
      deduplicate: true,
      onProgress: (progress, { id, name }) => options.emit({ type: 'progress', id, name, progress }),
    }),
    stopWhen: stepCountIs(options.maxSteps),
    abortSignal: signal,
    maxRetries: MAX_RETRIES,
    // The error is thrown below; the default handler would print it.
    onError: ({ error }) => {
      failure ??= error;
    },
    onStepFinish: async ({ response, usage }) => {
      const fresh = response.messages.slice(kept);
      kept = response.messages.length;
      requests++;
      count(totals, usage, options.host);
      await options.keep(fresh, usage);
    },
  });

  let text = '';
  try {
    for await (const part of result.fullStream) {
      switch (part.type) {
        case 'start-step':
          text = '';
          break;
        case 'text-delta':
          text += part.text;
          options.emit({ type: 'text', text: part.text });
          break;
        case 'reasoning-delta':
          options.emit({ type: 'reasoning', text: part.text });
          break;
        case 'tool-call':
          totals.calls++;
          begun.set(part.toolCallId, performance.now());
          options.emit({ type: 'call', id: part.toolCallId, name: part.toolName, arguments: part.input });
          break;
        case 'tool-result':
          end(part, part.output as Answer);
          break;
        case 'tool-error':
          end(part, notCalled(part.error));
          break;
        case 'error':
          failure ??= part.error;
          break;
      }
    }
  } catch (thrown) {
    failure ??= thrown;
  }
  if (signal.aborted) throw new PlugboardError('CANCELLED', 'The turn was cancelled');
  if (failure !== undefined) throw modelFailure(failure, model.name);
  const { inputTokens, outputTokens, saved, calls } = totals;
  return {
    text,
    finish: finishOf(await result.finishReason, requests >= options.maxSteps),
    usage: { inputTokens, outputTokens },
    saved,
    calls,
  };
}

/** Wraps the host: `callSignal` also cancels its calls without ending the turn, and refused calls are reported. */
function callsEndedBy({ host, callSignal, emit }: TurnOptions): AgentHost {
  return {
    tools: () => host.tools(),
    call: (name, args, options = {}) => {
      const signals = [callSignal(), ...(options.signal === undefined ? [] : [options.signal])];
      return host
        .call(name, args, { ...options, signal: AbortSignal.any(signals) })
        .catch((thrown: unknown) => {
          const { message: reason, detail } = asPlugboardError(thrown);
          if (detail.advice !== undefined) emit({ type: 'refused', name, reason, advice: detail.advice });
          throw thrown;
        });
    },
    ...(host.on === undefined ? {} : { on: (event, listener) => host.on?.(event, listener) ?? (() => {}) }),
    expand: (text, given) => host.expand(text, given),
    instructions: () => host.instructions(),
    definitionTokens: () => host.definitionTokens(),
  };
}

/** Result for a call of an unknown tool or with invalid JSON; sent to the model and shown to the person. */
function notCalled(thrown: unknown): Answer {
  const message = thrown instanceof Error ? thrown.message : String(thrown);
  return { content: [{ type: 'text', text: message }], isError: true };
}

function count(
  totals: { inputTokens: number; outputTokens: number; saved: number },
  usage: LanguageModelUsage,
  host: AgentHost,
): void {
  totals.inputTokens += usage.inputTokens ?? 0;
  totals.outputTokens += usage.outputTokens ?? 0;
  const { all, given } = host.definitionTokens();
  totals.saved += Math.max(0, all - given);
}

function finishOf(reason: string, isAtLimit: boolean): Turn['finish'] {
  if (reason === 'tool-calls' && isAtLimit) return 'steps';
  if (reason === 'length') return 'length';
  return reason === 'content-filter' ? 'refused' : 'stop';
}
