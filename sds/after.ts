/** Calls `run` once in `ms`; the result cancels it. */
export type After = (ms: number, run: () => void) => () => void;
