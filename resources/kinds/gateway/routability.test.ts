import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isAnywhere, routability } from './routability.ts';

/** Source: GEP-5093, "Conformance test scenarios". */
const ACCEPTED = ['', 'Cluster', 'testing.x-k8s.io/sentinel', 'example.com/a/b', 'a/1', 'a.b/ '];
const REJECTED = [
  ...['cluster', 'Public', 'Private', ' ', '/', 'example.com', 'example.com/', '/a', 'A.com/a'],
  ...['a..b/a', '-a/b', 'a_b/c', 'k8s.io/a', 'example.k8s.io/a', 'gateway.networking.k8s.io/a'],
  ...[`a/${'b'.repeat(252)}`, 'Cluster/'],
];

for (const text of ACCEPTED)
  test(`a routability may be "${text}"`, () => assert.ok(routability.safeParse(text).success));

for (const text of REJECTED)
  test(`a routability may not be "${text.slice(0, 30)}"`, () =>
    assert.ok(!routability.safeParse(text).success));

test('an address is had from anywhere where nothing narrower is asked for', () => {
  assert.deepEqual(ACCEPTED.filter(isAnywhere), ['', 'testing.x-k8s.io/sentinel']);
});
