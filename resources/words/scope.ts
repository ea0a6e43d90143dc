import * as z from 'zod';
import { checkWith, type Parsed } from './parsed-string.ts';

/** Parses one scope value (RFC 6749 section 3.3). */
function parseScopeValue(text: string): Parsed<string> {
  if (/^[\x21\x23-\x5b\x5d-\x7e]+$/.test(text)) return { value: text };
  const words = text.trim().split(/\s+/);
  const hint = words.length > 1 ? '. Write each value as an item of its own' : '';
  return {
    error: `${JSON.stringify(text.slice(0, 80))} is not a scope value: printable ASCII without space, " and \\${hint}`,
  };
}

/** Scope values. Each counts once. */
export const scope = z
  .array(z.string().check(checkWith(parseScopeValue)))
  .meta({ form: 'a list of strings' })
  .transform((values): readonly string[] => [...new Set(values)]);

/** Arguments of a JWT filter (docs/reference/kinds/filter-policy.md). */
export const jwtArguments = z.object({
  scope: scope
    .exactOptional()
    .describe("Values that must all be in the token's `scope` or, where it has none, `scp`"),
});
