import { shellQuote } from '#files/shell-quote.ts';
import type { CommandWords, OptionWords, Value } from './command-words.ts';

/**
 * Returns the script with which zsh completes `gateway`, for `source` or for a folder of $fpath.
 */
export function zshCompletion(commands: readonly CommandWords[]): string {
  return `#compdef gateway
_gateway() {
  local curcontext=$curcontext state line
  local -A opt_args
  _arguments -C '(- *)'{-h,--help}'[show what there is]' '(- *)'{-V,--version}'[show the version]' '1: :->command' '*:: :->rest'
  case $state in
    command)
      local -a commands=(
${commands.map(({ name, description }) => `        ${shellQuote(`${name}:${description}`)}`).join('\n')}
      )
      _describe command commands
      ;;
    rest)
      case $words[1] in
${commands.map(restCase).join('\n')}
      esac
      ;;
  esac
}
if [[ $funcstack[1] == _gateway ]]; then _gateway "$@"; else compdef _gateway gateway; fi
`;
}

function restCase({ name, options, values }: CommandWords): string {
  const last = values.at(-1);
  const specs = [
    ...options.flatMap(optionSpecs),
    ...(last === undefined ? [] : [`*:${last.kind}:${action(last)}`]),
  ];
  return `        ${name}) _arguments ${specs.map(shellQuote).join(' ')} ;;`;
}

/** An option may be repeated, as \`--header\` is. */
function optionSpecs({ names, description, value }: OptionWords): readonly string[] {
  const told = description.replace(/[\\[\]:]/g, '\\$&');
  return names.map(
    name => `*${name}[${told}]${value === undefined ? '' : `:${value.kind}:${action(value)}`}`,
  );
}

function action(value: Value): string {
  switch (value.kind) {
    case 'choice':
      return `(${value.choices.join(' ')})`;
    case 'file':
      return '_files';
    case 'folder':
      return '_files -/';
    case 'text':
      return ' ';
  }
}
