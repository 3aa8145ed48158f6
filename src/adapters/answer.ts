/** Runs one call that always ends in an answer: every failure is data for the model, never an exception. */

import type { CallOptions } from '../call/call.ts';
import type { ContentBlock } from '../catalog/accept-result.ts';
import type { Progress } from '../connection/peer.ts';
import { asPlugboardError, type ErrorCode, hintForModel, PlugboardError } from '../errors.ts';
import { defined } from '../lib/defined.ts';
import { isRecord, parseJson } from '../lib/json.ts';
import type { AdapterHost, AdapterOptions, ExecuteOptions, ModelCall } from './adapter-host.ts';

/** Why a call did not return its tool's result, for a model and a program. */
export interface AnswerError {
  readonly code: ErrorCode;
  readonly message: string;
  readonly server?: string;
  readonly hint?: string;
}

/** The outcome of a call: the tool's own result, or the error in its place. */
export interface Answer {
  readonly content: readonly ContentBlock[];
  readonly structuredContent?: unknown;
  readonly isError: boolean;
  /** Present if the call failed outside of the tool; a tool's own failure has `isError` only. */
  readonly error?: AnswerError;
  readonly truncated?: { readonly tokens: number; readonly file: string; readonly ref?: string };
}

type Restore = (args: Record<string, unknown>) => Record<string, unknown>;

export interface AnswerRequest extends ModelCall, ExecuteOptions {
  /** The model's arguments: an object, or its JSON text. */
  readonly input: unknown;
  /** Converts arguments of the converted schema to the server's. */
  readonly restore?: Restore | undefined;
  /** An additional progress listener, of the framework that made the call. */
  readonly onProgress?: AdapterOptions['onProgress'];
  /** The part of the result to return. */
  readonly select?: string | undefined;
  /** The framework has asked the person, who allowed the call. */
  readonly approved?: boolean | undefined;
}

export async function answer(
  host: AdapterHost,
  options: Pick<AdapterOptions, 'onProgress' | 'signal' | 'timeoutMs'> &
    Pick<CallOptions, 'media' | 'mediaLimits' | 'viaCallTool' | 'deduplicate'>,
  request: AnswerRequest,
): Promise<Answer> {
  const { name, id, restore } = request;
  try {
    const args = readArguments(request.input);
    const { _meta, ...result } = await host.call(name, restore === undefined ? args : restore(args), {
      signal: bothSignals(options.signal, request.signal),
      timeoutMs: options.timeoutMs,
      onProgress: (progress) => {
        report(options.onProgress, progress, { name, id });
        report(request.onProgress, progress, { name, id });
      },
      media: options.media,
      mediaLimits: options.mediaLimits,
      viaCallTool: options.viaCallTool,
      ...(options.deduplicate === true ? { deduplicate: true } : {}),
      approved: request.approved,
      ...(request.select === undefined ? {} : { select: request.select }),
    });
    return result;
  } catch (thrown) {
    return failed(asPlugboardError(thrown));
  }
}

/** An exception of a listener must not affect the answer. */
function report(listener: AdapterOptions['onProgress'], progress: Progress, call: ModelCall): void {
  try {
    listener?.(progress, call);
  } catch {
    // Progress is best-effort; no caller here could handle the error.
  }
}

/** Returns an error as the answer of a call. */
export function failed(refusal: PlugboardError): Answer {
  const { code, message, server } = refusal;
  const hint = hintForModel(refusal);
  const error = { code, message, ...defined({ server, hint }) };
  return { content: [{ type: 'text', text: JSON.stringify({ error }) }], isError: true, error };
}

/** Parses arguments: models omit them, or send an empty string, if a tool needs none. */
export function readArguments(input: unknown): Record<string, unknown> {
  if (input === undefined || input === null || input === '') return {};
  const value = typeof input === 'string' ? parseJson(input) : input;
  if (isRecord(value)) return value;
  throw new PlugboardError('INVALID_ARGUMENTS', 'The arguments of the call are not a JSON object', {
    hint: 'Send the arguments again as one complete JSON object.',
  });
}

export function bothSignals(
  one: AbortSignal | undefined,
  other: AbortSignal | undefined,
): AbortSignal | undefined {
  return one !== undefined && other !== undefined ? AbortSignal.any([one, other]) : (one ?? other);
}
