import { isDeepStrictEqual } from 'node:util';

export type LookAgainParts<Found> = {
  /** What is found now. */
  find(): Found;
  /** It is no longer what it was. Called once. */
  changed(): void;
  after(ms: number, callback: () => void): () => void;
};

const AGAIN_MS = 60_000;

/**
 * Looks once a minute whether what was found changes by the clock alone, as certificates begin and
 * end; returns how to stop.
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
