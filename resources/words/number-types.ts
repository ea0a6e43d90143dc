import * as z from 'zod';

/**
 * Protobuf's Duration reaches further, but Envoy keeps timers in milliseconds of 32 bits, about 24
 * days.
 */
export const LONGEST_MS = 2_147_483_647;

/** A duration in whole milliseconds. 0 is allowed and mostly means "none". */
export const milliseconds = z
  .int()
  .min(0)
  .max(LONGEST_MS)
  .meta({ form: `an integer of milliseconds from 0 to ${LONGEST_MS}` });

/** A duration in whole milliseconds. Envoy requires more than 0. */
export const positiveMilliseconds = z
  .int()
  .min(1)
  .max(LONGEST_MS)
  .meta({ form: `an integer of milliseconds from 1 to ${LONGEST_MS}` });

export const port = z.int().min(1).max(65535).meta({ form: 'a port from 1 to 65535' });
