import assert from 'node:assert/strict';
import { test } from 'node:test';
import { stringify } from 'yaml';
import { cases } from '#protos/testing/cases.ts';
import { pick, seededRandom } from '#protos/testing/random.ts';
import { matchGlob } from '#resources/match/glob.ts';
import { commonText } from '#resources/match/glob-relation.ts';
import type { Resource } from '#resources/resource.ts';
import { coveringDomains } from '../domain-cover.ts';
import { mappingPaths } from '../mapping-domain.ts';
import { resourceSetOf } from '../testing/resource-set-of.ts';
import { written } from '../testing/written.ts';
import { otherNames } from './other-names.ts';
import { type OrderedRule, orderedRules, ruleFinder } from './rule-order.ts';

type Written = { readonly host?: string; readonly path?: string; readonly open?: boolean };

const policy = (name: string, rules: readonly Written[]) =>
  written('FilterPolicy', 'default', name, {
    rules: rules.map(({ open, ...rule }) => ({
      ...rule,
      filters: open ? [] : [{ name: 'jwt' }],
    })),
  });

function read(documents: readonly object[]) {
  const yaml = documents.map(document => stringify(document)).join('---\n');
  const { filterPolicies, mappings } = resourceSetOf(yaml).resources;
  return { mappings, rules: orderedRules(filterPolicies) };
}

/** Tries every rule in its order. */
const trying = (rules: readonly OrderedRule[]) => (host: string, path: string) =>
  rules.find(rule => matchGlob(rule.host, host) && matchGlob(rule.path, path));

/** The same answer by trying everything. */
function tryingAll(mappings: readonly Resource<'Mapping'>[], rules: readonly OrderedRule[]) {
  const find = trying(rules);
  const rooted = (path: string) => (path.startsWith('/') ? path : `/${path}`);
  const told = new Set<string>();
  for (const { closes, host, index, path, policy } of rules) {
    if (!closes || matchGlob(host, '\0')) continue;
    const name = policy.spec.rules[index]?.host ?? '';
    const own = mappings.filter(
      ({ spec }) => spec.host !== '*' && coveringDomains(name).includes(spec.host),
    );
    const passed = mappings
      .filter(({ spec }) => spec.host === '*')
      .map(({ spec }) => commonText(path, mappingPaths(spec)))
      .filter(common => common !== undefined)
      .map(rooted)
      .filter(common => find('any.invalid', common) === undefined)
      .some(common => !own.some(({ spec }) => matchGlob(mappingPaths(spec), common)));
    if (passed) told.add(`${policy.name} ${name}`);
  }
  return [...told].sort();
}

test('a rule for one name has a warning exactly when trying all Mappings finds one', () => {
  const random = seededRandom(7);
  let warned = 0;
  const rounds = cases({ all: 3_000, quick: 500 });
  for (let round = 0; round < rounds; round++) {
    const rules = Array.from({ length: 4 }, () => ({
      host: pick(['*', 'a.test', 'b.test', '*.test', '*a.test'], random),
      path: pick(['*', '/*', '/a/*', '/a/b', '*.html', '/a/*.html', '/b*'], random),
      open: random() < 0.3,
    }));
    const documents = Array.from({ length: 4 }, (_, at) =>
      written('Mapping', 'default', `m${at}`, {
        host: pick(['*', '*', 'a.test', '*.test'], random),
        prefix: pick(['/', '/a/', '/a/b', '/b'], random),
        prefix_exact: random() < 0.3,
        case_sensitive: random() < 0.8,
        service: 's',
      }),
    );
    const { mappings, rules: ordered } = read([
      policy('p', rules.slice(0, 2)),
      policy('q', rules.slice(2)),
      ...documents,
    ]);
    const find = ruleFinder(ordered);
    for (const host of ['a.test', 'x.test', 'any.invalid'])
      for (const path of ['/', '/a/b', '/a/x.html', '/b', ''])
        assert.equal(find(host, path), trying(ordered)(host, path));
    const found = otherNames(mappings, ordered, find, () => true).map(
      ({ message, name }) => `${name} ${message.split('`')[1]}`,
    );
    assert.deepEqual(found.sort(), tryingAll(mappings, ordered), stringify({ rules, documents }));
    warned += Number(found.length > 0);
  }
  assert.ok(warned > rounds / 10 && warned < rounds * 0.9, `${warned} of ${rounds}`);
});

const MANY = 300;
const tenants = (of: (tenant: number) => object) => Array.from({ length: MANY }, (_, at) => of(at));
const SHARED = tenants(at =>
  written('Mapping', 'default', `m${at}`, { prefix: `/p${at}/`, service: 's' }),
);
const RULES = policy(
  'p',
  Array.from({ length: MANY }, (_, at) => ({ host: `t${at}.test` })),
);

for (const [title, documents] of [
  ['a rule for every name covers them', [policy('q', [{}])]],
  [
    'each name has a Mapping of its own',
    tenants(at =>
      written('Mapping', 'default', `o${at}`, { host: `t${at}.test`, prefix: '/', service: 's' }),
    ),
  ],
] as const)
  test(`rules for many names are not compared with each of many Mappings where ${title}`, () => {
    const { mappings, rules } = read([RULES, ...SHARED, ...documents]);
    let looks = 0;
    const find = ruleFinder(rules);
    const counting = (host: string, path: string) => {
      looks += 1;
      return find(host, path);
    };
    assert.deepEqual(
      otherNames(mappings, rules, counting, () => true),
      [],
    );
    assert.ok(looks < 3 * MANY, `${looks} looks`);
  });
