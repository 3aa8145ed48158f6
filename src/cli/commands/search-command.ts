/** `plugboard search`: finds tools by description, and shows the arguments of each and how to call it. */

import type { Tool } from '../../catalog/tool.ts';
import { PlugboardError } from '../../errors.ts';
import type { SearchResult } from '../../host/host-search.ts';
import { oneLine } from '../../policy/clean.ts';
import { type CliCommand, type Context, type Flags, textFlag } from '../cli-command.ts';
import { exampleCall } from '../example-call.ts';
import { wholeNumber } from '../flags.ts';
import type { Output } from '../output.ts';
import { argumentNames } from '../schema-text.ts';
import { shortened, wrap } from '../text-layout.ts';
import { addRefreshFlag, missingTools, wantedLists, withLists } from '../with-lists.ts';

const DEFAULT_RESULTS = 10;
const MAX_RESULTS = 1000;
/** Maximum description length in a result. */
const MAX_DESCRIPTION = 200;
/** Minimum score relative to the best result: most results below it are unrelated to the query. */
const MIN_RELEVANCE = 0.7;

/** Display names of the searched fields of a tool. */
const PART_NAMES: Readonly<Record<string, string>> = {
  parameters: 'names of parameters',
  parameterTexts: 'texts of parameters',
};

export const search: CliCommand = {
  configure(command): void {
    addRefreshFlag(command.argument('<query...>', 'what the tool should do'))
      .option('-n, --limit <count>', `maximum number of results (default: ${DEFAULT_RESULTS})`)
      .option('--all', 'also show results that match much less than the best one')
      .addHelpText('after', EXAMPLES);
  },

  async run(context: Context, args: readonly string[], flags: Flags): Promise<number> {
    const { output, verbose } = context;
    const given = textFlag(flags, 'limit');
    const limit =
      given === undefined ? DEFAULT_RESULTS : wholeNumber('-n', given, { max: MAX_RESULTS, example: '-n 5' });
    const query = args.join(' ').trim();
    if (query === '') {
      throw new PlugboardError('USAGE', 'The query is empty', {
        hint: 'Describe what the tool should do, for example: plugboard search read a file. Run plugboard tools to list all tools.',
      });
    }
    const wanted = wantedLists([], flags);
    return withLists(context, wanted, async (host, noteUnreached) => {
      const found = await host.search(query, { limit });
      const unreached = noteUnreached(missingTools(host, wanted));
      const kept =
        flags['all'] === true ? found : found.filter(({ relevance }) => relevance >= MIN_RELEVANCE);
      const weaker = found.length - kept.length;
      const results = kept.map((result): Shown => ({ result, tool: host.find(result.name) }));
      const document = { results: results.map(documentOf), ...(weaker === 0 ? {} : { weaker }) };
      output.answer({ ...document, ...unreached }, () =>
        results.length === 0
          ? 'No matching tools.'
          : [
              ...(results[0]?.result.weak === true ? ['Nothing fits well. The nearest:'] : []),
              ...results.map((each) => resultLines(each, output, verbose).join('\n')),
            ].join('\n\n'),
      );
      if (weaker > 0 && !output.json) {
        const what = weaker === 1 ? '1 weaker match is' : `${weaker} weaker matches are`;
        output.note(output.notePaint.faint(`${what} not shown. Use --all to show them.`));
      }
      return 0;
    });
  },
};

const EXAMPLES = `
Examples:
  plugboard search create an issue -n 3
  plugboard search create an issue --verbose   (with the reason for each result)`;

interface Shown {
  readonly result: SearchResult;
  readonly tool: Tool | undefined;
}

function documentOf({ result, tool }: Shown): Record<string, unknown> {
  if (tool === undefined) return { ...result };
  const call = exampleCall(tool);
  return { ...result, inputSchema: tool.inputSchema, ...(call === undefined ? {} : { call }) };
}

function resultLines({ result, tool }: Shown, { paint, columns }: Output, verbose: boolean): string[] {
  const width = columns === undefined ? undefined : columns - 2;
  const takes = tool === undefined ? '' : argumentNames(tool.inputSchema);
  const head = `${oneLine(result.server)} ${paint.strong(oneLine(result.tool))} ${paint.faint(takes)}`;
  const text = shortened(result.description, verbose ? undefined : MAX_DESCRIPTION);
  const call = tool === undefined ? undefined : exampleCall(tool);
  return [
    head.trimEnd(),
    ...(text === '' ? [] : wrap(text, width).map((line) => `  ${line}`)),
    ...(verbose ? [paint.faint(`  why: ${reasonOf(result)}`)] : []),
    ...(call === undefined ? [] : [`  ${call}`]),
  ];
}

function reasonOf({ why = [] }: SearchResult): string {
  const reasons = why.map(({ field, words }) => `${PART_NAMES[field] ?? field}: ${words.join(', ')}`);
  return reasons.length > 0 ? reasons.join('; ') : 'its meaning is close to the query';
}
