/** Decides which part of the command an argv needs, and loads it; the only place that ends the process. */

import { findHome } from '../config/home.ts';
import { DAEMON_COMMANDS, isBackground } from '../daemon/protocol/daemon-messages.ts';
import { mayHaveDaemon } from '../daemon/protocol/daemon-use.ts';

/** The parts of the command, by the exports that are used here. */
export interface CommandModules {
  readonly commands: Pick<typeof import('./command-table.ts'), 'runCommand'>;
  readonly completion: Pick<typeof import('./completion/run-complete.ts'), 'runComplete'>;
  readonly daemon: Pick<typeof import('../daemon/client/run-in-daemon.ts'), 'runThroughDaemon'>;
  readonly questions: Pick<typeof import('./elicit-form.ts'), 'askForDaemon'>;
  readonly workspace: Pick<typeof import('./workspace-program.ts'), 'runWorkspaceQuickly'>;
}

/** Each is loaded on demand. */
export type CommandParts = {
  readonly [Name in keyof CommandModules]: () => Promise<CommandModules[Name]>;
};

export function runMain(argv: readonly string[], parts: CommandParts): void {
  void (argv[0] === '__complete' ? completeWords(argv, parts) : main([...argv], parts));
}

async function completeWords(argv: readonly string[], { completion }: CommandParts): Promise<void> {
  const { runComplete } = await completion();
  await runComplete(argv.slice(1));
}

async function main(argv: string[], parts: CommandParts): Promise<void> {
  const command = argv.find((word) => word !== '--json') ?? '';
  // A relay, or a command that a running daemon can run. Commands that only read files need no daemon.
  const isRun =
    isBackground(argv) || (DAEMON_COMMANDS.has(command) && mayHaveDaemon(findHome(process.env), process.env));
  if ((command === 'serve' || isRun) && !argv.includes('--no-connect')) {
    const { runThroughDaemon } = await parts.daemon();
    const status = await runThroughDaemon(argv, process.env, async (question) => {
      const { askForDaemon } = await parts.questions();
      return askForDaemon(question, argv.includes('--json'));
    });
    if (status === 'alone') argv.push('--no-daemon');
    else if (status !== undefined) process.exit(status);
  }
  if (argv[0] === 'workspace') {
    const { runWorkspaceQuickly } = await parts.workspace();
    const status = await runWorkspaceQuickly(argv.slice(1), process.env, (code) => process.exit(code));
    if (status !== undefined) process.exit(status);
  }
  const { runCommand } = await parts.commands();
  process.exit(await runCommand(argv, (status) => process.exit(status)));
}
