import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CLUSTER } from '#protos/type-url.ts';
import { compile } from '../compile.ts';
import { resourceSetOf } from '../testing/resource-set-of.ts';

const AT = (port: number) => ({ host: '127.0.0.1', port });
const OPTIONS = { edge: AT(8080), sds: AT(1), extAuthz: AT(2), rateLimit: AT(3) };

/** The names in statistics of the Mappings' clusters, by the Mapping's name. */
function statNames(
  mappings: Readonly<Record<string, string>>,
  ...others: readonly string[]
): Record<string, unknown> {
  const documents = Object.entries(mappings).map(
    ([name, spec]) =>
      `apiVersion: gateway.internal/v2\nkind: Mapping\nmetadata: {name: ${name}}\nspec: {prefix: /${name}/, ${spec}}\n`,
  );
  const { resources } = compile(
    resourceSetOf([...documents, ...others].join('---\n')).resources,
    'edge',
    OPTIONS,
  );
  const clusters = resources.get(CLUSTER) ?? [];
  return Object.fromEntries(
    clusters.flatMap(({ name, json, origins }) =>
      origins.map(id => [id.replace('Mapping/default/', ''), json.alt_stat_name ?? name]),
    ),
  );
}

test('a service with one kind of settings is counted under its own name', () => {
  assert.deepEqual(statNames({ a: 'service: shop', b: 'service: shop' }), { a: 'shop', b: 'shop' });
});

for (const [what, spec] of [
  ['a new timeout', 'service: shop, connect_timeout_ms: 1'],
  ['another one', 'service: shop, connect_timeout_ms: 2'],
  ['TLS', 'service: "https://shop"'],
  ['another resolver', 'service: shop, resolver: sds'],
]) {
  test(`a Mapping keeps the name of its statistics after ${what}`, () => {
    const before = { a: 'service: shop', b: 'service: shop, connect_timeout_ms: 9' };
    assert.deepEqual(statNames(before), { a: 'shop', b: 'shop~default/b' });
    assert.deepEqual(statNames({ ...before, b: spec ?? '' }), { a: 'shop', b: 'shop~default/b' });
  });
}

test('names in statistics have no dots, and clusters that would share one are told apart', () => {
  const names = statNames({ a: 'service: a.b', b: 'service: a_b', c: 'service: "c.d:81"' });
  assert.match(String(names.a), /^a_b~[0-9a-f]+$/);
  assert.deepEqual([names.b, names.c], ['a_b', 'c_d_81']);
});

test('no Mapping is counted under the name of a cluster of the gateway', () => {
  assert.deepEqual(statNames({ a: 'service: ext-authz' }), { a: 'ext-authz~default/a' });
});

test('a service keeps its name beside one that the operator chose for statistics', () => {
  const collector =
    'apiVersion: gateway.internal/v2\nkind: TracingService\nmetadata: {name: t}\nspec: {service: "t:4317", driver: opentelemetry, stats_name: shop}\n';
  const names = statNames({ a: 'service: shop' }, collector);
  assert.equal(names.a, 'shop');
  assert.match(String(names['TracingService/default/t']), /^shop~[0-9a-f]+$/);
});
