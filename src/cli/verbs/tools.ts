/** `plugboard tools`: what can be called, grouped by server. */

import type { Command } from 'commander';
import type { Tool } from '../../catalog/tool.ts';
import { isRecord } from '../../lib/json-rpc.ts';
import { clean } from '../../policy/clean.ts';
import { byServer } from '../each-server.ts';
import type { Output } from '../output.ts';
import { indent, wrap } from '../table.ts';
import type { Context, Flags, Verb } from '../verb.ts';
import type { CommandHost } from '../with-host.ts';
import { addRefreshFlag, missingTools, wantedLists, withLists } from '../with-lists.ts';
import { joinWords } from '../words.ts';

/** Characters of a description that a listing shows; `--json` has it whole. */
const MAX_DESCRIPTION = 300;

export const tools: Verb = {
  configure(command: Command): void {
    addRefreshFlag(command.argument('[server]', 'only the tools of this server')).addHelpText(
      'after',
      '\nExamples:\n  plugboard tools\n  plugboard tools files --json',
    );
  },

  run(context: Context, args: readonly string[], flags: Flags): Promise<number> {
    const wanted = wantedLists(args, flags);
    const { server } = wanted;
    return withLists(context, wanted, async (host, noteUnreached) => {
      const found = host.tools().filter((tool) => server === undefined || tool.server === server);
      const unreached = noteUnreached(missingTools(host, wanted));
      noteHeld(context, host, server);
      context.output.answer({ tools: found, ...unreached }, () => listing(found, context.output));
      return 0;
    });
  },
};

/** A tool that is held back is missing from the list, which would look as if the server had none. */
function noteHeld({ output }: Context, host: CommandHost, server: string | undefined): void {
  for (const { name, held = 0 } of host.servers()) {
    if (held === 0 || (server !== undefined && name !== server)) continue;
    const what = held === 1 ? '1 tool is' : `${held} tools are`;
    const command = joinWords(['plugboard', 'pins', name]);
    const text = clean(`${what} held back, new or changed: ${command}`, { multiline: false });
    output.note(`${output.notePaint.warn('note:')} ${text}`);
  }
}

function listing(found: readonly Tool[], output: Output): string {
  if (found.length === 0) return 'No tools.';
  return [...byServer(found)]
    .map(([server, group]) => {
      const head = `${output.paint.strong(clean(server, { multiline: false }))} (${group.length})`;
      return [head, ...group.map((tool) => indent(describe(tool, output), '  '))].join('\n');
    })
    .join('\n\n');
}

function describe(tool: Tool, output: Output): string {
  const width = output.columns === undefined ? undefined : output.columns - 6;
  const text = clean(tool.description, { multiline: false, max: MAX_DESCRIPTION });
  const head = `${output.paint.strong(clean(tool.tool, { multiline: false }))} ${output.paint.faint(parameters(tool))}`;
  return [head.trimEnd(), ...(text === '' ? [] : wrap(text, width).map((line) => `  ${line}`))].join('\n');
}

/** `path [limit]`: what it takes, the optional in brackets. */
function parameters({ inputSchema }: Tool): string {
  const { properties, required } = inputSchema;
  if (!isRecord(properties)) return '';
  const needed = new Set(Array.isArray(required) ? required : []);
  return Object.keys(properties)
    .map((name) => clean(needed.has(name) ? name : `[${name}]`, { multiline: false }))
    .join(' ');
}
