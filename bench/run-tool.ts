import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const MOST_OUTPUT_BYTES = 2 ** 28;

/**
 * Returns what a program prints. Rejects when it is missing (`from` says where to get it), fails,
 * or takes longer than so many seconds. Then it is killed.
 */
export async function runTool(
  command: string,
  args: readonly string[],
  seconds: number,
  from: string,
): Promise<string> {
  const options = {
    timeout: seconds * 1_000,
    killSignal: 'SIGKILL',
    maxBuffer: MOST_OUTPUT_BYTES,
  } as const;
  try {
    return (await promisify(execFile)(command, args, options)).stdout;
  } catch (error) {
    if (isMissing(error)) throw new Error(`there is no ${command}: ${from}`);
    throw error;
  }
}

/** Whether a program could not be started because there is none of its name. */
export function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT';
}
