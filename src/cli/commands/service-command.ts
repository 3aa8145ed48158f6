/** `plugboard service`: installs, removes and inspects the daemon as a user service. */

import { Argument } from 'commander';
import { oneLine } from '../../policy/clean.ts';
import type { CliCommand, Context } from '../cli-command.ts';
import { installService, removeService, serviceStatus } from '../service/service-manager.ts';

const ACTIONS = ['install', 'remove', 'status'] as const;

export const service: CliCommand = {
  configure(command): void {
    command.addArgument(new Argument('<action>', 'action').choices(ACTIONS)).addHelpText('after', EXAMPLES);
  },

  async run(context: Context, args: readonly string[]): Promise<number> {
    const [action] = args;
    if (action === 'install') return install(context);
    return action === 'remove' ? remove(context) : status(context);
  },
};

const EXAMPLES = `
Linux: a systemd user unit. macOS: a launchd agent. It starts at login and restarts after a crash.

Examples:
  plugboard service install
  plugboard service status --json`;

async function install(context: Context): Promise<number> {
  const { output } = context;
  const installed = await installService(context);
  const { file, started, reason = '', command = '' } = installed;
  output.answer(installed, () =>
    started
      ? `${output.paint.good('Installed')} and started the service: ${file}`
      : [
          `${output.paint.good('Wrote')} ${file}; it starts at your next login.`,
          `It could not be started now: ${oneLine(reason)}`,
          `Start it with: ${command}`,
        ].join('\n'),
  );
  return 0;
}

async function remove(context: Context): Promise<number> {
  const removed = await removeService(context);
  context.output.answer(removed, () =>
    removed.removed ? `Removed the service: ${removed.file}` : 'The service is not installed.',
  );
  return 0;
}

async function status(context: Context): Promise<number> {
  const report = await serviceStatus(context);
  context.output.answer(report, () => {
    const { installed, running, current, file, manager } = report;
    if (!installed) return 'The service is not installed. Install it: plugboard service install';
    const state =
      running === null ? `unknown (${manager} is not available)` : running ? 'running' : 'not running';
    const old = current
      ? []
      : ['It was installed by another version or from another path. Update it: plugboard service install'];
    return [`${file}: ${state}`, ...old].join('\n');
  });
  return 0;
}
