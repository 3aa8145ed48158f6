/** `plugboard` without arguments on a terminal: shows the state from files alone, and suggests the next command. */

import type { ServerReport } from '../host/host-report.ts';
import { loadEffective } from '../policy/effective.ts';
import type { Context } from './cli-command.ts';
import { configuredReport, trustDecisions } from './config-report.ts';
import type { Output } from './output.ts';
import { noteProblems } from './problems.ts';
import { reportLines, rowLayout, summary, toolCount } from './report-lines.ts';
import { layOut, width, wrap } from './text-layout.ts';

/** Lines other than the rows of servers, which use the rest of the window. */
const OTHER_LINES = 8;
const MIN_ROWS = 5;

export async function overview(context: Context): Promise<number> {
  const { output, home } = context;
  const config = await loadEffective(context);
  const verdicts = await trustDecisions(config.servers, context);
  const authority = { managed: config.managed, env: context.env };
  const reports = config.servers.map((spec) => configuredReport(spec, verdicts, { authority, home, config }));
  noteProblems(config.problems, output);
  const advice = nextStep(reports, config.problems.length > 0);
  output.line(
    [
      ...(reports.length === 0 ? ['No servers are configured here.'] : state(context, reports)),
      '',
      ...steps(advice, output),
    ].join('\n'),
  );
  return 0;
}

function steps(advice: readonly Step[], { paint, columns }: Output): string[] {
  const all = [...advice, { command: 'plugboard --help', why: 'show all commands' }];
  const fits = columns === undefined || all.every(({ why }) => width(why) <= columns - besides(all));
  if (fits) {
    return layOut(
      all.map(({ command, why }, at) => [at === 0 ? 'Next:' : '', command, why]),
      { columns: [{}, { paint: paint.strong }, { paint: paint.faint }], total: columns },
    );
  }
  // Too narrow for a table: reasons go below their commands, untruncated.
  return [
    'Next:',
    ...all.flatMap(({ command, why }) => [
      `  ${paint.strong(command)}`,
      ...wrap(why, columns - WHY_INDENT.length).map((line) => WHY_INDENT + paint.faint(line)),
    ]),
  ];
}

const WHY_INDENT = '      ';

/** Width of a step without its reason. */
function besides(all: readonly Step[]): number {
  return 'Next:    '.length + Math.max(...all.map(({ command }) => width(command))) + 2;
}

function state({ output }: Context, reports: readonly ServerReport[]): string[] {
  const layout = rowLayout(output, reports);
  const room = Math.max(MIN_ROWS, output.rows - OTHER_LINES);
  // One line per server; `list` shows reasons and hints.
  const rows = reports.map((report) => reportLines(report, layout)[0] ?? '');
  const tools = reports.reduce((sum, report) => sum + report.tools, 0);
  return [
    ...rows.slice(0, room),
    ...(rows.length > room ? [output.paint.faint(`  and ${rows.length - room} more`)] : []),
    '',
    output.paint.faint(`${summary(reports)}; ${toolCount(tools)} known`),
  ];
}

interface Step {
  readonly command: string;
  readonly why: string;
}

/** Suggests commands for the current state, most urgent first. */
function nextStep(reports: readonly ServerReport[], hasProblems: boolean): Step[] {
  if (reports.length === 0) {
    return [
      { command: 'plugboard up', why: 'import the servers of your agents, step by step' },
      { command: 'plugboard import --dry-run', why: 'show the servers of other agents on this machine' },
      { command: 'plugboard add <name> -- <command>', why: 'add a server' },
    ];
  }
  if (hasProblems) return [{ command: 'plugboard doctor', why: 'see what is wrong, and how to fix it' }];
  if (reports.some(({ status }) => status === 'untrusted')) {
    return [{ command: 'plugboard trust', why: 'review what this project would run' }];
  }
  const isUnseen = reports.some(({ status, tools }) => status === 'idle' && tools === 0);
  if (isUnseen) return [{ command: 'plugboard list', why: 'connect to all of them' }];
  return [{ command: 'plugboard search <words>', why: 'find a tool by what it does' }];
}
