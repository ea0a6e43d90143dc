import * as z from 'zod';

/**
 * Protobuf's Duration reaches further, but Envoy keeps timers in milliseconds of 32 bits, about 24
 * days.
 */
export const LONGEST_MS = 2_147_483_647;

/** An integer between two others. `form` is what a right one looks like. */
export function integer(
  least: number,
  most: number,
  form = `an integer from ${least} to ${most}`,
): z.ZodInt {
  return z.int().min(least).max(most).meta({ form });
}

/** A duration in whole milliseconds. 0 is allowed and mostly means "none". */
export const milliseconds = integer(
  0,
  LONGEST_MS,
  `an integer of milliseconds from 0 to ${LONGEST_MS}`,
);

/** A duration in whole milliseconds. Envoy requires more than 0. */
export const positiveMilliseconds = integer(
  1,
  LONGEST_MS,
  `an integer of milliseconds from 1 to ${LONGEST_MS}`,
);

export const port = integer(1, 65_535, 'a port from 1 to 65535');
