type Value = unknown;
type Pick = <T>(items: readonly T[]) => T;
type Maybe = (fields: Record<string, () => Value>) => Record<string, Value>;

const HEADERS: readonly string[] = [
  'x-a',
  'X-B',
  'x_c',
  "x!#$%&'*+-.^`|~",
  'server',
  'x-forwarded-host',
];
const FORMATS: readonly string[] = [
  ...['', ' a ', '\\1', "'", '{{', 'é', '😀', '\t', 'x'.repeat(300)],
  ...['100%% %PROTOCOL%', '%START_TIME(%s)% %REQ(x?y):3%', '%FILTER_STATE(a)%', '%UPSTREAM_HOST%'],
];
const EXPRESSIONS: readonly string[] = [
  ...['.*', 'a|b', '(?i)x', '[a-z]{1,50}', '^a$', '(?:)', '\\d+', '\\pL+'],
  `(${'abc|'.repeat(100)}z)`,
];
const PATHS: readonly string[] = ['/', '/a', '/a/', '/a?b', '/%', '/a;b', '/$1', '/(', '/\\'];
const PATTERNS: readonly string[] = [
  '/a',
  '.*',
  '^/?',
  '/(a|b)+',
  '[a-z]{1,50}',
  '(?i)/x',
  '^',
  '/()',
];

/**
 * Returns what a Mapping may say of which requests it matches, where it redirects them, and how it
 * changes them. The values are odd, and most of them valid.
 */
export function randomRouting(pick: Pick, maybe: Maybe): Record<string, Value> {
  const wrong = pick([1, 2, 3, 4, 5, 6]) === 1 ? WRONG : {};
  return {
    ...maybe({ ...matchFields(pick), ...headerFields(pick), ...redirectFields(pick) }),
    ...pick([{}, {}, { host: pick(EXPRESSIONS), host_regex: true }]),
    ...pick([{}, {}, { method: pick(EXPRESSIONS), method_regex: true }]),
    ...pick([{}, ...Object.entries(wrong).map(([field, value]) => ({ [field]: value }))]),
  };
}

const WRONG = {
  host_regex: 'yes',
  regex_headers: { 'x-a': '(' },
  query_parameters: { é: true },
  add_request_headers: { te: 'a' },
  add_response_headers: { 'x-a': '%' },
  remove_request_headers: ['host'],
  path_redirect: 'a',
  regex_rewrite: { pattern: '', substitution: '/\\1' },
};

function matchFields(pick: Pick): Record<string, () => Value> {
  return {
    case_sensitive: () => pick([true, false]),
    regex_headers: () => ({ [pick(HEADERS)]: pick(EXPRESSIONS), host: pick(EXPRESSIONS) }),
    query_parameters: () => ({
      [pick(['a', '%41', '%', 'a[]'])]: pick([true, '', '%20', 'a=b', '"', '$1']),
    }),
    regex_query_parameters: () => ({ [pick(['a', 'b', '%'])]: pick(EXPRESSIONS) }),
  };
}

function headerFields(pick: Pick): Record<string, () => Value> {
  const added = () => ({
    [pick(HEADERS)]: pick(FORMATS),
    [`${pick(HEADERS)}-2`]: { value: pick(FORMATS), append: false },
  });
  const removed = () => pick([pick(HEADERS), ['x-d', pick(HEADERS)]]);
  return {
    add_request_headers: added,
    remove_request_headers: removed,
    add_response_headers: added,
    remove_response_headers: removed,
  };
}

function redirectFields(pick: Pick): Record<string, () => Value> {
  return {
    host_redirect: () => pick([true, false]),
    redirect_response_code: () => pick([301, 302, 303, 307, 308]),
    ...pick([
      { path_redirect: () => pick(PATHS) },
      { prefix_redirect: () => pick(PATHS) },
      { regex_redirect: () => substitution(pick) },
    ]),
    auto_host_rewrite: () => pick([true, false]),
    regex_rewrite: () => substitution(pick),
  };
}

function substitution(pick: Pick): Value {
  return { pattern: pick(PATTERNS), substitution: pick(['/', '/x?y', '/\\0', '/\\\\', '/$1']) };
}
