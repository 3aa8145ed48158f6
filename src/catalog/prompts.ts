/** Lists prompts as slash commands and gets their messages (CAT-10). */

import type { Connection } from '../connection/connection.ts';
import type { RequestOptions } from '../connection/peer.ts';
import { timeoutHint } from '../connection/reasons.ts';
import { asPlugboardError, PlugboardError } from '../errors.ts';
import { defined } from '../lib/defined.ts';
import { isRecord } from '../lib/json.ts';
import { nearest } from '../lib/nearest.ts';
import { shellWord } from '../lib/shell-word.ts';
import { clean, shownName } from '../policy/clean.ts';
import { cleanRecord, mapSame } from '../policy/clean-value.ts';
import { type JsonObject, unknownMembers } from './accept-bounds.ts';
import type { Prompt } from './accept-lists.ts';
import { acceptContentBlock, type ContentBlock } from './accept-result.ts';
import { cleanBlock, cleanDescribed } from './clean-block.ts';
import { metaOf, offersNone, refusalOf } from './content-response.ts';

const MAX_MESSAGES = 1_000;

/** A prompt as `prompts --json` prints it. */
export interface ListedPrompt extends Prompt {
  /** The slash command: `/mcp__server__prompt`. */
  readonly command: string;
  readonly server: string;
}

/** One message of a prompt. */
export interface PromptMessage {
  readonly role: 'user' | 'assistant';
  readonly content: ContentBlock;
}

/** The messages of a prompt, as `prompt --json` prints them. */
export interface PromptResult {
  readonly description?: string;
  readonly messages: readonly PromptMessage[];
  /** `_meta` of the server's result. */
  readonly _meta?: Readonly<Record<string, unknown>>;
  /** Unknown members of the result. */
  readonly extra?: JsonObject;
}

const KNOWN_OF_PROMPT: ReadonlySet<string> = new Set(['messages', 'description', '_meta', 'resultType']);
const KNOWN_OF_MESSAGE: ReadonlySet<string> = new Set(['role', 'content']);

export type PromptArguments = Readonly<Record<string, string>>;

/** Cleans a prompt except its name and its arguments' names, which must match the server's. */
export function presentPrompt(command: string, server: string, prompt: Prompt): ListedPrompt {
  const args = prompt.arguments?.map(cleanDescribed);
  return { command, server, ...cleanDescribed(prompt), ...defined({ arguments: args }) };
}

export interface GetPromptOptions {
  readonly request: RequestOptions;
  readonly forModel: boolean;
  /** The server's listed prompts, if known. */
  readonly listed: readonly Prompt[];
  readonly warn: (message: string) => void;
  /** Called when hidden text was removed. @param place the location of that text. */
  readonly hidden: (place: string) => void;
}

export async function getPrompt(
  connection: Connection,
  name: string,
  given: Readonly<Record<string, unknown>>,
  { request, forModel, listed, warn, hidden }: GetPromptOptions,
): Promise<PromptResult> {
  const server = connection.name;
  const args = asArguments(server, name, given);
  const known = listed.find((prompt) => prompt.name === name);
  if (known !== undefined) requireArguments(server, known, args);
  const raw = await connection
    .request('prompts/get', { name, arguments: args }, request)
    .catch((error: unknown) => {
      throw getFailure(server, name, listed, asPlugboardError(error));
    });
  const result = acceptPrompt(server, name, raw, warn);
  const meta = metaOf(raw, forModel);
  if (!forModel) return { ...result, ...meta };
  const messages = mapSame(result.messages, cleanMessage);
  if (messages !== result.messages) hidden(`the messages of the prompt ${shownName(name)}`);
  const { extra } = result;
  return { ...result, messages, ...(extra === undefined ? {} : { extra: cleanRecord(extra) }), ...meta };
}

/** Throws for missing arguments before the request, because servers report them differently or not at all. */
export function requireArguments(server: string, prompt: Prompt, args: PromptArguments): void {
  const missing = (prompt.arguments ?? [])
    .filter((argument) => argument.required === true && !Object.hasOwn(args, argument.name))
    .map((argument) => shownName(argument.name));
  if (missing.length === 0) return;
  throw new PlugboardError(
    'INVALID_ARGUMENTS',
    `The prompt ${shownName(prompt.name)} of ${server} needs ${missing.join(' and ')}`,
    { server, hint: `It takes ${usage(prompt)}.` },
  );
}

/** Returns the arguments as `<file> [style]`, optional ones in brackets. */
export function usage(prompt: Prompt): string {
  const shownArguments = (prompt.arguments ?? []).map(({ name, required }) =>
    required === true ? `<${shownName(name)}>` : `[${shownName(name)}]`,
  );
  return shownArguments.length === 0 ? 'no arguments' : shownArguments.join(' ');
}

