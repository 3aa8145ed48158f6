/** `plugboard workspace`: runs the workspace server on stdio, as a standalone program for any agent. */

import type { CliCommand, Context, Flags } from '../cli-command.ts';
import { misuse } from '../flags.ts';

export const workspace: CliCommand = {
  configure(command): void {
    command
      .argument('[root]', 'folder that its tools are confined to (default: the current project)')
      .option('--shell', 'also provide the shell tool, and let git run hooks')
      .addHelpText(
        'after',
        '\nExamples:\n  plugboard workspace\n  claude mcp add workspace -- plugboard workspace .',
      );
  },

  async run(context: Context, [given]: readonly string[], flags: Flags): Promise<number> {
    const { cwd, env, output, signal } = context;
    const { isFolder, serveWorkspace, workspaceRoot } = await import('../workspace-program.ts');
    const root = workspaceRoot(cwd, given);
    if (!isFolder(root)) throw misuse('workspace', `There is no folder ${root}`);
    if (process.stdin.isTTY) {
      output.note(
        `Serving MCP on stdin and stdout for ${root}; an agent is meant to start this. Press Ctrl-C to stop.`,
      );
    }
    return serveWorkspace({ root, shell: flags['shell'] === true, env, signal });
  },
};
