import { FEWER_CASES } from '#launcher/gears/limits.ts';

/**
 * Returns how many random cases a test tries: all of them, or some in the quick gear. Those are the
 * first of all, because the seeds are the same.
 */
export function cases({ all, quick }: { readonly all: number; readonly quick: number }): number {
  return process.env[FEWER_CASES] === undefined ? all : quick;
}
