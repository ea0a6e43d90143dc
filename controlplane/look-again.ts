import { isDeepStrictEqual } from 'node:util';

export type LookAgainParts<Found> = {
  /** Returns what is found now. */
  find(): Found;
  /** Called once, when what was found has changed. */
  changed(): void;
  after(ms: number, callback: () => void): () => void;
};

const AGAIN_MS = 60_000;

/**
 * Checks once a minute whether what was found changes by the clock alone, as certificates begin and
 * expire. Returns the function that stops it.
 */
export function lookAgain<Found>(
  found: Found,
  { find, changed, after }: LookAgainParts<Found>,
): () => void {
  let cancel = () => {};
  const wait = () => {
    cancel = after(AGAIN_MS, () => (isDeepStrictEqual(find(), found) ? wait() : changed()));
  };
  wait();
  return () => cancel();
}
