/** `plugboard tools`: lists the tools of servers, grouped by server; with a tool's name, shows that tool. */

import type { Tool } from '../../catalog/tool.ts';
import type { InspectedTool } from '../../host/host-report.ts';
import { groupBy } from '../../lib/group-by.ts';
import { oneLine } from '../../policy/clean.ts';
import { toolInOneWord } from '../call-target.ts';
import type { CliCommand, Context, Flags } from '../cli-command.ts';
import type { Output } from '../output.ts';
import { argumentNames } from '../schema-text.ts';
import { indent, shortened, wrap } from '../text-layout.ts';
import { heldDocument, heldLine, showTool } from '../tool-view.ts';
import { addRefreshFlag, missingTools, serversOf, wantedLists, withLists } from '../with-lists.ts';

/** Maximum description length in a listing; `--verbose`, `tool` and `--json` have the whole text. */
const MAX_DESCRIPTION = 300;

export const tools: CliCommand = {
  configure(command): void {
    addRefreshFlag(
      command
        .argument('[server]', 'only the tools of this server')
        .argument('[tool]', 'only this tool, as plugboard tool shows it'),
    ).addHelpText(
      'after',
      '\nExamples:\n  plugboard tools\n  plugboard tools files --json\n  plugboard tools files read_text_file',
    );
  },

  async run(context: Context, args: readonly string[], flags: Flags): Promise<number> {
    const [server = '', tool] = args;
    if (tool !== undefined || (await toolInOneWord(context, server)) !== undefined)
      return showTool(context, args, flags);
    return list(context, args, flags);
  },
};

function list(context: Context, args: readonly string[], flags: Flags): Promise<number> {
  const wanted = wantedLists(args, flags);
  const { output, verbose } = context;
  return withLists(context, wanted, async (host, noteUnreached) => {
    const names = serversOf(host, wanted);
    const found = host.tools().filter(({ server }) => names.includes(server));
    // Listed too: without them it would look as if the server did not have them.
    const held = names.flatMap((name) => host.inspect(name)).filter(({ state }) => state === 'held');
    const unreached = noteUnreached(missingTools(host, wanted));
    const document = { tools: found, ...(held.length === 0 ? {} : { held: held.map(heldDocument) }) };
    output.answer({ ...document, ...unreached }, () =>
      listing(found, held, { output, max: verbose ? undefined : MAX_DESCRIPTION }),
    );
    return 0;
  });
}

interface Shown {
  readonly output: Output;
  /** Maximum length of a description; undefined: unlimited. */
  readonly max: number | undefined;
}

function listing(found: readonly Tool[], held: readonly InspectedTool[], shown: Shown): string {
  const { paint } = shown.output;
  const usable = groupBy(found, ({ server }) => server);
  const heldOf = groupBy(held, ({ tool }) => tool.server);
  const servers = [...new Set([...usable.keys(), ...heldOf.keys()])];
  if (servers.length === 0) return 'No tools.';
  return servers
    .map((server) => {
      const [own, kept] = [usable.get(server) ?? [], heldOf.get(server) ?? []];
      const count = kept.length === 0 ? `${own.length}` : `${own.length}, ${kept.length} on hold`;
      return [
        `${paint.strong(oneLine(server))} (${count})`,
        ...own.map((tool) => indent(describe(tool, shown), '  ')),
        ...kept.flatMap((tool) => heldLine(tool, shown.output).map((line) => `  ${line}`)),
      ].join('\n');
    })
    .join('\n\n');
}

function describe(tool: Tool, { output, max }: Shown): string {
  const width = output.columns === undefined ? undefined : output.columns - 6;
  const text = shortened(tool.description, max);
  const head = `${output.paint.strong(oneLine(tool.tool))} ${output.paint.faint(argumentNames(tool.inputSchema))}`;
  return [head.trimEnd(), ...(text === '' ? [] : wrap(text, width).map((line) => `  ${line}`))].join('\n');
}
