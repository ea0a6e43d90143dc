import { RE2JS } from 're2js';
import * as z from 'zod';
import { checkedString, checkWith, type Parsed } from '#resources/words/parsed-string.ts';
import { parsePathRegex } from './path-match.ts';

const LONGEST = 8192;

/**
 * Replaces parts of a path. Envoy searches for the expression, and replaces each match. `\1` to
 * `\9` are its groups, `\0` is the whole match, and `\\` is a backslash. A substitution that Envoy
 * would not carry out is an error. See Envoy's page of `RegexMatchAndSubstitute`, and RE2's
 * `GlobalReplace`.
 */
export const regexSubstitution = z
  .object({
    pattern: z
      .string()
      .min(1)
      .check(checkWith(parsePathRegex))
      .meta({ form: 'an RE2 expression' })
      .describe('RE2 expression for a part of the path'),
    substitution: checkedString('a text', parseSubstitution).describe(
      'What replaces it. `\\1` to `\\9` are groups of the expression',
    ),
  })
  .check(({ value, issues }) => {
    const message = explainGroups(value);
    if (message !== undefined)
      issues.push({ code: 'custom', message, path: ['substitution'], input: value.substitution });
  });

export type RegexSubstitution = z.output<typeof regexSubstitution>;

function parseSubstitution(text: string): Parsed<string> {
  if (text.length > LONGEST)
    return { error: `a substitution has ${LONGEST} characters at most, not ${text.length}` };
  const odd = /[^\x21-\x7e]/u.exec(text)?.[0];
  if (odd !== undefined)
    return { error: `${JSON.stringify(odd)} is never part of a path. Write it percent-encoded` };
  const [wrong] =
    /\\(?![\\0-9])./.exec(text.replaceAll('\\\\', '')) ??
    /\\$/.exec(text.replaceAll('\\\\', '')) ??
    [];
  if (wrong === undefined) return { value: text };
  return {
    error: `"${wrong}" is neither a group, \\0 to \\9, nor a backslash, which is written \\\\`,
  };
}

function explainGroups({ pattern, substitution }: RegexSubstitution): string | undefined {
  const groups = RE2JS.compile(pattern).groupCount();
  const named = [...substitution.replaceAll('\\\\', '').matchAll(/\\([0-9])/g)].map(([, digit]) =>
    Number(digit),
  );
  const missing = named.find(group => group > groups);
  if (missing === undefined) return undefined;
  return `\\${missing} is no group of the pattern, which has ${groups}`;
}
