/** The connecting half of `list`: all servers in parallel, each shown as it settles. */

import type { LoadedConfig } from '../config/load.ts';
import { EXIT_STATUS } from '../errors.ts';
import type { ServerReport } from '../host-report.ts';
import { isRequired } from '../policy/required.ts';
import { LiveBlock } from './live-block.ts';
import { reportLines, rowLayout, summary } from './report-lines.ts';
import type { Context } from './verb.ts';
import { NOTHING } from './verbs/list.ts';
import { type CommandHost, openHost } from './with-host.ts';

export function listConnected(context: Context): Promise<number> {
  const { output } = context;
  return openHost(context, { servers: 'all' }, async ({ host, config }) => {
    const settled = new Map<string, ServerReport>();
    const isLive = output.live && host.servers().length > 0;
    const view = isLive ? inPlace(context, host, settled) : streamed(context, host);
    view.start();
    try {
      await Promise.all(
        host.servers().map(async ({ name }) => {
          // Refused, failed or connected: its report says it all.
          await host.connect(name).catch(() => {});
          const report = reportOf(host, name);
          if (report === undefined) return;
          settled.set(name, report);
          view.settled(report);
        }),
      );
    } finally {
      view.stop();
    }
    const servers = host.servers().map((report) => settled.get(report.name) ?? report);
    if (output.json) output.answer({ servers, problems: config.problems }, () => '');
    else output.line(servers.length === 0 ? NOTHING : output.paint.faint(summary(servers)));
    return missesRequired(context, config, servers) ? EXIT_STATUS.REQUIRED_FAILED : 0;
  });
}

interface View {
  start(): void;
  settled(report: ServerReport): void;
  stop(): void;
}

/** On a terminal: all rows in their order from the beginning, redrawn where they stand. */
function inPlace({ output }: Context, host: CommandHost, settled: ReadonlyMap<string, ServerReport>): View {
  const reports = host.servers();
  const layout = rowLayout(
    output,
    reports.map(({ name }) => name),
  );
  const block = new LiveBlock(output, (spinner) =>
    reports.flatMap((first) => reportLines(settled.get(first.name) ?? waiting(first), layout, spinner)),
  );
  return { start: () => block.start(), settled: () => block.draw(), stop: () => block.stop() };
}

/** A row that is not settled yet looks the same whether its start has begun or is about to. */
function waiting(report: ServerReport): ServerReport {
  return report.status === 'idle' ? { ...report, status: 'connecting' } : report;
}

/** Elsewhere: one row per server when it settles. */
function streamed({ output }: Context, host: CommandHost): View {
  const layout = rowLayout(
    output,
    host.servers().map(({ name }) => name),
  );
  return {
    start: () => {},
    settled: (report) => output.line(reportLines(report, layout).join('\n')),
    stop: () => {},
  };
}

function reportOf(host: CommandHost, name: string): ServerReport | undefined {
  return host.servers().find((report) => report.name === name);
}

function missesRequired(
  { output }: Context,
  config: LoadedConfig,
  servers: readonly ServerReport[],
): boolean {
  const specs = new Map(config.servers.map((spec) => [spec.name, spec]));
  const missing = servers.filter(({ name, status }) => {
    const spec = specs.get(name);
    return spec !== undefined && isRequired(spec, status) && status !== 'connected' && status !== 'disabled';
  });
  if (missing.length === 0) return false;
  const names = missing.map(({ name }) => name).join(', ');
  if (!output.json) output.note(`${output.notePaint.bad('error:')} required but not connected: ${names}`);
  return true;
}
