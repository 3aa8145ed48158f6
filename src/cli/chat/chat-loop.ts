/** Interactive chat at the terminal: reads lines and runs turns until the person leaves. */

import { Agent, type AgentOptions } from '../../chat/agent.ts';
import { Conversation } from '../../chat/conversation.ts';
import { asPlugboardError, PlugboardError } from '../../errors.ts';
import type { Host } from '../../host/host.ts';
import type { ServerReport } from '../../host/host-report.ts';
import { splitArgv } from '../../lib/argv.ts';
import { clean, oneLine } from '../../policy/clean.ts';
import type { Context } from '../cli-command.ts';
import { describeFailure } from '../report-failure.ts';
import { type ChatState, findCommand } from './chat-commands.ts';
import { completeLine, LineInput, TurnKeys } from './chat-input.ts';
import { Transcript } from './transcript.ts';

export interface ChatLoopOptions {
  readonly context: Context;
  readonly host: Host;
  readonly agent: Omit<AgentOptions, 'host' | 'conversation'>;
  readonly conversation: Conversation;
  readonly folder: string;
}

export class ChatLoop {
  readonly #options: ChatLoopOptions;
  readonly #transcript: Transcript;
  readonly #input: LineInput;
  readonly #keys: TurnKeys;
  #agent: Agent;
  #turn: AbortController | undefined;

  constructor(options: ChatLoopOptions) {
    this.#options = options;
    const { output } = options.context;
    this.#transcript = new Transcript(output);
    this.#input = new LineInput(output.paint.strong('› '), (line) => completeLine(options.host, line));
    this.#keys = new TurnKeys(() => this.#cancel());
    this.#agent = this.#agentFor(options.conversation);
  }

  /** Called before a question, which needs the keyboard for itself. */
  pause(): void {
    if (this.#turn === undefined) return;
    this.#keys.give();
    this.#transcript.hush();
  }

  resume(): void {
    if (this.#turn !== undefined) this.#keys.take();
  }

  async run(): Promise<number> {
    const { host, context } = this.#options;
    const stop = host.on('server', (report) => this.#serverChanged(report));
    try {
      for (;;) {
        const line = await this.#input.read(context.signal, this.#keys.typed());
        if (line === undefined || context.signal.aborted) break;
        if (line.trim() === '') continue;
        if ((await this.#handle(line.trim())) === 'leave') break;
      }
    } finally {
      stop();
    }
    const { id, messages } = this.#agent.conversation;
    if (messages.length > 0)
      this.#say(context.output.paint.faint(`Continue with: plugboard chat --resume ${id}`));
    return 0;
  }

  async #handle(line: string): Promise<'stay' | 'leave'> {
    const command = findCommand(line);
    try {
      if (command !== undefined)
        return await this.#withKeys((signal) => command.run(this.#state(signal), splitArgv(line).slice(1)));
      if (line.startsWith('/') && !(await this.#isPrompt(line))) {
        this.#say(`Unknown command ${clean(line.split(/\s/)[0] ?? '')}. Type /help to see all of them.`);
        return 'stay';
      }
      await this.#withKeys((signal) => this.#send(line, signal));
    } catch (thrown) {
      const error = asPlugboardError(thrown);
      this.#transcript.end();
      this.#say(
        error.code === 'CANCELLED'
          ? this.#paint.faint('Cancelled.')
          : describeFailure(error, this.#options.context.output),
      );
    }
    return 'stay';
  }

  async #send(line: string, signal: AbortSignal): Promise<void> {
    this.#transcript.begin();
    const turn = await this.#agent.send(line, { signal, emit: (event) => this.#transcript.emit(event) });
    this.#transcript.end(turn);
  }

  /** Runs work during which Ctrl-C cancels the work. */
  async #withKeys<T>(work: (signal: AbortSignal) => T | Promise<T>): Promise<T> {
    const turn = new AbortController();
    this.#turn = turn;
    this.#keys.take();
    try {
      return await work(AbortSignal.any([turn.signal, this.#options.context.signal]));
    } finally {
      this.#turn = undefined;
      this.#keys.give();
    }
  }

  /** The first Ctrl-C cancels the running calls, the next one the turn. */
  #cancel(): void {
    if (this.#agent.cancelCalls())
      this.#say(this.#paint.faint('The call was cancelled. Press Ctrl-C again to end the turn.'));
    else this.#turn?.abort(new PlugboardError('CANCELLED', 'The turn was cancelled'));
  }

  async #isPrompt(line: string): Promise<boolean> {
    const [command] = line.split(/\s/);
    return (await this.#options.host.prompts().catch(() => [])).some((prompt) => prompt.command === command);
  }

  #state(signal: AbortSignal): ChatState {
    const { host, context, folder, conversation } = this.#options;
    return {
      host,
      output: context.output,
      signal,
      say: (text) => this.#say(text),
      compact: () => this.#agent.compact({ signal, emit: (event) => this.#transcript.emit(event) }),
      clear: () => {
        this.#agent = this.#agentFor(Conversation.begin(folder, conversation.head));
        this.#say('Started a new conversation.');
      },
    };
  }

  #agentFor(conversation: Conversation): Agent {
    const { agent, host } = this.#options;
    return new Agent({ ...agent, host, conversation });
  }

  #serverChanged({ name, status, error }: ServerReport): void {
    if (status === 'connecting' || status === 'idle') return;
    const why = error === undefined ? '' : `: ${oneLine(error.message)}`;
    const login = status === 'needs_auth' ? ` /mcp login ${oneLine(name)}` : '';
    const text = `· ${oneLine(name)} ${status.replaceAll('_', ' ')}${why}${login}`;
    this.#say(this.#paint.faint(text));
  }

  get #paint(): Context['output']['paint'] {
    return this.#options.context.output.paint;
  }

  #say(text: string): void {
    if (!this.#input.interject(text)) this.#transcript.line(text);
  }
}
