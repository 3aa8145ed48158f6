/** `plugboard prompt`: prints one prompt for the given arguments. */

import type { PromptResult } from '../../catalog/prompts.ts';
import { readInput, toArguments } from '../call-arguments.ts';
import { askingDuring } from '../call-questions.ts';
import type { CliCommand, Context } from '../cli-command.ts';
import type { Output } from '../output.ts';
import { resultText } from '../result-output.ts';
import { withHost } from '../with-host.ts';

export const prompt: CliCommand = {
  configure(command): void {
    command
      .argument('<server>', 'the server')
      .argument('<name>', 'name of the prompt on its server')
      .argument('[arguments...]', "key=value, one '{json}' object, or - for JSON on stdin")
      .addHelpText('after', '\nExample:\n  plugboard prompt docs review file=README.md style=terse');
  },

  async run(context: Context, args: readonly string[]): Promise<number> {
    const [server = '', name = '', ...words] = args;
    const { output, signal } = context;
    const given = asTexts(
      toArguments(await readInput(words, { stdin: process.stdin, cwd: context.cwd }), {}, () => {}),
    );
    return withHost(context, { servers: [server], ...askingDuring(context) }, async ({ host }) => {
      const result = await host.prompt(server, name, given, { signal, forModel: false });
      output.answer(result, () => promptText(result, output));
      return 0;
    });
  },
};

/** Prompts only take text; other values are sent as JSON. */
function asTexts(given: Readonly<Record<string, unknown>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(given).map(([key, value]) => [
      key,
      typeof value === 'string' ? value : (JSON.stringify(value) ?? ''),
    ]),
  );
}

/** A single message is printed as text, ready for a pipe; several are labelled with their role. */
function promptText({ messages }: PromptResult, { paint }: Output): string {
  const texts = messages.map(({ content }) => resultText({ content: [content] }));
  if (texts.length <= 1) return texts.join('');
  return messages.map(({ role }, at) => `${paint.strong(`${role}:`)}\n${texts[at] ?? ''}`).join('\n\n');
}
