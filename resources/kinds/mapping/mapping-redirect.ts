import * as z from 'zod';
import { caution, type Finding, fault } from '#resources/finding.ts';
import { pathAndQuery } from '#resources/match/path-match.ts';
import { regexSubstitution } from '#resources/match/regex-substitution.ts';
import { falseByDefault } from '#resources/words/flags.ts';

/** The fields of a Mapping that answer requests with a redirect. */
export const mappingRedirectShape = {
  host_redirect: falseByDefault.describe(
    'Requests are answered with a redirect to the host and port in `service`, with path and query as they are. With `https://` before it by https, else by the scheme that they came by. Filters decide before, limits are not asked',
  ),
  path_redirect: pathAndQuery.exactOptional().describe('The path of the redirect'),
  prefix_redirect: pathAndQuery
    .exactOptional()
    .describe('What replaces `prefix` in the path of the redirect'),
  regex_redirect: regexSubstitution
    .exactOptional()
    .describe('What is replaced in the path of the redirect. A substitution begins with "/"'),
  redirect_response_code: z
    .literal([301, 302, 303, 307, 308])
    .default(301)
    .meta({ form: '301, 302, 303, 307 or 308' })
    .describe('Status of the redirect'),
};

/** Fields that change what a service gets, each with its JSON when it changes nothing. */
const FOR_SERVICES = [
  { field: 'rewrite', nothing: '"/"' },
  { field: 'regex_rewrite', nothing: '' },
  { field: 'host_rewrite', nothing: '' },
  { field: 'auto_host_rewrite', nothing: 'false' },
  { field: 'add_request_headers', nothing: '{}' },
  { field: 'remove_request_headers', nothing: '[]' },
] as const;

/** The fields of a redirect, those that exclude one, and those that have no effect beside one. */
type Redirect = Partial<
  z.output<z.ZodObject<typeof mappingRedirectShape>> &
    Record<(typeof FOR_SERVICES)[number]['field'], unknown>
> & {
  readonly labels?: object;
  readonly prefix_regex?: boolean;
  readonly shadow?: boolean;
};

const PATH_FIELDS = ['path_redirect', 'prefix_redirect', 'regex_redirect'] as const;

/** Checks the rules between the fields of a redirect. */
export function checkRedirect(spec: Redirect): readonly Finding[] {
  const paths = PATH_FIELDS.filter(field => spec[field] !== undefined);
  if (spec.host_redirect === undefined) return [];
  return spec.host_redirect ? checkPaths(spec, paths) : checkIdle(spec, paths);
}

function checkIdle(
  { redirect_response_code = 301 }: Redirect,
  paths: readonly string[],
): readonly Finding[] {
  const idle = redirect_response_code === 301 ? paths : [...paths, 'redirect_response_code'];
  return idle.map(field =>
    caution([field], `\`${field}\` has no effect without \`host_redirect: true\``),
  );
}

function checkPaths(spec: Redirect, [first, ...others]: readonly string[]): readonly Finding[] {
  const { labels = {}, prefix_redirect, prefix_regex, regex_redirect, shadow } = spec;
  const whole = prefix_regex === true && prefix_redirect !== undefined;
  const open = regex_redirect !== undefined && !regex_redirect.substitution.startsWith('/');
  return [
    ...(shadow === true
      ? [fault(['shadow'], '`shadow` and `host_redirect` exclude each other')]
      : []),
    ...others.map(field => fault([field], `\`${first}\` and \`${field}\` exclude each other`)),
    ...(whole ? [fault(['prefix_redirect'], WHOLE)] : []),
    ...(open ? [fault(['regex_redirect', 'substitution'], OPEN)] : []),
    ...(Object.keys(labels).length > 0 ? [caution(['labels'], UNASKED)] : []),
    ...FOR_SERVICES.filter(({ field, nothing }) => !isNothing(spec[field], nothing)).map(
      ({ field }) =>
        caution([field], `\`${field}\` has no effect with \`host_redirect\`: no service is asked`),
    ),
  ];
}

function isNothing(value: unknown, nothing: string): boolean {
  return value === undefined || value === '' || JSON.stringify(value) === nothing;
}

const WHOLE = '`prefix_redirect` and `prefix_regex` exclude each other: write `regex_redirect`';
const OPEN = 'it must begin with "/", or the redirect might lead to another host';
const UNASKED =
  '`labels` have no effect with `host_redirect`: limits are asked about what goes to a service';
