import assert from 'node:assert/strict';
import { test } from 'node:test';
import { documentOf, parseText, problemsOf } from '#resources/testing/problem-lines.ts';

const MINIMAL = { prefix: '/user', service: 'user' };
const REDIRECT = { ...MINIMAL, host_redirect: true };

const PATH = 'must begin with "/"';
const OPEN = `error spec.regex_redirect.substitution: it ${PATH}, or the redirect might lead to another host`;

const REFUSED: readonly [fields: object, problem: string][] = [
  [{ shadow: true }, 'error spec.shadow: `shadow` and `host_redirect` exclude each other'],
  [{ path_redirect: 'x' }, `error spec.path_redirect: Cannot parse path "x": it ${PATH}`],
  [{ path_redirect: '' }, `error spec.path_redirect: Cannot parse path "": it ${PATH}`],
  [
    { path_redirect: 'https://a.test/' },
    `error spec.path_redirect: Cannot parse path "https://a.test/": it ${PATH}`,
  ],
  [{ prefix_redirect: 'x' }, `error spec.prefix_redirect: Cannot parse path "x": it ${PATH}`],
  [
    { path_redirect: '/a', prefix_redirect: '/b' },
    'error spec.prefix_redirect: `path_redirect` and `prefix_redirect` exclude each other',
  ],
  [
    { prefix_redirect: '/a', prefix_regex: true },
    'error spec.prefix_redirect: `prefix_redirect` and `prefix_regex` exclude each other: write `regex_redirect`',
  ],
  [{ regex_redirect: { pattern: '^/', substitution: '.evil.test/' } }, OPEN],
  [{ regex_redirect: { pattern: '(/a)', substitution: '\\1' } }, OPEN],
  [
    { regex_redirect: { pattern: '/a' } },
    'error spec.regex_redirect.substitution: `substitution` is required: a text',
  ],
  [
    { regex_redirect: { pattern: '/(a', substitution: '/' } },
    'error spec.regex_redirect.pattern: Cannot parse regular expression "/(a": missing closing ): `/(a`',
  ],
  [
    { regex_redirect: { pattern: '', substitution: '/' } },
    'error spec.regex_redirect.pattern: `pattern` must not be empty',
  ],
  [
    { redirect_response_code: 200 },
    'error spec.redirect_response_code: `redirect_response_code` must be 301, 302, 303, 307 or 308, not 200',
  ],
  [
    { redirect_response_code: '301' },
    'error spec.redirect_response_code: `redirect_response_code` must be 301, 302, 303, 307 or 308, not "301"',
  ],
];

for (const [fields, problem] of REFUSED) {
  test(`a redirect with ${JSON.stringify(fields)} is rejected`, () => {
    assert.deepEqual(problemsOf('Mapping', { ...REDIRECT, ...fields }), [problem]);
    assert.deepEqual(parseText(documentOf('Mapping', { ...REDIRECT, ...fields })).resources, []);
  });
}

for (const [field, written, nothing] of [
  ['rewrite', '/x', '/'],
  ['regex_rewrite', { pattern: '/a', substitution: '/b' }],
  ['host_rewrite', 'a.test'],
  ['auto_host_rewrite', true, false],
  ['add_request_headers', { 'x-a': 'b' }, {}],
  ['remove_request_headers', ['x-a'], []],
] as const) {
  test(`${field} of a redirect has no effect, and a warning says so`, () => {
    assert.deepEqual(problemsOf('Mapping', { ...REDIRECT, [field]: written }), [
      `warning spec.${field}: \`${field}\` has no effect with \`host_redirect\`: no service is asked`,
    ]);
    const without = nothing === undefined ? {} : { [field]: nothing };
    assert.deepEqual(problemsOf('Mapping', { ...REDIRECT, ...without }), []);
  });
}

const SUBSTITUTIONS: readonly [pattern: string, substitution: string, error?: string][] = [
  ['/a/(.*)', '/\\1/\\0'],
  ['/a', '/\\\\1'],
  ['(a)(b)(c)(d)(e)(f)(g)(h)(i)', '/\\9'],
  ['/(?P<n>a)', '/$1\\1?q'],
  ['/a', '/\\1', '\\1 is no group of the pattern, which has 0'],
  ['/(?:a)(b)', '/\\2', '\\2 is no group of the pattern, which has 1'],
  ['/a', '/\\d', '"\\d" is neither a group, \\0 to \\9, nor a backslash, which is written \\\\'],
  ['/a', '/\\', '"\\" is neither a group, \\0 to \\9, nor a backslash, which is written \\\\'],
  ['/a', '/a b', '" " is never part of a path. Write it percent-encoded'],
  ['/a', `/${'a'.repeat(8192)}`, 'a substitution has 8192 characters at most, not 8193'],
];

for (const [pattern, substitution, error] of SUBSTITUTIONS) {
  test(`${pattern} ${error === undefined ? 'may' : 'may not'} be replaced by ${substitution.slice(0, 40)}`, () => {
    const problems = problemsOf('Mapping', {
      ...MINIMAL,
      regex_rewrite: { pattern, substitution },
    });
    assert.deepEqual(
      problems,
      error === undefined ? [] : [`error spec.regex_rewrite.substitution: ${error}`],
    );
  });
}

const WARNED: readonly [fields: object, problem: string][] = [
  [
    { path_redirect: '/a' },
    'warning spec.path_redirect: `path_redirect` has no effect without `host_redirect: true`',
  ],
  [
    { redirect_response_code: 302 },
    'warning spec.redirect_response_code: `redirect_response_code` has no effect without `host_redirect: true`',
  ],
  [
    { host_redirect: true, labels: { gateway: [{ a: ['b'] }] } },
    'warning spec.labels: `labels` have no effect with `host_redirect`: limits are asked about what goes to a service',
  ],
  [
    { regex_rewrite: { pattern: '^/user', substitution: 'x' } },
    'warning spec.regex_rewrite.substitution: a path may come out that does not begin with "/"',
  ],
  [
    { regex_rewrite: { pattern: 'a', substitution: '/' }, rewrite: '/b' },
    'warning spec.rewrite: `rewrite` is ignored with `regex_rewrite`',
  ],
  [
    { rewrite: '/b?c=d' },
    'warning spec.rewrite: what follows `prefix` in the path comes behind the "?". Only with `prefix_exact` nothing follows',
  ],
  [
    { auto_host_rewrite: true, host_rewrite: 'a' },
    'warning spec.auto_host_rewrite: `auto_host_rewrite` has no effect with `host_rewrite`',
  ],
  [
    { auto_host_rewrite: true, resolver: 'sds' },
    'warning spec.auto_host_rewrite: `auto_host_rewrite` has no effect with `resolver: sds`: instances have no names',
  ],
  [
    { auto_host_rewrite: true, service: '10.1.2.3' },
    'warning spec.auto_host_rewrite: `auto_host_rewrite` has no effect where `service` is an address',
  ],
];

for (const [fields, problem] of WARNED) {
  test(`a Mapping with ${JSON.stringify(fields)} is served with a warning`, () => {
    assert.deepEqual(problemsOf('Mapping', { ...MINIMAL, ...fields }), [problem]);
    assert.equal(parseText(documentOf('Mapping', { ...MINIMAL, ...fields })).resources.length, 1);
  });
}
