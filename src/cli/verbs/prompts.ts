/** `plugboard prompts`: what servers can say for you, grouped by server. */

import type { Command } from 'commander';
import type { ListedPrompt } from '../../catalog/prompts.ts';
import { clean } from '../../policy/clean.ts';
import { askServers, byServer } from '../each-server.ts';
import type { Output } from '../output.ts';
import { indent, wrap } from '../table.ts';
import type { Context, Verb } from '../verb.ts';
import { withHost } from '../with-host.ts';

/** Characters of a description that a listing shows; `--json` has it whole. */
const MAX_DESCRIPTION = 300;

export const prompts: Verb = {
  configure(command: Command): void {
    command
      .argument('[server]', 'only the prompts of this server')
      .addHelpText('after', '\nExamples:\n  plugboard prompts\n  plugboard prompts docs --json');
  },

  run(context: Context, args: readonly string[]): Promise<number> {
    const [server] = args;
    const { output } = context;
    return withHost(context, { servers: server === undefined ? 'all' : [server] }, async ({ host }) => {
      const found = await askServers(context, host, server, (name) => host.prompts(name));
      output.answer({ prompts: found }, () => describeAll(found, output));
      return 0;
    });
  },
};

function describeAll(found: readonly ListedPrompt[], output: Output): string {
  if (found.length === 0) return 'No prompts.';
  return [...byServer(found)]
    .map(([server, group]) => {
      const head = `${output.paint.strong(clean(server, { multiline: false }))} (${group.length})`;
      return [head, ...group.map((prompt) => indent(describe(prompt, output), '  '))].join('\n');
    })
    .join('\n\n');
}

function describe(prompt: ListedPrompt, { paint, columns }: Output): string {
  const args = (prompt.arguments ?? []).map(({ name, required }) => (required === true ? name : `[${name}]`));
  const head = `${paint.strong(oneLine(prompt.name))} ${paint.faint(oneLine(args.join(' ')))}`;
  const text = clean(prompt.description ?? prompt.title ?? '', { multiline: false, max: MAX_DESCRIPTION });
  const width = columns === undefined ? undefined : columns - 6;
  return [head.trimEnd(), ...(text === '' ? [] : wrap(text, width).map((line) => `  ${line}`))].join('\n');
}

function oneLine(text: string): string {
  return clean(text, { multiline: false });
}
