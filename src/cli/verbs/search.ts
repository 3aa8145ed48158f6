/** `plugboard search`: tools by what they do. */

import type { Command } from 'commander';
import { clean } from '../../policy/clean.ts';
import { wholeNumber } from '../flags.ts';
import { wrap } from '../table.ts';
import { type Context, type Flags, textFlag, type Verb } from '../verb.ts';
import { addRefreshFlag, missingTools, wantedLists, withLists } from '../with-lists.ts';

const DEFAULT_RESULTS = 10;
const MAX_RESULTS = 1000;
/** Characters of a description that a result shows. */
const MAX_DESCRIPTION = 200;

/** What people call the parts of a tool that were searched. */
const PART_NAMES: Readonly<Record<string, string>> = {
  parameters: 'names of parameters',
  parameterTexts: 'texts of parameters',
};

export const search: Verb = {
  configure(command: Command): void {
    addRefreshFlag(command.argument('<query...>', 'what the tool should do'))
      .option('-n, --limit <count>', `how many to show (${DEFAULT_RESULTS})`)
      .addHelpText(
        'after',
        '\nExample:\n  plugboard search create an issue -n 3\n  plugboard search create an issue --verbose   (says why each was found)',
      );
  },

  run(context: Context, args: readonly string[], flags: Flags): Promise<number> {
    const { output } = context;
    const given = textFlag(flags, 'limit');
    const limit =
      given === undefined ? DEFAULT_RESULTS : wholeNumber('-n', given, { max: MAX_RESULTS, example: '-n 5' });
    const wanted = wantedLists([], flags);
    return withLists(context, wanted, async (host, noteUnreached) => {
      const results = await host.search(args.join(' '), { limit });
      const unreached = noteUnreached(missingTools(host, wanted));
      output.answer({ results, ...unreached }, () => {
        if (results.length === 0) return 'No matching tools.';
        const width = output.columns === undefined ? undefined : output.columns - 2;
        return results
          .map(({ server, tool, description, why = [] }) => {
            const name = `${output.paint.strong(clean(tool, { multiline: false }))} of ${clean(server, { multiline: false })}`;
            const text = clean(description, { multiline: false, max: MAX_DESCRIPTION });
            const lines = text === '' ? [] : wrap(text, width).map((line) => `  ${line}`);
            const reasons = why.map(
              ({ field, words }) => `${PART_NAMES[field] ?? field}: ${words.join(', ')}`,
            );
            const because = reasons.length > 0 ? reasons.join('; ') : 'its meaning is close to the query';
            return [
              name,
              ...lines,
              ...(context.verbose ? [output.paint.faint(`  why: ${because}`)] : []),
            ].join('\n');
          })
          .join('\n');
      });
      return 0;
    });
  },
};
