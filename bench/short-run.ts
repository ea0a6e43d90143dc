/**
 * Its one argument makes a run a short one: it prints its tables, and writes no page of results.
 */
export type Run = {
  /** The argument, or what a whole run has. */
  readonly size: number;
  readonly isWhole: boolean;
};

/** Throws when the argument is no positive number of `what`. */
export function readRun(whole: number, what: string): Run {
  const [, , asked] = process.argv;
  const size = asked === undefined ? whole : Number(asked);
  if (!(size > 0)) throw new Error(`"${asked}" is no positive number of ${what}`);
  return { size, isWhole: asked === undefined };
}

/** Progress, on standard error. */
export function say(line: string): void {
  process.stderr.write(`${line}\n`);
}
