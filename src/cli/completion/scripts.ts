/** The scripts that teach a shell to complete: they ask `plugboard __complete` and hand over what it says. */

export const SHELLS = ['bash', 'zsh', 'fish'] as const;
export type Shell = (typeof SHELLS)[number];

const BASH = `# Completion of plugboard for bash. Put this line into ~/.bashrc:
#   source <(plugboard completion bash)
_plugboard() {
  local word value line
  COMPREPLY=()
  word=\${COMP_WORDS[COMP_CWORD]}
  # bash takes key=value apart; what stands behind the sign may be a path.
  if [[ $word == = || \${COMP_WORDS[COMP_CWORD-1]} == = ]]; then
    compopt -o default
    return
  fi
  local -a words=("\${COMP_WORDS[@]:1:COMP_CWORD-1}" "\${word//\\\\/}")
  while IFS= read -r line; do
    case $line in
      :files) compopt -o default ;;
      :folders) compopt -o default -o dirnames ;;
      *)
        value=\${line%%$'\\t'*}
        [[ $line == *$'\\topen' ]] && compopt -o nospace
        printf -v value %q "$value"
        COMPREPLY+=("\${value//\\\\=/=}")
        ;;
    esac
  done < <(plugboard __complete -- "\${words[@]}" 2>/dev/null)
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
      :folders) _files -/; return ;;
    esac
    value=\${line%%$'\\t'*}
    about=\${\${line#*$'\\t'}%%$'\\t'*}
    if [[ $line == *$'\\topen' ]]; then
      open+=("$value")
    else
      plain+=("\${value//:/\\\\:}\${about:+:$about}")
    fi
  done < <(plugboard __complete -- "\${(@Q)words[2,CURRENT]}" 2>/dev/null)
  (( $#plain )) && _describe plugboard plain
  (( $#open )) && compadd -S '' -- $open
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
            case :folders
                __fish_complete_directories (commandline -ct)
            case '*'
                string replace -r '\\topen$' '' -- $line
        end
    end
end
complete -c plugboard -f -a '(__plugboard_complete)'
`;

export const SCRIPTS: Readonly<Record<Shell, string>> = { bash: BASH, zsh: ZSH, fish: FISH };
