/** Limits and validates sampling requests: token limit, rate limit, and a limit per call against loops (CAL-3). */

import { PlugboardError } from '../errors.ts';
import type { Clock } from '../lib/clock.ts';
import { getOrMake } from '../lib/get-or-make.ts';
import { isRecord } from '../lib/json.ts';
import { RPC_INVALID_PARAMS } from '../lib/json-rpc.ts';
import { cleanRecord } from '../policy/clean-value.ts';
import type { Params } from './peer.ts';
import type { Questioned } from './questions.ts';

/** The longest completion for a server; it may request less. */
export const MAX_SAMPLE_TOKENS = 8_192;
export const MAX_SAMPLES_PER_MINUTE = 30;
/** A model that calls the tool which is sampling keeps every round open: this limits the depth. */
export const MAX_OPEN_SAMPLES = 4;
/** A call with more completions than this is looping; its timeout is paused while it samples. */
export const MAX_SAMPLES_PER_CALL = 50;
const MAX_MESSAGES = 1_000;
const RATE_WINDOW_MS = 60_000;
/** The protocol's error code for a completion that a person or a limit rejected. */
export const RPC_SAMPLING_REJECTED = -1;

/** Counts the completions of one call; undefined for a question outside of calls. */
export interface SampleCount {
  samples?: number;
}

export interface SampleLimits {
  /** Reserves a slot and returns a function that releases it; throws the error for the server if a limit is reached. */
  enter(server: string, call: SampleCount | undefined): () => void;
}

export function createSampleLimits(clock: Clock): SampleLimits {
  const members = new Map<string, { open: number; readonly times: number[] }>();
  return {
    enter(server, call) {
      const member = getOrMake(members, server, () => ({ open: 0, times: [] }));
      const { times } = member;
      const now = clock.now();
      while (times[0] !== undefined && times[0] <= now - RATE_WINDOW_MS) times.shift();
      const used = call?.samples ?? 0;
      if (member.open >= MAX_OPEN_SAMPLES) throw refused(server, `${MAX_OPEN_SAMPLES} completions at once`);
      if (times.length >= MAX_SAMPLES_PER_MINUTE) {
        throw refused(server, `${MAX_SAMPLES_PER_MINUTE} completions a minute`);
      }
      if (used >= MAX_SAMPLES_PER_CALL)
        throw refused(server, `${MAX_SAMPLES_PER_CALL} completions in one call`);
      if (call !== undefined) call.samples = used + 1;
      times.push(now);
      member.open += 1;
      const entered = member;
      return () => {
        entered.open -= 1;
      };
    },
  };
}

/** Validates a sampling request and limits `maxTokens`. */
export function readSampleParams(params: Params, can: Questioned['sampling']): SampleParams {
  const { messages, maxTokens } = params;
  if (!Array.isArray(messages) || messages.length > MAX_MESSAGES) {
    throw invalid(`"messages" must be a list of at most ${MAX_MESSAGES}`);
  }
  if (can?.tools !== true && usesTools(params)) throw noToolUse();
  for (const message of messages) checkMessage(message, can?.tools === true);
  checkToolResults(messages);
  for (const [name, { is, words }] of Object.entries(MEMBERS)) {
    const member = params[name];
    if (member !== undefined && member !== null && !is(member)) throw invalid(`${name} must be ${words}`);
  }
  const present = Object.fromEntries(Object.entries(params).filter(([, member]) => member !== null));
  const wanted = typeof maxTokens === 'number' && maxTokens >= 1 ? Math.trunc(maxTokens) : MAX_SAMPLE_TOKENS;
  const read: Params = { ...cleanRecord(present), maxTokens: Math.min(wanted, MAX_SAMPLE_TOKENS) };
  // Every member was checked above.
  return read as SampleParams;
}

const isText = (value: unknown): boolean => typeof value === 'string';
const isNumber = (value: unknown): boolean => typeof value === 'number' && Number.isFinite(value);
const isTexts = (value: unknown): boolean => Array.isArray(value) && value.every(isText);
const isOptional = (value: unknown, is: (value: unknown) => boolean): boolean =>
  value === undefined || value === null || is(value);

