/** `plugboard info`: shows one server's current state: its own description, how it runs, and where it is configured. */

import { existsSync } from 'node:fs';
import { asPlugboardError, EXIT_STATUS } from '../../errors.ts';
import type { ServerDetails } from '../../host/host-report.ts';
import { joinArgv } from '../../lib/argv.ts';
import { defined } from '../../lib/defined.ts';
import { clean, oneLine } from '../../policy/clean.ts';
import { findServer } from '../../setup/known-server.ts';
import { serverLogFile } from '../../transport/server-log.ts';
import type { CliCommand, Context } from '../cli-command.ts';
import { type MaybePair, pairLines, presentPairs, reachedBy } from '../entry-lines.ts';
import type { Output } from '../output.ts';
import { whileConnecting } from '../progress-line.ts';
import { type ListedServer, statusText, toolCount } from '../report-lines.ts';
import { SCOPE_MEANING } from '../scope-flag.ts';
import { indent, wrap } from '../text-layout.ts';
import { openHost } from '../with-host.ts';

export const info: CliCommand = {
  configure(command): void {
    command
      .argument('<server>', 'the server')
      .addHelpText('after', '\nExamples:\n  plugboard info files\n  plugboard info files --json');
  },

  run(context: Context, args: readonly string[]): Promise<number> {
    const [name = ''] = args;
    const { output, home } = context;
    return openHost(context, { servers: [name], connect: 'none' }, async ({ host, config }) => {
      const spec = findServer(config, name);
      const failure = await whileConnecting(output, host, () =>
        host.connect(name).then(() => undefined, asPlugboardError),
      );
      const report = host.servers().find((each) => each.name === name);
      if (report === undefined) throw failure ?? new Error(`${name} is configured and has no report`);
      const logFile = serverLogFile(home, spec);
      // A server that has just connected may not have written its first log lines yet.
      const log = report.status === 'connected' || existsSync(logFile) ? logFile : undefined;
      const server = { ...report, ...reachedBy(spec) };
      const details = host.details(name);
      const { file } = spec;
      output.answer({ ...server, ...defined({ file }), ...details, ...defined({ log }) }, () =>
        describe({ server, details, file, log }, output),
      );
      // A server disabled by its owner is not a failure of this command.
      return failure === undefined || server.status === 'disabled' ? 0 : EXIT_STATUS[failure.code];
    });
  },
};

interface Shown {
  readonly server: ListedServer;
  readonly details: ServerDetails;
  readonly file: string | undefined;
  readonly log: string | undefined;
}

function describe({ server, details, file, log }: Shown, output: Output): string {
  const { paint, columns } = output;
  const { serverInfo, instructions, holdsInstructions, capabilities } = details;
  const error = server.status === 'disabled' ? undefined : server.error;
  const pairs: readonly MaybePair[] = [
    ['name', serverInfo && `${serverInfo.name} ${serverInfo.version}`.trim()],
    ['title', serverInfo?.title],
    ['status', statusText(server)],
    ['reason', error && oneLine(error.message)],
    ['hint', error?.hint === undefined ? undefined : oneLine(error.hint)],
    ['protocol', server.protocolVersion && `${oneLine(server.protocolVersion)} (${server.era})`],
    ['tools', server.status === 'connected' ? toolsText(server) : undefined],
    ['capabilities', capabilities && (capabilityNames(capabilities).join(', ') || 'none')],
    ['pid', server.pid === undefined ? undefined : String(server.pid)],
    ['transport', server.transport],
    ['command', server.command && oneLine(server.command)],
    ['url', server.url && oneLine(server.url)],
    ['scope', `${server.scope} (${SCOPE_MEANING[server.scope]})`],
    ['file', file],
    ['log', log && `${log} (${joinArgv(['plugboard', 'logs', server.name])})`],
  ];
  const width = columns === undefined ? undefined : columns - 2;
  const cleaned = clean(instructions ?? '').trim();
  const text =
    cleaned !== ''
      ? cleaned.split('\n').flatMap((line) => wrap(line, width))
      : holdsInstructions === true
        ? [`On hold, because they are new or have changed: ${joinArgv(['plugboard', 'pins', server.name])}`]
        : [];
  return [
    paint.strong(oneLine(server.name)),
    ...pairLines(presentPairs(pairs)),
    ...(text.length === 0 ? [] : ['', paint.strong('Instructions'), indent(text.join('\n'), '  ')]),
  ].join('\n');
}

function toolsText({ tools, held = 0 }: ListedServer): string {
  return `${toolCount(tools)}${held === 0 ? '' : `, ${held} on hold`}`;
}

/** Returns names such as `resources.subscribe` for enabled members; extensions are listed by name. */
function capabilityNames(capabilities: Readonly<Record<string, unknown>>): string[] {
  return Object.entries(capabilities).flatMap(([name, value]) => {
    const inner = Object.entries(typeof value === 'object' && value !== null ? value : {});
    const isOpen = name === 'extensions' || name === 'experimental';
    const on = inner.filter(([, each]) => isOpen || each === true).map(([key]) => oneLine(key));
    const shown = oneLine(name);
    if (isOpen) return on;
    return on.length === 0 ? [shown] : [`${shown} (${on.join(', ')})`];
  });
}
