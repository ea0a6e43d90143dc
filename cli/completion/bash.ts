import type { CommandWords, Value } from './command-words.ts';

/** Returns the script with which bash completes `gateway`. bash 3.2 of macOS reads it, too. */
export function bashCompletion(commands: readonly CommandWords[]): string {
  return `_gateway() {
  local IFS=$'\\n' current=\${COMP_WORDS[COMP_CWORD]} before=\${COMP_WORDS[COMP_CWORD-1]}
  COMPREPLY=()
  # bash takes --option=value for three words.
  if [[ $current == = ]]; then current=; elif [[ $before == = ]]; then before=\${COMP_WORDS[COMP_CWORD-2]}; fi
  if [[ $COMP_CWORD -eq 1 ]]; then
    ${words([...commands.map(({ name }) => name), '--help', '--version'])}
    return
  fi
  case "\${COMP_WORDS[1]} $before" in
${commands.flatMap(optionCases).join('\n')}
  esac
  if [[ $current == -* ]]; then
    case \${COMP_WORDS[1]} in
${commands.map(optionsCase).join('\n')}
    esac
    return
  fi
  case \${COMP_WORDS[1]} in
${commands.flatMap(argumentCase).join('\n')}
  esac
}
complete -F _gateway gateway
`;
}

function words(list: readonly string[]): string {
  return `COMPREPLY=($(compgen -W $'${list.join('\\n')}' -- "$current"))`;
}

function action(value: Value): string {
  switch (value.kind) {
    case 'choice':
      return words(value.choices);
    case 'file':
      return 'compopt -o filenames 2>/dev/null; COMPREPLY=($(compgen -f -- "$current"))';
    case 'folder':
      return 'compopt -o filenames 2>/dev/null; COMPREPLY=($(compgen -d -- "$current"))';
    case 'text':
      return ':';
  }
}

function optionCases({ name, options }: CommandWords): readonly string[] {
  return options.flatMap(({ names, value }) =>
    value === undefined
      ? []
      : [
          `    ${names.map(option => `"${name} ${option}"`).join('|')}) ${action(value)}; return ;;`,
        ],
  );
}

function optionsCase({ name, options }: CommandWords): string {
  return `      ${name}) ${words(options.flatMap(({ names }) => names))} ;;`;
}

function argumentCase({ name, values }: CommandWords): readonly string[] {
  const last = values.at(-1);
  return last === undefined ? [] : [`    ${name}) ${action(last)} ;;`];
}
