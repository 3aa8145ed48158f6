/** Runs `chat -p`: one turn for scripts. The model's text goes to stdout, everything else to stderr. */

import { Agent, type AgentOptions } from '../../chat/agent.ts';
import type { AgentEvent } from '../../chat/agent-events.ts';
import { clean, oneLine } from '../../policy/clean.ts';
import type { Context } from '../cli-command.ts';
import type { Output } from '../output.ts';
import { costLine, errorText, refusedText, StreamCleaner } from './transcript.ts';

/** One call in the `--json` document. */
interface CallReport {
  readonly id: string;
  readonly name: string;
  readonly arguments: unknown;
  isError?: boolean;
  ms?: number;
  /** Why the call did not reach its tool, or failed there. */
  error?: { readonly code: string; readonly message: string };
}

/** Exit status if the model did not finish by itself. */
const EXIT_UNFINISHED = 1;

export async function runOneShot(context: Context, options: AgentOptions, text: string): Promise<number> {
  const { output, signal } = context;
  const agent = new Agent(options);
  const calls = new Map<string, CallReport>();
  const words = new StreamCleaner();
  const turn = await agent.send(text, {
    signal,
    emit: (event) => {
      record(calls, event);
      if (!output.json) show(output, words, event);
    },
  });
  const { host, model } = options;
  const { all, given } = host.definitionTokens();
  const document = {
    id: agent.conversation.id,
    model: model.name,
    text: turn.text,
    finish: turn.finish,
    calls: [...calls.values()],
    usage: turn.usage,
    definitions: { all, given, saved: turn.saved },
  };
  // Without --json the text was already written as it was streamed.
  output.answer(document, () => '');
  if (!output.json) output.note(output.notePaint.faint(costLine(turn)));
  return turn.finish === 'stop' ? 0 : EXIT_UNFINISHED;
}

function record(calls: Map<string, CallReport>, event: AgentEvent): void {
  if (event.type === 'call') {
    const { id, name, arguments: given } = event;
    calls.set(id, { id, name, arguments: given });
  }
  if (event.type !== 'result') return;
  const call = calls.get(event.id);
  if (call === undefined) return;
  call.isError = event.answer.isError;
  call.ms = Math.round(event.ms);
  const { error } = event.answer;
  if (error !== undefined) call.error = { code: error.code, message: error.message };
}

function show(output: Output, words: StreamCleaner, event: AgentEvent): void {
  const { notePaint } = output;
  if (event.type === 'text') output.write(words.push(event.text));
  if (event.type === 'call') output.note(notePaint.faint(`→ ${oneLine(event.name)}`));
  if (event.type === 'result') {
    const mark = event.answer.isError ? notePaint.bad('✖') : notePaint.good('✔');
    const about = `${oneLine(event.name)} ${notePaint.faint(`${Math.round(event.ms)} ms`)}`;
    // The reason was sent to the model; show it to the person too.
    const [why = ''] = event.answer.isError ? errorText(event.answer).split('\n') : [];
    output.note(why === '' ? `${mark} ${about}` : `${mark} ${about}  ${why}`);
  }
  if (event.type === 'refused') output.remark(`${refusedText(event)} Use --yes to allow every call.`);
  if (event.type === 'unknown') output.remark(`${clean(event.what)} was not found.`);
}
