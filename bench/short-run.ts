/** A run with an argument is a short one. It prints its tables, and writes no page of results. */
export type Run = {
  /** The argument, or the size of a whole run. */
  readonly size: number;
  readonly isWhole: boolean;
};

/** Reads the argument. Throws when it is no positive number of `what`. */
export function readRun(whole: number, what: string): Run {
  const [, , asked] = process.argv;
  const size = asked === undefined ? whole : Number(asked);
  if (!(size > 0)) throw new Error(`"${asked}" is no positive number of ${what}`);
  return { size, isWhole: asked === undefined };
}

/** Prints progress on standard error. */
export function say(line: string): void {
  process.stderr.write(`${line}\n`);
}
