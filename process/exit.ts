/**
 * Ends a process that cannot go on. It writes one sentence for the operator to standard error, and
 * the exit code is 1.
 */
export type Exit = (message: string) => never;

/** Returns the exit of the process of this name. The name begins its sentence. */
export function exitOf(name: string): Exit {
  return message => {
    process.stderr.write(`${name}: ${message}\n`);
    process.exit(1);
  };
}

/**
 * Returns what `read` returns. When `read` throws or rejects, ends the process. The sentence is the
 * message, after the name of the `variable` that it is about.
 */
export async function orExit<T>(
  exit: Exit,
  read: () => T | Promise<T>,
  variable?: string,
): Promise<T> {
  try {
    return await read();
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return exit(variable === undefined ? reason : `${variable}: ${reason}`);
  }
}
