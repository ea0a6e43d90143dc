import type { Command } from 'commander';

/**
 * Ends the command where one of its options or arguments was given an empty value, as a shell
 * variable that is not set gives: it would be the current folder, or any other thing that nobody
 * meant. (An empty variable of the environment is one that is not set.)
 */
export function refuseEmpty(command: Command): void {
  const empty = command.options.find(
    option =>
      command.getOptionValueSource(option.attributeName()) === 'cli' &&
      isEmpty(command.getOptionValue(option.attributeName())),
  );
  if (empty !== undefined)
    command.error(`error: option '${empty.flags}' is empty: give it a value, or leave it out`);
  if (isEmpty(command.args))
    command.error('error: an argument is empty: give it a value, or leave it out');
}

function isEmpty(value: unknown): boolean {
  return Array.isArray(value)
    ? value.some(isEmpty)
    : typeof value === 'string' && value.trim() === '';
}
