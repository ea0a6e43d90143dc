import type * as z from 'zod';

/**
 * For a rule between fields of an object: it is checked, whatever else is wrong, when nothing is
 * wrong with these fields.
 */
export function whenRight(...fields: readonly string[]): (payload: z.core.ParsePayload) => boolean {
  return ({ issues }) =>
    issues.every(
      ({ path: [field] = [] }) => field !== undefined && !fields.includes(String(field)),
    );
}
