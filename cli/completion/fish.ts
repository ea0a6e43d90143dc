import type { CommandWords, OptionWords, Value } from './command-words.ts';

/** Returns the script with which fish completes `gateway`. */
export function fishCompletion(commands: readonly CommandWords[]): string {
  const lines = [
    'complete -c gateway -f',
    "complete -c gateway -n __fish_use_subcommand -s h -l help -d 'show what there is'",
    "complete -c gateway -n __fish_use_subcommand -s V -l version -d 'show the version'",
    ...commands.flatMap(commandLines),
  ];
  return `${lines.join('\n')}\n`;
}

function commandLines({ name, description, options, values }: CommandWords): readonly string[] {
  const within = `complete -c gateway -n '__fish_seen_subcommand_from ${name}'`;
  const last = values.at(-1);
  return [
    `complete -c gateway -n __fish_use_subcommand -a ${name} -d ${quoted(description)}`,
    ...options.map(option => `${within} ${optionFlags(option)}`),
    ...(last === undefined || last.kind === 'text' ? [] : [`${within} ${valueFlags(last)}`]),
  ];
}

function optionFlags({ names, description, value }: OptionWords): string {
  const flags = names.map(name =>
    name.startsWith('--') ? `-l ${name.slice(2)}` : `-s ${name.slice(1)}`,
  );
  const told = `-d ${quoted(description)}`;
  return [...flags, ...(value === undefined ? [] : ['-r', valueFlags(value)]), told].join(' ');
}

function valueFlags(value: Value): string {
  switch (value.kind) {
    case 'choice':
      return `-f -a ${quoted(value.choices.join(' '))}`;
    case 'file':
      return '-F';
    case 'folder':
      return "-f -a '(__fish_complete_directories)'";
    case 'text':
      return '-f';
  }
}

function quoted(text: string): string {
  return `'${text.replace(/[\\']/g, '\\$&')}'`;
}