/** Converts arguments to text, the only type in the protocol; numbers and booleans have one textual form. */
function asArguments(
  server: string,
  name: string,
  given: Readonly<Record<string, unknown>>,
): Record<string, string> {
  const entries = Object.entries(given).flatMap(([key, value]): [string, string][] => {
    if (value === undefined) return [];
    if (typeof value === 'string') return [[key, value]];
    if (typeof value === 'number' || typeof value === 'boolean') return [[key, String(value)]];
    throw new PlugboardError(
      'INVALID_ARGUMENTS',
      `The argument ${shownName(key)} of the prompt ${shownName(name)} must be text`,
      { server, hint: 'Prompts take text only; write other values as JSON text.' },
    );
  });
  return Object.fromEntries(entries);
}

function acceptPrompt(
  server: string,
  name: string,
  raw: unknown,
  warn: (message: string) => void,
): PromptResult {
  const record = isRecord(raw) ? raw : {};
  const { messages, description } = record;
  if (!Array.isArray(messages)) {
    throw new PlugboardError(
      'PROTOCOL_ERROR',
      `${server} answered the prompt ${shownName(name)} without messages`,
      {
        server,
      },
    );
  }
  if (messages.length > MAX_MESSAGES) {
    throw new PlugboardError(
      'LIMIT_EXCEEDED',
      `The prompt ${shownName(name)} has ${messages.length} messages; ${MAX_MESSAGES} are too many`,
      { server },
    );
  }
  const complain = (text: string): void => warn(`prompt ${shownName(name)}: ${text}`);
  const extra = unknownMembers(record, KNOWN_OF_PROMPT);
  return {
    ...(typeof description === 'string' ? { description: clean(description) } : {}),
    messages: messages.flatMap((message: unknown) => acceptMessage(message, complain)),
    ...(extra === undefined ? {} : { extra }),
  };
}

/** Converts one message of a server to one or, if it has a list of blocks, several messages. */
function acceptMessage(raw: unknown, warn: (text: string) => void): PromptMessage[] {
  const message = isRecord(raw) ? raw : { content: raw };
  const { role, content } = message;
  if (role !== 'user' && role !== 'assistant')
    warn(`a message has the role ${JSON.stringify(role)}: taken as user`);
  const blocks: readonly unknown[] = Array.isArray(content) ? content : [content];
  return blocks.map((each) => {
    const block = acceptContentBlock(typeof each === 'string' ? { type: 'text', text: each } : each, warn);
    return {
      ...unknownMembers(message, KNOWN_OF_MESSAGE),
      role: role === 'assistant' ? 'assistant' : 'user',
      content: block,
    };
  });
}

function cleanMessage(message: PromptMessage): PromptMessage {
  const { role, content, ...others } = message;
  const [block, rest] = [cleanBlock(content), cleanRecord(others)];
  return block === content && rest === others ? message : { ...rest, role, content: block };
}

function getFailure(
  server: string,
  name: string,
  listed: readonly Prompt[],
  error: PlugboardError,
): PlugboardError {
  const { detail } = error;
  const refusal = refusalOf(error, 'prompts/get');
  if (refusal === undefined) {
    const message = error.message.replace(/^prompts\/get/, `the prompt ${shownName(name)} of ${server}`);
    const hint = error.hint ?? timeoutHint(error);
    return new PlugboardError(error.code, message, { server, hint, cause: error, detail });
  }
  if (refusal.unknownMethod) return offersNone(server, 'prompts', error);
  const code = refusal.notFound ? 'INVALID_ARGUMENTS' : error.code;
  const known = listed.find((prompt) => prompt.name === name);
  if (known !== undefined || !refusal.notFound) {
    // The prompt exists, so its arguments were rejected or the server failed.
    const message = `${server} did not give the prompt ${shownName(name)}: ${refusal.text}`;
    const hint = known === undefined || !refusal.notFound ? undefined : `It takes ${usage(known)}.`;
    return new PlugboardError(code, message, { server, hint, cause: error, detail });
  }
  const close = nearest(
    name,
    listed.map((prompt) => prompt.name),
  ).map(shownName);
  return new PlugboardError(code, `${server} has no prompt called ${shownName(name)}: ${refusal.text}`, {
    server,
    hint:
      close.length > 0
        ? `Did you mean ${close.join(' or ')}?`
        : {
            commands: `Run plugboard prompts ${shellWord(server)} to list them.`,
            library: `host.prompts(${JSON.stringify(server)}) lists those that there are.`,
          },
    cause: error,
    detail,
  });
}
