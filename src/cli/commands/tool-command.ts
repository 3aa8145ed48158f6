/** `plugboard tool`: shows one tool with everything needed to call it. */

import type { CliCommand, Context, Flags } from '../cli-command.ts';
import { showTool } from '../tool-view.ts';

export const tool: CliCommand = {
  configure(command): void {
    command
      .argument('<server>', 'the server; or the server and the tool in one word: server.tool, server__tool')
      .argument('[tool]', 'name of the tool on its server')
      .option('--refresh', 'query the server instead of using the cache')
      .addHelpText('after', EXAMPLES);
  },

  run(context: Context, args: readonly string[], flags: Flags): Promise<number> {
    return showTool(context, args, flags);
  },
};

const EXAMPLES = `
Examples:
  plugboard tool files read_text_file
  plugboard tool files.read_text_file --json`;
