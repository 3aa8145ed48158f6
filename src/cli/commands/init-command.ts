/** `plugboard init`: creates a server project that is ready to be built and tested. */

import { relative, resolve } from 'node:path';
import { Argument, type Command } from 'commander';
import { shellWord } from '../../lib/shell-word.ts';
import { type CliCommand, type Context, type Flags, textFlag } from '../cli-command.ts';
import { writeServerProject } from '../server-project.ts';

export const init: CliCommand = {
  configure(command: Command): void {
    command
      .addArgument(new Argument('<what>', 'what to create').choices(['server']))
      .argument('<dir>', 'an empty or new folder')
      .option('--name <name>', "name of the server (default: the folder's name)")
      .addHelpText('after', EXAMPLE);
  },

  async run({ cwd, output }: Context, args: readonly string[], flags: Flags): Promise<number> {
    const [, dir = ''] = args;
    const folder = resolve(cwd, dir);
    const { name, files } = await writeServerProject(folder, textFlag(flags, 'name'));
    const shown = relative(process.cwd(), folder) || '.';
    const next = [
      ...(shown === '.' ? [] : [`cd ${shellWord(shown)}`]),
      'npm install',
      'npm test',
      'npm run try',
    ];
    output.answer({ name, folder, files, next }, () =>
      [
        `${output.paint.strong(name)} is in ${shown}:`,
        ...files.map((file) => `  ${file}`),
        '',
        'Next:',
        ...next.map((step) => `  ${step}`),
      ].join('\n'),
    );
    return 0;
  },
};

const EXAMPLE = `
Example:
  plugboard init server weather`;
