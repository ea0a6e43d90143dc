import { Option } from 'commander';
import { STATE_FOLDER } from '#files/places.ts';

/** Returns the option `--state`. Its words hold in a checkout and for the package. */
export function stateOption(description: string): Option {
  return new Option('--state <folder>', description).default(
    STATE_FOLDER,
    '.gateway of the current folder, or of the checkout that the command is from',
  );
}
