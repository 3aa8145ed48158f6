/** Stores a conversation in one file with one JSON line per message, so that it can be resumed after a crash too. */

import { randomUUID } from 'node:crypto';
import { appendFile, readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { ModelMessage } from 'ai';
import { PlugboardError } from '../errors.ts';
import { errorCode } from '../lib/error-code.ts';
import { isRecord, parseRecord } from '../lib/json.ts';
import { makeFolder } from '../lib/make-folder.ts';

const FOLDER_MODE = 0o700;
const FILE_MODE = 0o600;
const MAX_FILE_BYTES = 64 * 1024 * 1024;
const ID = /^[0-9a-f-]{36}$/;
const ROLES: readonly unknown[] = ['user', 'assistant', 'tool', 'system'];

/** State after the model's last answer, for the next turn of the conversation. */
export interface ConversationState {
  /** Used tokens of the model's context window; undefined if the provider did not report them. */
  readonly tokens?: number | undefined;
  /** Names of deferred tools that the model has found. */
  readonly found: readonly string[];
}

const NO_STATE: ConversationState = { found: [] };

/** Settings from the start of a conversation that also apply when it is resumed. */
export type ConversationHead = Readonly<Record<string, unknown>>;

export class Conversation {
  readonly id: string;
  readonly head: ConversationHead;
  readonly #file: string;
  #messages: ModelMessage[];
  #state: ConversationState;
  /** The folder and the first line are created with the first message, so that opening `chat` leaves no files. */
  #isOnDisk: boolean;

  private constructor(
    id: string,
    file: string,
    head: ConversationHead,
    messages: ModelMessage[],
    state: ConversationState,
    isOnDisk: boolean,
  ) {
    this.id = id;
    this.head = head;
    this.#file = file;
    this.#messages = messages;
    this.#state = state;
    this.#isOnDisk = isOnDisk;
  }

  static begin(folder: string, head: ConversationHead): Conversation {
    const id = randomUUID();
    return new Conversation(id, fileOf(folder, id), head, [], NO_STATE, false);
  }

  /** Resumes a conversation of the folder: the given one, or the most recently written. */
  static async resume(folder: string, id?: string): Promise<Conversation> {
    const wanted = id ?? (await newest(folder));
    if (wanted === undefined) {
      throw new PlugboardError('USAGE', 'There is no conversation to resume', {
        hint: 'Start one: plugboard chat.',
      });
    }
    const unknown = new PlugboardError('USAGE', `There is no conversation ${JSON.stringify(wanted)}`, {
      hint: `Conversations are kept in ${folder}.`,
    });
    // The id becomes part of a path, and may be sent by a client of the gateway.
    if (!ID.test(wanted)) throw unknown;
    const file = fileOf(folder, wanted);
    const text = await readBounded(file).catch((thrown: unknown) => {
      throw errorCode(thrown) === 'ENOENT' ? unknown : thrown;
    });
    return new Conversation(wanted, file, ...parse(text), true);
  }

  get messages(): readonly ModelMessage[] {
    return this.#messages;
  }

  get state(): ConversationState {
    return this.#state;
  }

  /** Appends messages, and the state if it has changed. */
  async append(messages: readonly ModelMessage[], state: ConversationState = this.#state): Promise<void> {
    const isNew = JSON.stringify(state) !== JSON.stringify(this.#state);
    if (messages.length === 0 && !isNew) return;
    this.#messages.push(...messages);
    this.#state = state;
    await this.#write([...messages.map((message) => ({ message })), ...(isNew ? [{ state }] : [])]);
  }

  /** Replaces the messages so far with a summary; the file keeps both. */
  async compact(summary: readonly ModelMessage[]): Promise<void> {
    this.#messages = [...summary];
    this.#state = { ...this.#state, tokens: undefined };
    await this.#write([{ compacted: summary }, { state: this.#state }]);
  }

  async #write(lines: readonly object[]): Promise<void> {
    const all = this.#isOnDisk ? lines : [{ head: this.head }, ...lines];
    if (!this.#isOnDisk) await makeFolder(join(this.#file, '..'), FOLDER_MODE);
    await appendFile(this.#file, all.map((line) => `${JSON.stringify(line)}\n`).join(''), {
      mode: FILE_MODE,
    });
    this.#isOnDisk = true;
  }
}

function fileOf(folder: string, id: string): string {
  return join(folder, `${id}.jsonl`);
}

async function readBounded(file: string): Promise<string> {
  const { size } = await stat(file);
  if (size > MAX_FILE_BYTES) {
    throw new PlugboardError('LIMIT_EXCEEDED', `The conversation in ${file} is larger than 64 MB`, {
      hint: 'Start a new one.',
    });
  }
  return readFile(file, 'utf8');
}

/** Drops a line that was truncated by a crash and all lines after it, which may answer it. */
function parse(text: string): [ConversationHead, ModelMessage[], ConversationState] {
  let head: ConversationHead = {};
  let messages: ModelMessage[] = [];
  let state = NO_STATE;
  for (const line of text.split('\n')) {
    const value = parseRecord(line);
    if (value === undefined) break;
    if (isRecord(value['head'])) head = value['head'];
    else if (isMessage(value['message'])) messages.push(value['message']);
    else if (Array.isArray(value['compacted'])) messages = value['compacted'].filter(isMessage);
    else if (isRecord(value['state'])) state = stateOf(value['state']);
  }
  return [head, messages, state];
}

function stateOf({ tokens, found }: Record<string, unknown>): ConversationState {
  return {
    ...(typeof tokens === 'number' ? { tokens } : {}),
    found: Array.isArray(found) ? found.filter((name) => typeof name === 'string') : [],
  };
}

/** The file is written by us with mode 0600, so the role is enough to recognise a message. */
function isMessage(value: unknown): value is ModelMessage {
  return isRecord(value) && ROLES.includes(value['role']) && value['content'] !== undefined;
}

async function newest(folder: string): Promise<string | undefined> {
  const names = await readdir(folder).catch(() => []);
  const found = await Promise.all(
    names
      .filter((name) => ID.test(name.replace(/\.jsonl$/, '')))
      .map(async (name) => ({ name, at: (await stat(join(folder, name))).mtimeMs })),
  );
  return found.toSorted((a, b) => b.at - a.at)[0]?.name.replace(/\.jsonl$/, '');
}
