import { isDeepStrictEqual } from 'node:util';

/** Ambassador's fields that are not served and that change which requests a Mapping answers, each with the value that changes nothing. */
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
