import * as z from 'zod';
import { parseParameterName } from './regex-match.ts';

const value = z
  .union([z.string(), z.literal(true)])
  .meta({ form: 'a string (the exact value) or true (any value)', secret: true });

/**
 * Name of a query parameter → its exact value as it stands in the query, or `true` when any value
 * will do.
 */
export type QueryMatch = Readonly<Record<string, string | true>>;

export const queryMatch = z
  .record(z.string(), value)
  .meta({ form: 'a map from parameter name to its exact value or true' })
  .transform((parameters, context): QueryMatch => {
    for (const [name, wanted] of Object.entries(parameters)) {
      const parsed = parseParameterName(name);
      const error = 'error' in parsed ? parsed.error : valueError(wanted);
      if (error !== undefined) context.addIssue({ code: 'custom', message: error, path: [name] });
    }
    return parameters;
  });

/** Characters that clients send percent-encoded. */
export const NEVER_IN_QUERY = /[^\x21-\x7e]|[#&]/u;

function valueError(wanted: string | true): string | undefined {
  if (wanted === true || !NEVER_IN_QUERY.test(wanted)) return undefined;
  return 'it has a character that is never part of a query. Write it percent-encoded, as clients send it';
}
