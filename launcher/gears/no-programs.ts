import childProcess from 'node:child_process';
import { syncBuiltinESMExports } from 'node:module';

/**
 * Loaded before tests that share a process. A test that starts a program fails, and its message
 * says where it belongs. Such tests are slower, and may need what is not installed.
 */

/** Node has no call that makes a named pipe. */
const ALLOWED: readonly string[] = ['mkfifo'];

const STARTS = [
  'spawn',
  'spawnSync',
  'exec',
  'execSync',
  'execFile',
  'execFileSync',
  'fork',
] as const;

for (const name of STARTS) {
  const real = childProcess[name] as (...args: unknown[]) => unknown;
  const guarded = (file: unknown, ...rest: unknown[]) => {
    if (!ALLOWED.includes(String(file))) throw new Error(message(String(file)));
    return real(file, ...rest);
  };
  Object.assign(childProcess, { [name]: guarded });
}
syncBuiltinESMExports();

function message(file: string): string {
  return `This test starts the program "${file}": move its file into the folder e2e/ beside the code`;
}
