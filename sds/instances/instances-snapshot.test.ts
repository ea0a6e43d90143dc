import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CLUSTER_LOAD_ASSIGNMENT } from '#protos/type-url.ts';
import { resourcesVersion } from '#xds/snapshot.ts';
import type { Instances } from './instance.ts';
import { instancesSnapshot } from './instances-snapshot.ts';

const one = { address: '10.0.0.1', port: 80 };
const two = { address: '10.0.0.2', port: 80 };

function resourcesOf(instances: Instances) {
  const resources = instancesSnapshot(instances).get(CLUSTER_LOAD_ASSIGNMENT);
  assert.ok(resources);
  return resources;
}

test('equal instances have equal versions, whatever the order of services and members', () => {
  const a = resourcesOf(
    new Map([
      ['a', [one, two]],
      ['b', [one]],
    ]),
  );
  const b = resourcesOf(
    new Map([
      ['b', [one]],
      ['a', [two, one, two]],
    ]),
  );
  assert.equal(a.get('a')?.version, b.get('a')?.version);
  assert.deepEqual(a.get('a')?.any, b.get('a')?.any);
  assert.equal(resourcesVersion(a), resourcesVersion(b));
});

test('whatever differs has another version: an instance, a name, a service more', () => {
  const members = [one];
  const versions = [
    new Map([['a', members]]),
    new Map([['a', [two]]]),
    new Map([['b', members]]),
    new Map([
      ['a', members],
      ['b', members],
    ]),
  ].map(instances => resourcesVersion(resourcesOf(instances)));
  assert.equal(new Set(versions).size, versions.length);
});

test('a service whose array is the same keeps its resource; an array may have several names', () => {
  const members = [one];
  const before = resourcesOf(new Map([['a', members]]));
  const after = resourcesOf(
    new Map([
      ['a', members],
      ['b', members],
    ]),
  );
  assert.equal(after.get('a'), before.get('a'));
  assert.notEqual(after.get('b')?.version, after.get('a')?.version);
});

test('without services there is nothing', () => {
  assert.equal(instancesSnapshot(new Map()).size, 0);
});
