import { isDeepStrictEqual } from 'node:util';

/**
 * Fields of Ambassador's that select a Mapping's requests, or (`shadow`) make it answer none, and are not served → the value with
 * which they change nothing.
 */
const UNSERVED: Readonly<Record<string, unknown>> = {
  host_regex: false,
  method_regex: false,
  regex_headers: {},
  query_parameters: {},
  regex_query_parameters: {},
  case_sensitive: true,
  shadow: false,
};

export const UNSERVED_MATCH_FIELDS: readonly string[] = Object.keys(UNSERVED);

/**
 * Why a Mapping with this field must not be served, or undefined: the field would select its requests, and ignored it would
 * give the Mapping requests that others were meant to get.
 */
export function refuseUnserved(field: string, value: unknown): string | undefined {
  const name = field.toLowerCase();
  if (!Object.hasOwn(UNSERVED, name) || isDeepStrictEqual(value, UNSERVED[name])) return undefined;
  if (name === 'shadow') return `\`${field}\` is not served; without it the service would answer clients`;
  const otherwise = name === 'case_sensitive' ? 'other' : 'more';
  return `\`${field}\` is not served; without it the Mapping would match ${otherwise} requests`;
}
