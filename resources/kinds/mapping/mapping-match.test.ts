import assert from 'node:assert/strict';
import { test } from 'node:test';
import { documentOf, parseText, problemsOf } from '#resources/testing/problem-lines.ts';

const MINIMAL = { prefix: '/user', service: 'user' };
const TOKEN = "is not a header name: letters, digits and !#$%&'*+-.^_`|~ only";

const REFUSED: readonly [fields: object, problem: string][] = [
  [
    { host_regex: 'yes' },
    'error spec.host_regex: `host_regex` must be `true` or `false`, not "yes"',
  ],
  [
    { host_regex: true },
    'error spec.host: Cannot parse regular expression "*": missing argument to repetition operator: `*`',
  ],
  [{ host: '', host_regex: true }, 'error spec.host: an expression must not be empty'],
  [
    { host: '(a', host_regex: true },
    'error spec.host: Cannot parse regular expression "(a": missing closing ): `(a`',
  ],
  [
    { host: '(a{100}){11}', host_regex: true },
    'error spec.host: Cannot parse regular expression "(a{100}){11}": invalid repeat count: `{11}`',
  ],
  [
    { host: 'a|b.example.com' },
    'error spec.host: Cannot parse host "a|b.example.com": "a|b.example.com" is not a host name: "a|b" may have letters, digits, "-" and "_" only, and no "-" at its ends',
  ],
  [
    { host: 'https://a.example.com' },
    'error spec.host: Cannot parse host "https://a.example.com": "https://a.example.com" is not a host name: write it without "https://"',
  ],
  [
    { method: 'G(ET', method_regex: true },
    'error spec.method: Cannot parse regular expression "G(ET": missing closing ): `G(ET`',
  ],
  [{ method: '', method_regex: true }, 'error spec.method: an expression must not be empty'],
  [{ regex_headers: { 'x a': 'b' } }, `error spec.regex_headers["x a"]: "x a" ${TOKEN}`],
  [
    { regex_headers: { a: 'b', A: 'c' } },
    'error spec.regex_headers.a: the header "a" is named twice. Header names have no case',
  ],
  [
    { regex_headers: { authorization: 'secret(' } },
    'error spec.regex_headers.authorization: Cannot parse regular expression: missing closing )',
  ],
  [{ regex_headers: { a: '' } }, 'error spec.regex_headers.a: an expression must not be empty'],
  [{ regex_headers: { a: true } }, 'error spec.regex_headers.a: `a` must be an RE2 expression'],
  [
    { query_parameters: { a: 5 } },
    'error spec.query_parameters.a: `a` must be a string (the exact value) or true (any value)',
  ],
  [{ query_parameters: { '': 'a' } }, 'error spec.query_parameters[""]: a parameter has a name'],
  [
    { query_parameters: { 'a b': true } },
    'error spec.query_parameters["a b"]: " " is never part of a parameter\'s name. Write it percent-encoded',
  ],
  [
    { query_parameters: { a: 'b&c' } },
    'error spec.query_parameters.a: it has a character that is never part of a query. Write it percent-encoded, as clients send it',
  ],
  [
    { regex_query_parameters: { 'a=': 'b' } },
    'error spec.regex_query_parameters["a="]: "=" is never part of a parameter\'s name. Write it percent-encoded',
  ],
  [
    { regex_query_parameters: { a: 'b**' } },
    'error spec.regex_query_parameters.a: Cannot parse regular expression: invalid nested repetition operator',
  ],
];

for (const [fields, problem] of REFUSED) {
  test(`a Mapping with ${JSON.stringify(fields).slice(0, 100)} is rejected, and closes nothing`, () => {
    const { rejected } = parseText(documentOf('Mapping', { ...MINIMAL, ...fields }));
    assert.deepEqual(problemsOf('Mapping', { ...MINIMAL, ...fields }), [problem]);
    assert.deepEqual(
      rejected.map(({ match }) => match),
      [undefined],
    );
  });
}

test('a Mapping that is rejected for another reason closes just what it matches', () => {
  const match = {
    host: 'a[.]test',
    host_regex: true,
    method: 'GET|PUT',
    method_regex: true,
    regex_headers: { a: 'b' },
    query_parameters: { c: true },
    regex_query_parameters: { d: 'e' },
  };
  const { rejected } = parseText(
    documentOf('Mapping', { ...MINIMAL, ...match, timeout_ms: 'long' }),
  );
  assert.deepEqual(rejected[0]?.match, {
    ...{ prefix: '/user', prefix_exact: false, prefix_regex: false },
    ...{ case_sensitive: true, headers: {}, precedence: 0, node_group: 'edge' },
    ...match,
  });
});
