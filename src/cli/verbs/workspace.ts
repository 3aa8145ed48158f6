/** `plugboard workspace`: the workspace server on stdio, as a program of its own for any agent. */

import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Command } from 'commander';
import { findProjectRoot } from '../../config/home.ts';
import { PlugboardError } from '../../errors.ts';
import { stdio } from '../../kit/transports.ts';
import { createWorkspaceServer } from '../../workspace/server.ts';
import { aborted } from '../interrupt.ts';
import type { Context, Flags, Verb } from '../verb.ts';

export const workspace: Verb = {
  configure(command: Command): void {
    command
      .argument('[root]', 'the folder that its tools are confined to (the project you are in)')
      .option('--shell', 'also offer the shell tool, and let git run hooks')
      .addHelpText(
        'after',
        '\nExamples:\n  plugboard workspace\n  claude mcp add workspace -- plugboard workspace .',
      );
  },

  async run(
    { cwd, env, output, signal }: Context,
    [given, excess]: readonly string[],
    flags: Flags,
  ): Promise<number> {
    if (excess !== undefined)
      throw usage(`workspace takes one folder, and ${JSON.stringify(excess)} is a second.`);
    const root = given === undefined ? findProjectRoot(cwd) : resolve(cwd, given);
    if (statSync(root, { throwIfNoEntry: false })?.isDirectory() !== true)
      throw usage(`There is no folder ${root}.`);
    const { server, close } = createWorkspaceServer({
      root,
      shell: flags['shell'] === true,
      searchPath: env['PATH'] ?? '',
    });
    if (process.stdin.isTTY) {
      output.note(`Speaks MCP on stdin and stdout, for an agent to start: ${root}. End with Ctrl-C.`);
    }
    // What runs for a client that is gone would keep us waiting for its end.
    signal.addEventListener('abort', close, { once: true });
    try {
      const served = await server.serve(stdio());
      await Promise.race([served.closed, aborted(signal).catch(() => {})]);
      await server.close();
    } finally {
      close();
    }
    return 0;
  },
};

function usage(message: string): PlugboardError {
  return new PlugboardError('USAGE', message, { hint: 'plugboard workspace --help shows how it is used.' });
}
