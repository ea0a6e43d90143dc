import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parsePathGlob } from '#resources/match/filter-policy-match.ts';
import { matchGlob, parseGlob } from '#resources/match/glob.ts';
import { visitCandidates } from '#resources/match/glob-index.ts';
import { firstRule, indexRules, orderedRules, selectRule } from './policy.ts';
import type { Rule } from './rule.ts';

const rule = (host: string, path: string, id = `${host}${path}`): Rule => ({
  id,
  host,
  path,
  items: [],
});
const select = (rules: readonly Rule[], authority: string, target: string) => {
  const selected = selectRule(indexRules(rules), { authority, target });
  return 'ambiguous' in selected ? 'ambiguous' : selected.rule?.id;
};

test('policies are ordered by precedence, higher first, then namespace, then name, and rules as written', () => {
  const policy = (namespace: string, name: string, precedence: number) => ({
    namespace,
    name,
    precedence,
    rules: [rule('*', '*', `${namespace}/${name}[0]`), rule('*', '*', `${namespace}/${name}[1]`)],
  });
  const policies = [
    policy('b', 'a', 0),
    policy('a', 'z', 0),
    policy('a', 'Z', 0),
    policy('z', 'z', 5),
    policy('a', 'a', -1),
  ];
  const order = ['z/z', 'a/Z', 'a/z', 'b/a', 'a/a'].flatMap(id => [`${id}[0]`, `${id}[1]`]);
  assert.deepEqual(
    orderedRules(policies).map(({ id }) => id),
    order,
  );
  assert.deepEqual(
    orderedRules(policies.toReversed()).map(({ id }) => id),
    order,
  );
});

test('the first rule whose host and path match counts, however narrow later ones are', () => {
  const rules = [rule('*', '/a/*'), rule('site.test', '/a/b'), rule('*', '*')];
  assert.equal(select(rules, 'site.test', '/a/b'), '*/a/*');
  assert.equal(select(rules, 'site.test', '/b'), '**');
  assert.equal(select(rules.slice(0, 2), 'site.test', '/b'), undefined);
});

for (const [authority, target, matches] of [
  ['site.test', '/a', true],
  ['SITE.test', '/a', true],
  ['site.test:8443', '/a', true],
  ['site.test.', '/a', true],
  ['site.test', '/a?b=/c', true],
  ['site.test', '/a#b', true],
  ['site.test', '/A', false],
  ['site.test', '/a/', false],
  ['xsite.test', '/a', false],
] as const) {
  test(`a rule for site.test/a ${matches ? 'matches' : 'does not match'} ${authority}${target}`, () => {
    assert.equal(select([rule('site.test', '/a')], authority, target) !== undefined, matches);
  });
}

const GUARDED = [rule('*', '/public/*', 'public'), rule('*', '/admin/*', 'admin')];

for (const [target, selected] of [
  ['/public/a;b=c/d', 'public'],
  ['/admin/a%2Fb', 'admin'],
  ['/admin;x/a', 'ambiguous'],
  ['/admin%3Bx/a', 'ambiguous'],
  ['/public/..;/admin/a', 'ambiguous'],
  ['/public/..;x=1;y/admin/a', 'ambiguous'],
  ['/public/x%2F..%2F..%2Fadmin/a', 'ambiguous'],
  ['/admin/x%2f..%2f..%2fpublic/a', 'ambiguous'],
  ['/public/..%5Cadmin/a', 'ambiguous'],
  ['/public/.%2e%2fadmin%2fa', 'ambiguous'],
  ['/admin%2Fa', 'ambiguous'],
  ['/public/a?x=/../admin/;', 'public'],
  [`/public/${';'.repeat(100_000)}`, 'public'],
  [`/public/${'%2F..'.repeat(20_000)}`, 'ambiguous'],
] as const) {
  test(`${target.slice(0, 40)} selects ${selected}`, () => {
    assert.equal(select(GUARDED, 'site.test', target), selected);
  });
}

for (const [path, ...targets] of [
  ['/users/me:login', '/users/me%3alogin', '/users/me%3Alogin', '/users/me:login'],
  ['/@me', '/%40me'],
  ['/caf%C3%A9', '/caf%c3%a9', '/caf%C3%a9', '/café'],
  ['/{id}', '/%7bid%7D', '/{id}'],
  ['/a%2A', '/a*', '/a%2a'],
] as const) {
  const glob = parsePathGlob(path);
  assert.ok('value' in glob);
  for (const target of targets)
    test(`a rule for ${path} is for ${target}, which upstreams take for the same`, () => {
      assert.equal(select([rule('*', glob.value, path)], 'site.test', target), path);
    });
}

test('names that every object knows are hosts and paths like any other', () => {
  assert.equal(
    select([rule('constructor', '/__proto__')], 'constructor', '/__proto__'),
    'constructor/__proto__',
  );
  assert.equal(select([rule('a', '/')], '__proto__', '/constructor'), undefined);
});

/** The same numbers in every run. */
function numbers(seed: number): (below: number) => number {
  let state = seed;
  return below => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

test('the index finds what trying all rules in order finds', () => {
  const next = numbers(7);
  const text = (alphabet: string, longest: number) =>
    Array.from({ length: next(longest + 1) }, () => alphabet[next(alphabet.length)]).join('');
  for (let round = 0; round < 300; round += 1) {
    const rules = Array.from({ length: next(12) }, (_, n) =>
      rule(
        text('ab.*', 4) || '*',
        `/${text('ab/*', 5)}`.replace(next(4) === 0 ? /^\// : /^$/, ''),
        String(n),
      ),
    );
    const index = indexRules(rules);
    for (let ask = 0; ask < 20; ask += 1) {
      const [host, path] = [text('ab.', 4), `/${text('ab/', 5)}`];
      const naive = rules.find(
        candidate =>
          matchGlob(parseGlob(candidate.host), host) && matchGlob(parseGlob(candidate.path), path),
      );
      assert.equal(firstRule(index, host, path), naive, JSON.stringify({ rules, host, path }));
    }
  }
});

test('of 10,000 policies few rules are tried', () => {
  const rules = Array.from({ length: 10_000 }, (_, n) => [
    rule(`tenant-${n}.test`, '/api/*'),
    rule('shared.test', `/tenant-${n}/*`),
    rule(`*.zone-${n}.test`, '/exact'),
  ]).flat();
  const index = indexRules(rules);
  const tried = (host: string, path: string) => {
    let count = 0;
    visitCandidates(index, host, paths => {
      visitCandidates(paths, path, entries => {
        count += entries.length;
      });
    });
    return count;
  };
  for (const n of [0, 77, 9_999]) {
    assert.equal(firstRule(index, `tenant-${n}.test`, '/api/a')?.id, `tenant-${n}.test/api/*`);
    assert.equal(tried(`tenant-${n}.test`, '/api/a'), 1);
    assert.equal(
      firstRule(index, 'shared.test', `/tenant-${n}/a`)?.id,
      `shared.test/tenant-${n}/*`,
    );
    assert.equal(tried('shared.test', `/tenant-${n}/a`), 1);
    assert.equal(firstRule(index, `a.zone-${n}.test`, '/exact')?.id, `*.zone-${n}.test/exact`);
    assert.equal(tried(`a.zone-${n}.test`, '/exact'), 1);
  }
});
