import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, isAbsolute, join } from 'node:path';

/**
 * The folder of package.json and of all that our code reads beside itself. The package has the code
 * in other files than the checkout.
 */
export const ROOT = rootOf(import.meta.dirname);

/** Whether this is a checkout, which runs its sources. The published package is compiled. */
export const IN_CHECKOUT = import.meta.filename.endsWith('.ts');

/**
 * The folder of a gateway's state and logs, unless told otherwise. A checkout has one wherever a
 * command is called. With the package each folder has its own.
 */
export const STATE_FOLDER = join(IN_CHECKOUT ? ROOT : process.cwd(), '.gateway');

/**
 * The folder of downloaded programs. The package has one for each user. Source: XDG Base Directory
 * Specification.
 */
export const PROGRAMS_FOLDER = IN_CHECKOUT ? STATE_FOLDER : join(userCache(), 'tollwright');

function rootOf(folder: string): string {
  return existsSync(join(folder, 'package.json')) ? folder : rootOf(dirname(folder));
}

function userCache(): string {
  const { XDG_CACHE_HOME: folder = '' } = process.env;
  return isAbsolute(folder) ? folder : join(homedir(), '.cache');
}