/** The types of all members that a surface may show; other types are rejected. */
const MEMBERS: Readonly<
  Record<string, { readonly is: (value: unknown) => boolean; readonly words: string }>
> = {
  systemPrompt: { is: isText, words: 'a text' },
  includeContext: { is: isText, words: 'a text' },
  tools: { is: isTools, words: 'a list of tools with names and schemas' },
  toolChoice: { is: isToolChoice, words: 'an object with a mode' },
  temperature: { is: isNumber, words: 'a number' },
  maxTokens: { is: isNumber, words: 'a number' },
  stopSequences: { is: isTexts, words: 'a list of texts' },
  modelPreferences: { is: isPreferences, words: 'hints by name and priorities from 0 to 1' },
  metadata: { is: isRecord, words: 'an object' },
  _meta: { is: isRecord, words: 'an object' },
};

function isPreferences(value: unknown): boolean {
  if (!isRecord(value)) return false;
  const { hints, costPriority, speedPriority, intelligencePriority } = value;
  const isHint = (hint: unknown): boolean => isRecord(hint) && isOptional(hint['name'], isText);
  return (
    isOptional(hints, (list) => Array.isArray(list) && list.every(isHint)) &&
    [costPriority, speedPriority, intelligencePriority].every((priority) => isOptional(priority, isNumber))
  );
}

/** Whether a request needs tool use, which the client must have declared. */
export function usesTools({ tools, toolChoice }: Params): boolean {
  return (tools ?? undefined) !== undefined || (toolChoice ?? undefined) !== undefined;
}

export function noToolUse(): PlugboardError {
  return invalid('This client did not declare sampling.tools');
}

function isTools(value: unknown): boolean {
  return (
    Array.isArray(value) &&
    value.every((tool) => isRecord(tool) && isText(tool['name']) && isRecord(tool['inputSchema']))
  );
}

function isToolChoice(value: unknown): boolean {
  return isRecord(value) && isOptional(value['mode'], isText);
}

function checkMessage(message: unknown, withTools: boolean): void {
  if (!isRecord(message)) throw invalid('A message must be an object');
  const { role, content } = message;
  if (role !== 'user' && role !== 'assistant')
    throw invalid('The role of a message must be user or assistant');
  const blocks: readonly unknown[] = Array.isArray(content) ? content : [content];
  if (blocks.every((block) => isBlock(block) || (withTools && isToolBlock(block)))) return;
  throw invalid('The content of a message must be text, an image or audio');
}

/** Checks that every tool use is answered in the next message, and that this message contains only results. */
function checkToolResults(messages: readonly unknown[]): void {
  let used: readonly unknown[] = [];
  for (const message of messages) {
    const blocks = blocksOf(message);
    const results = blocks.filter(({ type }) => type === 'tool_result');
    if (results.length > 0 && results.length < blocks.length)
      throw invalid('Tool results are mixed with other content');
    const answered = results.map(({ toolUseId }) => toolUseId);
    if (answered.length !== used.length || !used.every((id) => answered.includes(id))) {
      throw invalid(
        used.length > answered.length
          ? 'A tool result is missing'
          : 'A tool result has no tool use before it',
      );
    }
    used = blocks.flatMap(({ type, id }) => (type === 'tool_use' ? [id] : []));
  }
}

function blocksOf(message: unknown): Record<string, unknown>[] {
  const content = isRecord(message) ? message['content'] : undefined;
  return (Array.isArray(content) ? content : [content]).filter(isRecord);
}

function isBlock(block: unknown): boolean {
  if (!isRecord(block)) return false;
  const { type, text, data, mimeType, annotations, _meta } = block;
  const isKnown = type === 'text' ? isText(text) : isMedia(type) && isText(data) && isText(mimeType);
  return isKnown && isOptional(annotations, isRecord) && isOptional(_meta, isRecord);
}

