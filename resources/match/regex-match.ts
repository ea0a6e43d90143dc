import * as z from 'zod';
import { parseHeaderName } from '#resources/words/http-token.ts';
import type { Parsed } from '#resources/words/parsed-string.ts';
import { sortedEntries } from '#resources/words/sorted-entries.ts';
import { whyNoRe2 } from './re2.ts';

/** Name → RE2 expression for a whole value. */
export type RegexMatch = Readonly<Record<string, string>>;

/** For the values of headers. Names are in lower case. */
export const regexHeaderMatch = regexMatch(
  parseHeaderName,
  'the header',
  '. Header names have no case',
);

/** For the values of query parameters. */
export const regexQueryMatch = regexMatch(parseParameterName, 'the parameter', '');

/**
 * Parses the name of a query parameter, as it stands in a query. Envoy compares without decoding.
 */
export function parseParameterName(text: string): Parsed<string> {
  const odd = /[^\x21-\x7e]|[#&=]/u.exec(text)?.[0];
  if (text === '') return { error: 'a parameter has a name' };
  if (text.length > 1024)
    return { error: `a parameter's name has 1024 characters at most, not ${text.length}` };
  if (odd === undefined) return { value: text };
  return {
    error: `${JSON.stringify(odd)} is never part of a parameter's name. Write it percent-encoded`,
  };
}

function regexMatch(parseName: (text: string) => Parsed<string>, what: string, why: string) {
  return z
    .record(z.string(), z.string().meta({ form: 'an RE2 expression', secret: true }))
    .meta({ form: 'a map from name to an RE2 expression' })
    .transform((written, context): RegexMatch => {
      const match: Record<string, string> = {};
      for (const [key, regex] of sortedEntries(written)) {
        const name = parseName(key);
        const error = 'error' in name ? name.error : regexError(regex);
        if (error !== undefined) context.addIssue({ code: 'custom', message: error, path: [key] });
        else if ('value' in name && Object.hasOwn(match, name.value))
          context.addIssue({
            code: 'custom',
            message: `${what} "${key}" is named twice${why}`,
            path: [key],
          });
        else if ('value' in name) match[name.value] = regex;
      }
      return match;
    });
}

/** The message shows nothing of the expression, which may be a secret. */
function regexError(regex: string): string | undefined {
  if (regex === '') return 'an expression must not be empty';
  const why = whyNoRe2(regex);
  return why === undefined ? undefined : `Cannot parse regular expression: ${why}`;
}
