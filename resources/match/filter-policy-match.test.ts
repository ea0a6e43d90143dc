import assert from 'node:assert/strict';
import { test } from 'node:test';
import { comparedHost, parseHostGlob, parsePathGlob } from './filter-policy-match.ts';

for (const [written, glob] of [
  ['*', '*'],
  ['**', '**'],
  ['example.com', 'example.com'],
  ['*.Example.COM.', '*.example.com'],
  ['api-*.example.com', 'api-*.example.com'],
  ['*example*', '*example*'],
  ['a_b', 'a_b'],
  ['10.0.0.*', '10.0.0.*'],
  ['[::1]', '[::1]'],
  ['[2001:DB8:*]', '[2001:db8:*]'],
] as const) {
  test(`${written} is a glob for hosts`, () => {
    assert.deepEqual(parseHostGlob(written), { value: glob });
  });
}

for (const [written, reason] of [
  ['', 'it is empty. `*` is every host'],
  ['.', 'it is empty. `*` is every host'],
  ['example.com:8080', 'it may not have a scheme or a port. Hosts are compared without'],
  ['example.com:*', 'it may not have a scheme or a port. Hosts are compared without'],
  ['*:8080', 'it may not have a scheme or a port. Hosts are compared without'],
  ['https://example.com', 'it may not have a scheme or a port. Hosts are compared without'],
  ['example.com/a', 'no host matches it: letters, digits, "-", "_", "." and "*" only'],
  ['a..b', 'no host matches it: letters, digits, "-", "_", "." and "*" only'],
  ['(a|b).example.com', 'no host matches it: letters, digits, "-", "_", "." and "*" only'],
  [
    '*.b\u00fccher.test',
    'no host matches it: letters, digits, "-", "_", "." and "*" only. Browsers send it as "*.xn--bcher-kva.test"',
  ],
  ['a b', 'no host matches it: letters, digits, "-", "_", "." and "*" only'],
] as const) {
  test(`${JSON.stringify(written)} is no glob for hosts`, () => {
    assert.deepEqual(parseHostGlob(written), {
      error: `Cannot parse host ${JSON.stringify(written)}: ${reason}`,
    });
  });
}

for (const glob of [
  '*',
  '**',
  '/',
  '/a',
  '/a/*',
  '/a/**/z',
  '*.txt',
  '/a;b=1/c',
  '/a/*/',
  '/...',
  '/a*//b'.replace('//', '/'),
]) {
  test(`${glob} is a glob for paths`, () => {
    assert.deepEqual(parsePathGlob(glob), { value: glob });
  });
}

for (const [written, glob] of [
  ['/A%2D', '/A-'],
  ['/users/%3alogin', '/users/:login'],
  ['/caf%c3%a9/*', '/caf%C3%A9/*'],
  ['/{id}', '/%7Bid%7D'],
]) {
  test(`${written} is a glob for paths like ${glob}`, () => {
    assert.deepEqual(parsePathGlob(written ?? ''), { value: glob });
  });
}

const RESOLVED =
  'no path matches it: "//", "/./" and "/../" are resolved before paths are compared';

for (const [written, reason] of [
  ['', 'it must begin with "/" or "*"'],
  ['a/*', 'it must begin with "/" or "*"'],
  ['/a?b=*', 'no path matches it: queries and fragments are not compared'],
  ['/a#b', 'no path matches it: queries and fragments are not compared'],
  ['/a b', '" " is never part of a path. Write it percent-encoded'],
  ['/\u00fc', '"\u00fc" is never part of a path. Write it percent-encoded'],
  ['/a\n', '"\\n" is never part of a path. Write it percent-encoded'],
  ['/a//b', RESOLVED],
  ['/a/./b', RESOLVED],
  ['/a/../b', RESOLVED],
  ['/a/..', RESOLVED],
  ['/a/%2e%2E/b', RESOLVED],
  ['/.', RESOLVED],
] as const) {
  test(`${JSON.stringify(written)} is no glob for paths`, () => {
    assert.deepEqual(parsePathGlob(written), {
      error: `Cannot parse path ${JSON.stringify(written)}: ${reason}`,
    });
  });
}

test('a glob has 1,024 characters at most', () => {
  assert.ok('value' in parsePathGlob(`/${'a'.repeat(1023)}`));
  assert.ok('error' in parsePathGlob(`/${'a'.repeat(1024)}`));
  assert.ok('error' in parseHostGlob('a'.repeat(1025)));
});

for (const [authority, host] of [
  ['a.b:x', 'a.b'],
  ['[::1]:80', '[::1]'],
  ['[::1]', '[::1]'],
  ['example.com', 'example.com'],
  ['EXAMPLE.com:8080', 'example.com'],
  ['example.com.:443', 'example.com'],
  ['example.com.', 'example.com'],
  ['example.com:', 'example.com'],
  ['[::1]:8080', '[::1]'],
  ['[::1]', '[::1]'],
  ['', ''],
] as const) {
  test(`the host of ${authority} is compared as ${host}`, () => {
    assert.equal(comparedHost(authority), host);
  });
}
