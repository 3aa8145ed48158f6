/** Runs the command `plugboard`; the only place that ends the process. */

import { findHome } from '../config/home.ts';
import { DAEMON_COMMANDS } from '../daemon/protocol/daemon-messages.ts';
import { mayHaveDaemon } from '../daemon/protocol/daemon-use.ts';

const [, , ...argv] = process.argv;
if (argv[0] === '__complete') {
  void completeWords();
} else {
  void main();
}

async function completeWords(): Promise<void> {
  const { runComplete } = await import('./completion/run-complete.ts');
  await runComplete(argv.slice(1));
}

async function main(): Promise<void> {
  const command = argv.find((word) => word !== '--json') ?? '';
  // A relay, or a command that a running daemon can run. Commands that only read files need no daemon.
  const isRun = DAEMON_COMMANDS.has(command) && mayHaveDaemon(findHome(process.env), process.env);
  if ((command === 'serve' || isRun) && !argv.includes('--no-connect')) {
    const { runThroughDaemon } = await import('../daemon/client/run-in-daemon.ts');
    const status = await runThroughDaemon(argv, process.env, async (question) => {
      const { askForDaemon } = await import('./elicit-form.ts');
      return askForDaemon(question, argv.includes('--json'));
    });
    if (status === 'alone') argv.push('--no-daemon');
    else if (status !== undefined) process.exit(status);
  }
  if (argv[0] === 'workspace') {
    const { runWorkspaceQuickly } = await import('./workspace-program.ts');
    const status = await runWorkspaceQuickly(argv.slice(1), process.env, (code) => process.exit(code));
    if (status !== undefined) process.exit(status);
  }
  const { runCommand } = await import('./command-table.ts');
  process.exit(await runCommand(argv, (status) => process.exit(status)));
}
