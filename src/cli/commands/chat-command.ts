/** `plugboard chat`: an agent in the terminal that uses the person's own model and all of their servers. */

import { join } from 'node:path';
import { text as readAll } from 'node:stream/consumers';
import { pathToFileURL } from 'node:url';
import type { ModelMessage } from 'ai';
import { openModel } from '../../chat/chat-model.ts';
import { Conversation } from '../../chat/conversation.ts';
import { counted } from '../../lib/counted.ts';
import { aborted } from '../../lib/waits.ts';
import { clean } from '../../policy/clean.ts';
import { ChatLoop } from '../chat/chat-loop.ts';
import { Questions } from '../chat/chat-questions.ts';
import { runOneShot } from '../chat/one-shot.ts';
import { type CliCommand, type Context, type Flags, textFlag } from '../cli-command.ts';
import { misuse, wholeNumber } from '../flags.ts';
import type { Output } from '../output.ts';
import { withOwnHost } from '../with-own-host.ts';

const MAX_CONTEXT_TOKENS = 100_000_000;

export const chat: CliCommand = {
  configure(command): void {
    command
      .option('--model <name>', 'provider:name, or <url>#<name> (default: PLUGBOARD_MODEL)')
      .option('-p, --prompt <text>', 'run one turn with this prompt and exit; - reads it from stdin')
      .option('--resume [id]', 'continue a conversation: the last one, or the one named')
      .option('--context <tokens>', 'context window of the model, in tokens')
      .option('--no-workspace', 'do not use the built-in server for files, search and git')
      .option('-y, --yes', 'with -p: approve every call without asking')
      .addHelpText('after', EXAMPLES);
  },

  async run(context: Context, args: readonly string[], flags: Flags): Promise<number> {
    if (args.length > 0) throw misuse('chat', `Unexpected argument ${JSON.stringify(args[0])}`);
    const { env, home, output, signal } = context;
    const prompt = await promptOf(textFlag(flags, 'prompt'));
    if (prompt === undefined && output.json)
      throw misuse('chat', '--json needs a prompt: chat -p "…" --json');
    if (prompt === undefined && !output.canAsk)
      throw misuse('chat', 'Without a terminal, chat needs a prompt');
    if (prompt === undefined && flags['yes'] === true) throw misuse('chat', '--yes can only be used with -p');
    const folder = join(home.dir, 'chats');
    const previous = await previousOf(folder, flags['resume']);
    const name = textFlag(flags, 'model') ?? modelOf(previous) ?? env['PLUGBOARD_MODEL'];
    const model = await openModel(name, env);
    const conversation = previous ?? Conversation.begin(folder, { model: model.name, cwd: context.cwd });
    const contextTokens = contextOf(flags);
    const common = {
      workspace: flags['workspace'] !== false,
      roots: [{ uri: pathToFileURL(context.cwd).href }],
      model: { images: true, ...(contextTokens === undefined ? {} : { contextTokens }) },
    };
    if (prompt !== undefined) {
      const approve = flags['yes'] === true ? (): 'allow' => 'allow' : undefined;
      return withOwnHost(context, { ...common, approve }, async (host) => {
        await Promise.race([host.ready(), aborted(signal)]);
        const turn = runOneShot(context, { host, model, conversation, contextTokens }, prompt);
        return Promise.race([turn, aborted(signal)]);
      });
    }
    const around: { pause?: () => void; resume?: () => void } = {};
    const questions = new Questions({
      output,
      model,
      pause: () => around.pause?.(),
      resume: () => around.resume?.(),
    });
    const asked = {
      approve: questions.approve.bind(questions),
      elicit: questions.elicit.bind(questions),
      sample: questions.sample.bind(questions),
    };
    return withOwnHost(context, { ...common, ...asked }, async (host) => {
      const loop = new ChatLoop({ context, host, agent: { model, contextTokens }, conversation, folder });
      around.pause = () => loop.pause();
      around.resume = () => loop.resume();
      output.line(`${output.paint.strong(model.name)}  ${output.paint.faint('type /help for help')}`);
      if (previous !== undefined) output.line(lastExchange(previous.messages, output));
      return Promise.race([loop.run(), aborted(signal)]);
    });
  },
};

const EXAMPLES = `
Examples:
  plugboard chat --model anthropic:claude-sonnet-4-5
  plugboard chat --model http://127.0.0.1:11434/v1#qwen3
  plugboard chat -p "what is in @files:file:///notes.md?" --json
  plugboard chat --resume`;

async function promptOf(given: string | undefined): Promise<string | undefined> {
  const prompt = given === '-' ? await readAll(process.stdin) : given;
  if (prompt !== undefined && prompt.trim() === '') throw misuse('chat', 'The prompt is empty');
  return prompt;
}

async function previousOf(folder: string, resume: Flags[string]): Promise<Conversation | undefined> {
  if (resume === undefined || resume === false) return undefined;
  return Conversation.resume(folder, typeof resume === 'string' ? resume : undefined);
}

function modelOf(conversation: Conversation | undefined): string | undefined {
  const model = conversation?.head['model'];
  return typeof model === 'string' ? model : undefined;
}

function contextOf(flags: Flags): number | undefined {
  const given = textFlag(flags, 'context');
  if (given === undefined) return undefined;
  return wholeNumber('--context', given, { max: MAX_CONTEXT_TOKENS, example: '--context 32000' });
}

const MAX_LINES = 20;

/** Returns the last message of each side, shortened. */
function lastExchange(messages: readonly ModelMessage[], { paint }: Pick<Output, 'paint'>): string {
  const at = messages.findLastIndex(({ role }) => role === 'user');
  const asked = textOf(messages[at]);
  const answered = textOf(messages.findLast(({ role }, index) => role === 'assistant' && index > at));
  return [
    paint.faint(`Resumed after ${counted(messages.length, 'message')}.`),
    ...(asked === '' ? [] : [`${paint.strong('›')} ${shortened(asked)}`]),
    ...(answered === '' ? [] : [shortened(answered)]),
  ].join('\n');
}

function textOf(message: ModelMessage | undefined): string {
  const { content } = message ?? { content: '' };
  if (typeof content === 'string') return content.trim();
  return content
    .flatMap((part) => (part.type === 'text' ? [part.text] : []))
    .join('\n')
    .trim();
}

function shortened(text: string): string {
  const lines = clean(text).split('\n');
  if (lines.length <= MAX_LINES) return lines.join('\n');
  return [...lines.slice(0, MAX_LINES), `… ${lines.length - MAX_LINES} more lines`].join('\n');
}
