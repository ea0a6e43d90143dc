import type { Command } from 'commander';

/**
 * Ends the command when an option or an argument has an empty value. An unset shell variable gives
 * one. It would mean the current folder, or something else that was not intended. An empty
 * environment variable counts as unset.
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
