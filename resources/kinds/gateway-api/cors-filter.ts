import * as z from 'zod';
import { falseByDefault } from '#resources/words/flags.ts';
import { integer } from '#resources/words/number-types.ts';
import { tokenName } from './names.ts';
import { checkRules } from './rules.ts';

const ORIGIN =
  /(^\*$)|(^(http(s)?):\/\/(((\*\.)?([a-zA-Z0-9-]+\.)*[a-zA-Z0-9-]+|\*)(:([0-9]{1,5}))?)$)/;
const METHODS = [
  'GET',
  'HEAD',
  'POST',
  'PUT',
  'DELETE',
  'CONNECT',
  'OPTIONS',
  'TRACE',
  'PATCH',
] as const;

/** Methods of requests that the API knows. */
export const httpMethod = z.enum(METHODS);

const checkRepeats = checkRules<readonly string[]>(items =>
  items.flatMap((item, index) =>
    items.indexOf(item) === index ? [] : [{ path: [index], message: `"${item}" appears twice` }],
  ),
);

/** In a list `*` stands alone. */
const checkStar = checkRules<readonly string[]>(items => [
  ...(items.includes('*') && items.length > 1
    ? [{ path: [items.indexOf('*')], message: '"*" must be alone' }]
    : []),
]);

const headerNames = z.array(tokenName).max(64).check(checkRepeats);

/** Which pages of other origins may read responses. See the Fetch standard, "CORS protocol". */
export const corsFilter = z.object({
  allowOrigins: z
    .array(
      z
        .string()
        .min(1)
        .max(253)
        .regex(ORIGIN)
        .meta({ form: 'an origin such as `https://example.com`, `https://*.example.com` or `*`' }),
    )
    .max(64)
    .check(checkRepeats, checkStar)
    .default([])
    .meta({ form: 'a list of at most 64 origins' })
    .describe('Origins that may'),
  allowCredentials: falseByDefault.describe(
    'Whether they may read responses to requests with cookies and the like. Such requests are served in any case',
  ),
  allowMethods: z
    .array(z.enum([...METHODS, '*']))
    .max(9)
    .check(checkRepeats, checkStar)
    .default([])
    .meta({ form: 'a list of methods, or `["*"]`' })
    .describe('Methods that they may use'),
  allowHeaders: headerNames
    .check(checkStar)
    .default([])
    .meta({ form: 'a list of at most 64 names, or `["*"]`' })
    .describe('Headers that they may send'),
  exposeHeaders: headerNames
    .default([])
    .meta({ form: 'a list of at most 64 names' })
    .describe('Headers of responses that they may read'),
  maxAge: integer(1, 2_147_483_647, 'an integer of seconds above 0')
    .default(5)
    .describe('Seconds for which the answer to a preflight holds'),
});
