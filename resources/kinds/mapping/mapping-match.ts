import * as z from 'zod';
import { type Finding, fault } from '#resources/finding.ts';
import { headerMatch } from '#resources/match/header-match.ts';
import { parsePathRegex, parsePrefix } from '#resources/match/path-match.ts';
import { queryMatch } from '#resources/match/query-match.ts';
import { parseRe2 } from '#resources/match/re2.ts';
import { regexHeaderMatch, regexQueryMatch } from '#resources/match/regex-match.ts';
import { parseDomain } from '#resources/words/domain.ts';
import { falseByDefault, trueByDefault } from '#resources/words/flags.ts';
import { parseMethod } from '#resources/words/http-token.ts';
import { nodeGroup } from '#resources/words/node-group.ts';
import { checkedString, type Parsed } from '#resources/words/parsed-string.ts';

/** The fields of a Mapping that select its requests. */
export const mappingMatchShape = {
  host: orExpression('a host, "*.example.com" or "*"', parseDomain)
    .default('*')
    .meta({ aliases: ['hostname'] })
    .describe(
      'Host of the request, without port: exact, `*.example.com` or `*`. Once there is a Host, names that no Host covers are not served. Also spelt `hostname`',
    ),
  host_regex: falseByDefault.describe(
    '`host` is an RE2 expression for the whole host. Letter case does not count',
  ),
  prefix: z.string().min(1).describe('What the path begins with'),
  prefix_exact: falseByDefault.describe('`prefix` is the whole path'),
  prefix_regex: falseByDefault.describe('`prefix` is an RE2 expression for the whole path'),
  case_sensitive: trueByDefault.describe(
    'Letter case of `prefix` counts. Where a FilterPolicy has rules for paths, which compare letter case, `false` closes (500) what is in other letter case',
  ),
  method: orExpression('a request method', parseMethod).exactOptional().describe('Request method'),
  method_regex: falseByDefault.describe('`method` is an RE2 expression for the whole method'),
  headers: headerMatch
    .default({})
    .describe('Headers that the request has: an exact value, or `true` for any'),
  regex_headers: regexHeaderMatch
    .default({})
    .describe('Headers that the request has, with an RE2 expression for the whole value'),
  query_parameters: queryMatch
    .default({})
    .describe(
      'Parameters of the query: an exact value, or `true` for any. They are compared as they are sent, of several of one name the first',
    ),
  regex_query_parameters: regexQueryMatch
    .default({})
    .describe('Parameters of the query, with an RE2 expression for the whole value'),
  precedence: z.int().default(0).meta({ form: 'an integer' }).describe('Higher is tried first'),
  node_group: nodeGroup.default('edge').describe('The proxies that serve it'),
};

export type MappingMatch = z.output<z.ZodObject<typeof mappingMatchShape>>;

/**
 * Accepts a string in the spelling that `parse` gives it. What `parse` rejects may be an
 * expression, which `checkMatch` decides.
 */
function orExpression(form: string, parse: (text: string) => Parsed<string>) {
  return checkedString(form, text => {
    const parsed = parse(text);
    return 'value' in parsed ? parsed : { value: text };
  });
}

/** Checks the rules between these fields. */
export function checkMatch(match: Partial<MappingMatch>): readonly Finding[] {
  const { host, host_regex, method, method_regex, prefix, prefix_exact, prefix_regex } = match;
  return [
    ...check('host', host, host_regex, parseDomain, parseHostRegex),
    ...check('prefix', prefix, prefix_regex, parsePrefix, parsePathRegex),
    ...check('method', method, method_regex, parseMethod, parseFilledRe2),
    ...(prefix_regex && prefix_exact
      ? [fault(['prefix_exact'], '`prefix_exact` and `prefix_regex` exclude each other')]
      : []),
  ];
}

function check(
  field: string,
  text: string | undefined,
  isRegex: boolean | undefined,
  parseText: (text: string) => Parsed<string>,
  parseRegex: (text: string) => Parsed<string>,
): readonly Finding[] {
  if (text === undefined || isRegex === undefined) return [];
  const parsed = isRegex ? parseRegex(text) : parseText(text);
  return 'error' in parsed ? [fault([field], parsed.error)] : [];
}

/** Parses a host expression in the form in which it is compared. */
function parseHostRegex(text: string): Parsed<string> {
  const parsed = parseFilledRe2(text);
  return 'error' in parsed ? parsed : parseRe2(`(?i)${text}`);
}

function parseFilledRe2(text: string): Parsed<string> {
  return text === '' ? { error: 'an expression must not be empty' } : parseRe2(text);
}
