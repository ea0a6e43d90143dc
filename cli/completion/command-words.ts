import type { Argument, Command, Option } from 'commander';

/** What stands behind an option, or as an argument. */
export type Value =
  | { readonly kind: 'text' | 'file' | 'folder' }
  | { readonly kind: 'choice'; readonly choices: readonly string[] };

export type OptionWords = {
  /** `-H` and `--header`, or one of them. */
  readonly names: readonly string[];
  readonly description: string;
  /** Absent: a switch. */
  readonly value?: Value;
};

/** What a shell completes behind the name of a command. */
export type CommandWords = {
  readonly name: string;
  readonly description: string;
  readonly options: readonly OptionWords[];
  /** Of the arguments. The last one stands for all that follow. */
  readonly values: readonly Value[];
};

/** Returns what commander knows of a command. */
export function commandWords(command: Command): CommandWords {
  const help = { names: ['-h', '--help'], description: 'show what there is' };
  return {
    name: command.name(),
    description: command.description(),
    options: [...command.options.filter(({ hidden }) => !hidden).map(optionWords), help],
    values: command.registeredArguments.map(argumentValue),
  };
}

function optionWords({ argChoices, description, flags, long, short }: Option): OptionWords {
  const names = [short, long].filter(name => name !== undefined);
  const [, name] = /[<[]([^>\]]+)[>\]]/.exec(flags) ?? [];
  return { names, description, ...(name && { value: valueNamed(name, argChoices) }) };
}

function argumentValue(argument: Argument): Value {
  return valueNamed(argument.name(), argument.argChoices);
}

/** The name of a value says what it is: `<file>`, `<folder>`, `<paths...>`. */
function valueNamed(name: string, choices: readonly string[] | undefined): Value {
  if (choices !== undefined) return { kind: 'choice', choices };
  if (/^folders?\b/.test(name)) return { kind: 'folder' };
  return { kind: /^(?:files?|paths?)\b/.test(name) ? 'file' : 'text' };
}
