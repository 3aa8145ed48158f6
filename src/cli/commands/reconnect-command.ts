/** `plugboard reconnect`: restarts a server of the daemon. */

import { PlugboardError } from '../../errors.ts';
import type { CliCommand, Context } from '../cli-command.ts';
import { whileConnecting } from '../progress-line.ts';
import { reportLines, rowLayout } from '../report-lines.ts';
import { openHost } from '../with-host.ts';

export const reconnect: CliCommand = {
  configure(command): void {
    command.argument('<server>', 'the server').addHelpText('after', EXAMPLES);
  },

  run(context: Context, args: readonly string[]): Promise<number> {
    const [name = ''] = args;
    const { output } = context;
    return openHost(context, { servers: [name], connect: 'none' }, async ({ host }) => {
      // Without a daemon every command starts its own servers.
      if (context.openHost === undefined) throw notRunning(name);
      await whileConnecting(output, host, () => host.reconnect(name));
      const report = host.servers().find((each) => each.name === name);
      if (report === undefined) throw new Error(`${name} is not in the list of servers`);
      output.answer(report, () => reportLines(report, rowLayout(output, [report])).join('\n'));
      return 0;
    });
  },
};

const EXAMPLES = `
The daemon restarts the server for all agents that share it. Running calls fail.

Examples:
  plugboard reconnect files`;

function notRunning(server: string): PlugboardError {
  return new PlugboardError('USAGE', `The daemon is not running, so "${server}" is not connected`, {
    server,
    hint: 'Run plugboard daemon start to keep servers running. Without it, each command starts them itself.',
  });
}
