/** Calls `run` once in `ms`, unless the returned function is called before. */
export type After = (ms: number, run: () => void) => () => void;

/** The system's timer. */
export function after(ms: number, run: () => void): () => void {
  const timer = setTimeout(run, ms);
  return () => clearTimeout(timer);
}
