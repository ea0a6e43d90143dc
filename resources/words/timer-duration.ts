import type * as z from 'zod';
import { positiveDuration } from './duration.ts';
import { LONGEST_MS } from './number-types.ts';

/** A duration above 0 for an Envoy timer, in whole milliseconds, rounded up. */
export const timerDuration = positiveDuration.transform(toTimer);

function toTimer(milliseconds: number, context: z.core.$RefinementCtx): number {
  if (milliseconds > LONGEST_MS)
    context.addIssue({ code: 'custom', message: `it is longer than ${LONGEST_MS} milliseconds` });
  return Math.ceil(milliseconds);
}
