import { InvalidArgumentError } from 'commander';

/** The argument of an option that names a folder. An empty one, as a shell variable that is not set gives, would be the current folder. */
export function parseFolder(text: string): string {
  if (text.trim() !== '') return text;
  throw new InvalidArgumentError('want a folder');
}
