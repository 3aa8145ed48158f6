/** `plugboard completion`: prints the shell's completion script for commands, flags, servers and tools. */

import { Argument } from 'commander';
import type { CliCommand, Context } from '../cli-command.ts';

export const completion: CliCommand = {
  configure(command): void {
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

/** Completion scripts for shells: they run `plugboard __complete` and pass its output to the shell. */
const SHELLS = ['bash', 'zsh', 'fish'] as const;
type Shell = (typeof SHELLS)[number];

const BASH = `# Completion of plugboard for bash. Put this line into ~/.bashrc:
#   source <(plugboard completion bash)
_plugboard() {
  local line value word gap at rest=\${COMP_LINE:0:COMP_POINT}
  local -a words=()
  COMPREPLY=()
  # bash takes key=value, addresses and @file apart: parts without a space between them are one word.
  for ((at = 0; at <= COMP_CWORD; at++)); do
    word=\${COMP_WORDS[at]}
    if [[ -z $word ]]; then gap=$rest; else gap=\${rest%%"$word"*}; fi
    rest=\${rest#"$gap"}
    rest=\${rest#"$word"}
    if [[ -z $gap && \${#words[@]} -gt 0 ]]; then words[-1]+=$word; else words+=("$word"); fi
  done
  # Only the part after the last sign is replaced.
  [[ $word =~ ^[=:@]+$ ]] && word=
  local whole=\${words[-1]}
  local before=\${whole%"$word"}
  words=("\${words[@]//[\\\\\\'\\"]/}")
  while IFS= read -r line; do
    case $line in
      :files | :value-files) compopt -o default ;;
      :folders) compopt -o default -o dirnames ;;
      *)
        value=\${line%%$'\\t'*}
        [[ $line == *$'\\topen' ]] && compopt -o nospace
        value=\${value#"$before"}
        printf -v value %q "$value"
        COMPREPLY+=("\${value//\\\\=/=}")
        ;;
    esac
  done < <(plugboard __complete -- "\${words[@]:1}" 2>/dev/null)
}
complete -F _plugboard plugboard
`;

const ZSH = `#compdef plugboard
# Completion of plugboard for zsh. Put this line into ~/.zshrc, after compinit:
#   source <(plugboard completion zsh)
_plugboard() {
  local line value about
  local -a plain open
  while IFS= read -r line; do
    case $line in
      :files) _files; return ;;
      :value-files) compset -P '*='; compset -P '@'; _files; return ;;
      :folders) _files -/; return ;;
    esac
    value=\${line%%$'\\t'*}
    about=\${\${line#*$'\\t'}%%$'\\t'*}
    if [[ $line == *$'\\topen' ]]; then
      open+=("\${value//:/\\\\:}\${about:+:$about}")
    else
      plain+=("\${value//:/\\\\:}\${about:+:$about}")
    fi
  done < <(plugboard __complete -- "\${(@Q)words[2,CURRENT]}" 2>/dev/null)
  (( $#plain )) && _describe plugboard plain
  (( $#open )) && _describe plugboard open -S ''
}
compdef _plugboard plugboard
`;

const FISH = `# Completion of plugboard for fish. Put this line into ~/.config/fish/config.fish:
#   plugboard completion fish | source
function __plugboard_complete
    set -l words (commandline -opc) (commandline -ct)
    for line in (plugboard __complete -- $words[2..-1] 2>/dev/null)
        switch $line
            case :files
                __fish_complete_path (commandline -ct)
            case :value-files
                set -l token (commandline -ct)
                set -l key (string match -r '^[^=]*=@?' -- $token)
                for path in (__fish_complete_path (string replace -- $key '' $token))
                    echo $key$path
                end
            case :folders
                __fish_complete_directories (commandline -ct)
            case '*'
                string replace -r '\\topen$' '' -- $line
        end
    end
end
complete -c plugboard -f -a '(__plugboard_complete)'
`;

const SCRIPTS: Readonly<Record<Shell, string>> = { bash: BASH, zsh: ZSH, fish: FISH };
