/** `plugboard list`: shows every server and its state. */

import { PlugboardError } from '../../errors.ts';
import { loadEffective } from '../../policy/effective.ts';
import type { CliCommand, Context, Flags } from '../cli-command.ts';
import { configuredReport, trustDecisions } from '../config-report.ts';
import { reachedBy } from '../entry-lines.ts';
import { noteProblems } from '../problems.ts';
import { reportLines, rowLayout } from '../report-lines.ts';

export const list: CliCommand = {
  configure(command): void {
    command
      .option('--no-connect', 'show the configuration without starting or contacting servers')
      .option('--exit-code', 'exit with 3, 4 or 5 if an enabled server is not connected')
      .addHelpText('after', EXAMPLES);
  },

  async run(context: Context, _args: readonly string[], flags: Flags): Promise<number> {
    const isJudged = flags['exitCode'] === true;
    if (flags['connect'] === false && isJudged) {
      throw new PlugboardError('USAGE', '--exit-code cannot be combined with --no-connect', {
        hint: 'Remove one of them.',
      });
    }
    if (flags['connect'] === false) return listConfigured(context);
    // The host is only loaded if servers are to be connected.
    const { listConnected } = await import('../list-connected.ts');
    return listConnected(context, { isJudged });
  },
};

const EXAMPLES = `
Exits with 0 even if servers failed, and with 3 if one that is "required" did. With --exit-code an enabled server that
is not connected is a failure: 3 if it could not be reached, 4 if it needs a login, 5 if it is not approved or blocked.

Examples:
  plugboard list
  plugboard list --exit-code > /dev/null || echo 'a server is down'
  plugboard list --no-connect --json`;

async function listConfigured(context: Context): Promise<number> {
  const { output } = context;
  const config = context.config ?? (await loadEffective(context));
  const verdicts = await trustDecisions(config.servers, context);
  const authority = { managed: config.managed, env: context.env };
  const servers = config.servers.map((spec) => ({
    ...configuredReport(spec, verdicts, { authority, home: context.home, config }),
    ...reachedBy(spec),
  }));
  noteProblems(config.problems, output);
  output.answer({ servers, problems: config.problems }, () => {
    if (servers.length === 0) return NOTHING;
    const layout = rowLayout(output, servers);
    return servers.flatMap((report) => reportLines(report, layout)).join('\n');
  });
  return 0;
}

export const NOTHING = 'No servers are configured here. Add one: plugboard add <name> -- <command> [args…]';
