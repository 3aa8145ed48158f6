/** `plugboard completion`: prints the shell's completion script for commands, flags, servers and tools. */

import { Argument, type Command } from 'commander';
import type { CliCommand, Context } from '../cli-command.ts';
import { SCRIPTS, SHELLS, type Shell } from '../completion/scripts.ts';

export const completion: CliCommand = {
  configure(command: Command): void {
    command.addArgument(new Argument('<shell>', 'the shell').choices(SHELLS)).addHelpText('after', EXAMPLES);
  },

  async run({ output }: Context, args: readonly string[]): Promise<number> {
    const shell = SHELLS.find((each): each is Shell => each === args[0]) ?? 'bash';
    const script = SCRIPTS[shell];
    output.answer({ shell, script }, () => script.trimEnd());
    return 0;
  },
};

const EXAMPLES = `
Names of servers and tools come from files; nothing is started or contacted.

Examples:
  source <(plugboard completion bash)          in ~/.bashrc
  source <(plugboard completion zsh)           in ~/.zshrc, after compinit
  plugboard completion fish | source           in ~/.config/fish/config.fish`;
