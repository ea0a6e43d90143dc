import * as z from 'zod';
import { caution, type FieldPath, type Finding } from '#resources/finding.ts';
import { commaList } from '#resources/words/comma-list.ts';
import { falseByDefault } from '#resources/words/flags.ts';
import { parseMethod, parseToken } from '#resources/words/http-token.ts';
import { isOpenOrigin, parseCorsOrigin } from './cors-origin.ts';

const LONGEST_AGE_S = 2_147_483_647;
const AGE_FORM = `a number of seconds from 0 to ${LONGEST_AGE_S}`;

const seconds = z
  .union([z.int().min(0).max(LONGEST_AGE_S), z.string().regex(/^\d{1,9}$/)])
  .transform(Number)
  .meta({ form: AGE_FORM });

const headerNames = commaList('names of headers', text => parseToken(text, 'a header name'));

/** Which pages of other origins may read answers (Fetch Standard, "CORS protocol"). */
export const cors = z.object({
  origins: commaList('origins', parseCorsOrigin)
    .prefault([])
    .describe(
      'Origins whose pages may: `https://example.com`, `https://*.example.com`, or `*` for all',
    ),
  methods: commaList('methods', parseMethod)
    .prefault([])
    .describe('Methods that they may use besides GET, HEAD and POST'),
  headers: headerNames.prefault([]).describe('Request headers that they may set'),
  credentials: falseByDefault.describe(
    "Whether they may use the client's cookies. Does not count with the origin `*`, as any site could act as the client",
  ),
  exposed_headers: headerNames.prefault([]).describe('Response headers that they may read'),
  max_age: seconds
    .exactOptional()
    .describe('Seconds for which browsers may keep the answer to a preflight'),
});

export type Cors = z.output<typeof cors>;

/**
 * Returns the origin with which credentials do not count, because Envoy would allow them to any.
 * @returns undefined when there is none
 */
export function openOrigin({ origins }: Pick<Cors, 'origins'>): string | undefined {
  return origins.find(isOpenOrigin);
}

/** Warns where `credentials` do not count. */
export function checkCredentials(cors: Cors | undefined, path: FieldPath): readonly Finding[] {
  const open = cors?.credentials === true ? openOrigin(cors) : undefined;
  if (open === undefined) return [];
  const message = `\`credentials\` does not count with the origin \`${open}\`: any site could act as the client. List the origins`;
  return [caution([...path, 'credentials'], message)];
}
