/**
 * How a process ends that cannot go on: one sentence for the operator on standard error, exit code
 * 1.
 */
export type Exit = (message: string) => never;

/** The exit of the process of this name, with which its sentence begins. */
export function exitOf(name: string): Exit {
  return message => {
    process.stderr.write(`${name}: ${message}\n`);
    process.exit(1);
  };
}

/**
 * What `read` gives, or the end of the process, with what it throws or rejects with as the
 * sentence, after the name of the `variable` that it is about.
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
