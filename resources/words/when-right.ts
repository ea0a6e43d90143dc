import type * as z from 'zod';

/**
 * Makes a rule between fields run when these fields are right, whatever else in the object is
 * wrong.
 */
export function whenRight(...fields: readonly string[]): (payload: z.core.ParsePayload) => boolean {
  return ({ issues }) =>
    issues.every(
      ({ path: [field] = [] }) => field !== undefined && !fields.includes(String(field)),
    );
}
