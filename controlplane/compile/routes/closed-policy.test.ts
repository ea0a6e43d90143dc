import assert from 'node:assert/strict';
import { test } from 'node:test';
import { closedPolicyRoutes } from './closed-policy.ts';

/** Matches the whole path, as Envoy's RE2 does. */
const closes = (glob: string, path: string) =>
  closedPolicyRoutes(rejected({ path: glob }), '*', 'reject').some(({ match }) => {
    const { safe_regex, prefix } = match as { safe_regex?: { regex: string }; prefix?: string };
    return safe_regex === undefined
      ? path.startsWith(prefix ?? '')
      : new RegExp(`^(?:${safe_regex.regex})$`).test(path);
  });

const rejected = (...rules: readonly { host?: string; path?: string }[]) => ({
  kind: 'FilterPolicy',
  namespace: 'default',
  name: 'p',
  id: 'FilterPolicy/default/p',
  source: { file: 'f', line: 1 },
  rules,
});

const PATHS: readonly [glob: string, path: string, closed: boolean][] = [
  ['/a', '/a', true],
  ['/a', '/a/', false],
  ['/a', '/ab', false],
  ['/a.b', '/axb', false],
  ['/a/*', '/a/b/c', true],
  ['/a/*', '/a', false],
  ['/a/**/z', '/a/b/c/z', true],
  ['*.txt', '/a/b.txt', true],
  ['/a*', '/', false],
  ['*', '/anything', true],
  ['/a/b', '/a;v=1/b', true],
  ['/a/b', '/a/b;v=1', true],
  ['/a/b', '/a%3Bv=1/b%3b', true],
  ['/a/b', '/a/;v=1/b', true],
  ['/a/b', '/;/a/%3b/;/b', true],
  ['/a/b', '/a/c;v=1/b', false],
  ['/a/b', '/x/..;/a/b', true],
  ['/a/b', '/x/..%3Bv=1/a/b', true],
  ['/a/b', '/x/.;/y', true],
  ['/me:login', '/me%3alogin', true],
  ['/me:login', '/me%3Alogin;v=1', true],
  ['/a/[x]', '/a/%5bx%5D', true],
  ['/a/[x]', '/a/x', false],
  ['/caf%C3%A9/*', '/caf%c3%A9/b', true],
  ['/caf%C3%A9', '/cafe', false],
  ['/100%25', '/100%', true],
];

for (const [glob, path, closed] of PATHS) {
  test(`a rejected rule for ${glob} ${closed ? 'closes' : 'leaves'} ${path}`, () => {
    assert.equal(closes(glob, path), closed);
  });
}

const HOSTS: readonly [host: string, domain: string, closed: boolean][] = [
  ['*', 'api.example.com', true],
  ['api.example.com', 'api.example.com', true],
  ['API.example.com.', 'api.example.com', true],
  ['api.example.com', 'www.example.com', false],
  ['*.example.com', 'api.example.com', true],
  ['api-*', 'api-1.example.com', true],
  ['other.org', '*.example.com', true],
  ['[::1]', '::1', true],
  ['[2001:db8:*]', '2001:db8::1', true],
  ['[::1]', '::2', false],
  // An expression with backtracking would take years.
  [`${'a*'.repeat(30)}b`, `${'a'.repeat(63)}.${'a'.repeat(63)}`, false],
];

for (const [host, domain, closed] of HOSTS) {
  test(`a rejected rule for host ${host} ${closed ? 'is' : 'is not'} in the virtual host of ${domain}`, () => {
    assert.equal(
      closedPolicyRoutes(rejected({ host, path: '/' }), domain, 'reject').length > 0,
      closed,
    );
  });
}

test('in the virtual host of a wildcard, the host of the request decides', () => {
  const [route] = closedPolicyRoutes(rejected({ host: 'api.*' }), '*', 'reject');
  const string_match = { safe_regex: { regex: '(?i)(?:api\\..*)(?::[^:\\]]*)?' } };
  assert.deepEqual(route?.match, { prefix: '/', headers: [{ name: ':authority', string_match }] });
});

test('a policy of which nothing can be read closes everything', () => {
  const { rules: _, ...unreadable } = rejected();
  assert.deepEqual(
    closedPolicyRoutes(unreadable, 'any.example.com', 'reject').map(({ match }) => match),
    [{ prefix: '/' }],
  );
});

test('a policy without rules closes nothing', () => {
  assert.deepEqual(closedPolicyRoutes(rejected(), '*', 'reject'), []);
});

test('where escaped slashes come in, they are closed too: they may lead to any path', () => {
  const regexes = (mode: 'reject' | 'keep') =>
    closedPolicyRoutes(rejected({ path: '/a/*' }), '*', mode).map(({ match }) =>
      JSON.stringify(match),
    );
  assert.equal(regexes('keep').filter(regex => regex.includes('%(?:2')).length, 1);
  assert.equal(regexes('reject').filter(regex => regex.includes('%(?:2')).length, 0);
});
