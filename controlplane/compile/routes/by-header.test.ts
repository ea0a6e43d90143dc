import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isJsonObject, type Json, type JsonObject, objectsIn } from '#protos/json.ts';
import { pick, seededRandom } from '#protos/testing/random.ts';
import { askedHeader, byHeader } from './by-header.ts';

function route(name: string, ...headers: readonly JsonObject[]): JsonObject {
  return { name, match: { prefix: '/', headers } };
}

const is = (name: string, exact: string): JsonObject => ({ name, string_match: { exact } });

const cut = (routes: readonly JsonObject[], longest: number) =>
  byHeader(routes, askedHeader(routes, longest));

/** Returns the routes that Envoy tries for a value of the header. */
function listFor(host: JsonObject, value: string | undefined): readonly JsonObject[] {
  const { matcher } = host;
  if (!isJsonObject(matcher)) return objectsIn(host.routes);
  const at = (from: Json | undefined, ...keys: readonly string[]) =>
    keys.reduce<Json | undefined>((of, key) => (isJsonObject(of) ? of[key] : undefined), from);
  const found =
    value === undefined ? undefined : at(matcher, 'matcher_tree', 'exact_match_map', 'map', value);
  const nested = at(matcher, 'on_no_match', 'matcher');
  const [several] = objectsIn(at(nested, 'matcher_list', 'matchers'));
  const otherwise = value?.includes(',') ? several?.on_match : at(nested, 'on_no_match');
  return objectsIn(at(found ?? otherwise, 'action', 'typed_config', 'routes'));
}

const names = (routes: readonly JsonObject[]) => routes.map(({ name }) => name);

test('a value has its routes, and in their order those that any request may take', () => {
  const routes = [
    route('any', { name: 'x-tenant', present_match: true }),
    ...Array.from({ length: 50 }, (_, index) => route(`t${index}`, is('x-tenant', `t${index}`))),
    route('other', is('x-other', 'a')),
    route('t7 again', is('X-Tenant', 't7'), is('x-other', 'a')),
  ];
  const host = cut(routes, 20);
  assert.deepEqual(names(listFor(host, 't7')), ['any', 't7', 'other', 't7 again']);
  assert.deepEqual(names(listFor(host, 'unknown')), ['any', 'other']);
  assert.deepEqual(names(listFor(host, undefined)), ['any', 'other']);
  assert.deepEqual(names(listFor(host, 't7,t8')), names(routes));
});

const many = (headers: (index: number) => readonly JsonObject[]) =>
  Array.from({ length: 100 }, (_, index) => route(`r${index}`, ...headers(index)));

for (const [what, routes] of [
  ['no header', many(() => [])],
  ['one value', many(() => [is('x-a', 'one')])],
  ['no value', many(index => [is(`x-${index}`, '')])],
  [
    'a value in any letter case',
    many(i => [{ ...is('x-a', ''), string_match: { exact: `v${i}`, ignore_case: true } }]),
  ],
  ['all values but one', many(index => [{ ...is('x-a', `v${index}`), invert_match: true }])],
  ['several values', many(index => [is('x-a', `a,${index}`)])],
  ['methods', many(index => [is(':method', `M${index}`)])],
  ['a header in few routes', many(index => (index < 40 ? [is('x-a', `v${index}`)] : []))],
] as const)
  test(`a list stays one where it asks for ${what}`, () => {
    assert.deepEqual(cut(routes, 10), { routes });
  });

test('a short list stays one', () => {
  const routes = many(index => [is('x-a', `v${index}`)]);
  assert.deepEqual(cut(routes, 100), { routes });
});

test('the first route that matches is that of the one list, for random lists and values', () => {
  const random = seededRandom(7);
  let count = 0;
  for (let round = 0; round < 3_000; round++) {
    const values = Array.from({ length: 1 + Math.floor(random() * 8) }, (_, index) => `v${index}`);
    const routes = Array.from({ length: 2 + Math.floor(random() * 30) }, (_, index) =>
      random() < 0.9
        ? route(`r${index}`, is(pick(['x-a', 'x-a', 'x-b'], random), pick(values, random)))
        : route(`r${index}`),
    );
    const host = cut(routes, 1);
    if (host.matcher !== undefined) count += 1;
    const asked = new Map(['x-a', 'x-b'].map(name => [name, pick([...values, 'else'], random)]));
    const matches = ({ match }: JsonObject) =>
      objectsIn(isJsonObject(match) ? match.headers : []).every(
        ({ name, string_match }) =>
          isJsonObject(string_match) && asked.get(String(name)) === string_match.exact,
      );
    for (const name of ['x-a', 'x-b']) {
      const tree = isJsonObject(host.matcher) ? JSON.stringify(host.matcher.matcher_tree) : '';
      if (host.matcher !== undefined && !tree.includes(`"header_name":"${name}"`)) continue;
      const first = (list: readonly JsonObject[]) => list.find(matches)?.name;
      assert.equal(first(listFor(host, asked.get(name))), first(routes));
    }
  }
  assert.ok(count > 500, `only ${count} were cut`);
});