/** A `tool_use` or `tool_result` block. */
function isToolBlock(block: unknown): boolean {
  if (!isRecord(block)) return false;
  const { type, id, name, input, toolUseId, content } = block;
  if (type === 'tool_use') return isText(id) && isText(name) && isRecord(input);
  return type === 'tool_result' && isText(toolUseId) && isOptional(content, Array.isArray);
}

function isMedia(type: unknown): boolean {
  return type === 'image' || type === 'audio';
}

/** Returns the problem with the result of the `sample` callback; undefined if it is valid. */
export function faultOfSample(answer: unknown): string | undefined {
  if (!isRecord(answer)) return 'it must be an object';
  if (typeof answer['model'] !== 'string') return '"model" is missing';
  if (answer['role'] !== 'assistant' && answer['role'] !== 'user') return 'its role must be "assistant"';
  const { content } = answer;
  return isRecord(content) || Array.isArray(content) ? undefined : '"content" is missing';
}

function refused(server: string, limit: string): PlugboardError {
  return new PlugboardError('LIMIT_EXCEEDED', `The limit of ${limit} for a server is reached`, {
    server,
    detail: { rpcCode: RPC_SAMPLING_REJECTED },
  });
}

function invalid(why: string): PlugboardError {
  return new PlugboardError('PROTOCOL_ERROR', why, { detail: { rpcCode: RPC_INVALID_PARAMS } });
}

/** One part of a message of a sampling request. */
export type SampleContent =
  | { readonly type: 'text'; readonly text: string; readonly [member: string]: unknown }
  | {
      readonly type: 'image' | 'audio';
      readonly data: string;
      readonly mimeType: string;
      readonly [member: string]: unknown;
    }
  | {
      readonly type: 'tool_use';
      readonly id: string;
      readonly name: string;
      readonly input: Params;
      readonly [member: string]: unknown;
    }
  | {
      readonly type: 'tool_result';
      readonly toolUseId: string;
      readonly content: readonly unknown[];
      readonly structuredContent?: unknown;
      readonly isError?: boolean;
      readonly [member: string]: unknown;
    };

/** One message of a sampling request. */
export interface SampleMessage {
  readonly role: 'user' | 'assistant';
  /** One block, or several. */
  readonly content: SampleContent | readonly SampleContent[];
  readonly [member: string]: unknown;
}

/** A tool that the server runs itself: answer with `tool_use`, and its next request contains the result. */
export interface SampleTool {
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly inputSchema: Params;
  readonly [member: string]: unknown;
}

/** Validated, cleaned, and with `maxTokens` limited. */
export interface SampleParams extends Params {
  readonly messages: readonly SampleMessage[];
  readonly maxTokens: number;
  readonly systemPrompt?: string;
  readonly temperature?: number;
  readonly stopSequences?: readonly string[];
  readonly includeContext?: string;
  readonly modelPreferences?: {
    readonly hints?: readonly { readonly name?: string }[];
    readonly costPriority?: number;
    readonly speedPriority?: number;
    readonly intelligencePriority?: number;
  };
  /** Only with `sampling: { tools: true }`. */
  readonly tools?: readonly SampleTool[];
  readonly toolChoice?: { readonly mode?: 'auto' | 'required' | 'none' };
  readonly metadata?: Params;
  readonly _meta?: Params;
}

/**
 * The result of `sample`. With `stopReason: 'toolUse'` the content has `tool_use` blocks.
 *
 * @example
 * const sample = async ({ params }: SampleRequest) =>
 *   ({ role: 'assistant', model: 'mine', content: { type: 'text', text: 'Hello' } }) satisfies SampleResult;
 */
export interface SampleResult {
  readonly role: 'user' | 'assistant';
  readonly content: SampleContent | readonly SampleContent[];
  readonly model: string;
  readonly stopReason?:
    | 'endTurn'
    | 'stopSequence'
    | 'maxTokens'
    | 'toolUse'
    | (string & Record<never, never>);
  readonly _meta?: Params;
}
