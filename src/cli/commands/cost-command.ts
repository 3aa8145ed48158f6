/** `plugboard cost`: what servers and tools cost a model in tokens, and which of them are unused. */

import { ADVICE_DAYS, type CostReport, isLongEnough, type ServerCost } from '../../call/cost-report.ts';
import { parseMode } from '../../catalog/deferral.ts';
import { joinArgv } from '../../lib/argv.ts';
import { oneLine } from '../../policy/clean.ts';
import { type CliCommand, type Context, type Flags, textFlag } from '../cli-command.ts';
import { misuse, wholeNumber } from '../flags.ts';
import type { Output } from '../output.ts';
import { layOut } from '../text-layout.ts';
import { addRefreshFlag, withLists } from '../with-lists.ts';

const DEFAULT_DAYS = 30;
const MAX_DAYS = 3_650;

export const cost: CliCommand = {
  configure(command): void {
    addRefreshFlag(
      command
        .argument('[server]', 'show the tools of this server')
        .option('--days <count>', `period of calls and results (default: ${DEFAULT_DAYS})`),
    ).addHelpText('after', EXAMPLES);
  },

  async run(context: Context, args: readonly string[], flags: Flags): Promise<number> {
    const { output, env } = context;
    const [server] = args;
    const given = textFlag(flags, 'days');
    const days =
      given === undefined
        ? DEFAULT_DAYS
        : wholeNumber('--days', given, { min: 1, max: MAX_DAYS, example: '--days 7' });
    const wanted = { servers: undefined, refresh: flags['refresh'] === true };
    return withLists(context, wanted, async (host) => {
      const fromEnv = env['ENABLE_TOOL_SEARCH'];
      const toolSearch = fromEnv ? parseMode(fromEnv) : (host.profiles.settings.toolSearch ?? 'auto');
      const report = await host.cost({ days, toolSearch });
      if (server === undefined) {
        output.answer(report, () => serverLines(report, output).join('\n'));
        return 0;
      }
      const found = report.servers.find((each) => each.server === server);
      if (found === undefined) throw misuse('cost', `${JSON.stringify(server)} has no tools`);
      output.answer(found, () => toolLines(found, output).join('\n'));
      return 0;
    });
  },
};

const EXAMPLES = `
Tokens are counted with the o200k vocabulary. "full" are definitions as servers write them, "compact" those with
"definitions": "compact", and "found" the line of a search result, paid only for tools that are found. Calls and tokens
of results are from the audit log; the latter are estimates.

Examples:
  plugboard cost
  plugboard cost github --days 7
  plugboard cost --json`;

const RIGHT = { align: 'right' } as const;
const HEAD = ['', 'full', 'compact', 'found', 'calls', 'results', ''];

function serverLines(report: CostReport, output: Output): readonly string[] {
  const { servers, definitions, search, given, saving, days, since } = report;
  if (servers.length === 0) return ['There are no tools.'];
  const rows = servers.map((server) => [
    oneLine(`${server.server} (${server.tools.length})`),
    ...numbers(server),
    server.unused ? output.paint.warn(`not called in ${days} days`) : '',
  ]);
  const all = servers.reduce((sum, { calls }) => sum + calls, 0);
  const tokens = servers.reduce((sum, { resultTokens }) => sum + resultTokens, 0);
  const total = ['all', ...numbers({ definitions, calls: all, resultTokens: tokens }), ''];
  const now = search
    ? `Tools are found by search: a model gets ${count(given)} tokens of definitions with each request.`
    : `A model gets ${count(given)} tokens of definitions with each request.`;
  const hint =
    saving === undefined
      ? search || isLongEnough(since === undefined ? undefined : Date.parse(since), Date.now())
        ? []
        : [`Advice on what to switch off needs an audit log of ${ADVICE_DAYS} days.`]
      : [
          `${oneLine(saving.reason)}. This saves ${count(saving.tokens)} tokens: ${joinArgv([...saving.command])}`,
        ];
  return [...table([...rows, total], output), '', now, ...hint];
}

function toolLines({ tools, server, ...total }: ServerCost, output: Output): readonly string[] {
  const rows = tools.map((tool) => [oneLine(tool.tool), ...numbers(tool), '']);
  return table([...rows, [oneLine(server), ...numbers(total), '']], output);
}

function table(rows: readonly (readonly string[])[], { columns, paint }: Output): readonly string[] {
  const [head = '', ...lines] = layOut([HEAD, ...rows], {
    columns: [{}, RIGHT, RIGHT, RIGHT, RIGHT, RIGHT, {}],
    total: columns,
  });
  return [paint.faint(head), ...lines];
}

function numbers({
  definitions: { full, compact, deferred },
  calls,
  resultTokens,
}: Pick<ServerCost, 'definitions' | 'calls' | 'resultTokens'>): string[] {
  return [full, compact, deferred, calls, resultTokens].map(count);
}

function count(value: number): string {
  return value.toLocaleString('en');
}
