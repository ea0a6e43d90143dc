import assert from 'node:assert/strict';
import { test } from 'node:test';
import { encodeAny } from '#protos/encode.ts';
import { CLUSTER_LOAD_ASSIGNMENT } from '#protos/type-url.ts';
import { resourcesVersion, type Snapshot } from '#xds/snapshot.ts';
import { Random } from '#xds/testing/random.ts';
import type { Instance, Instances } from './instance.ts';
import { NO_SUCH_PORT } from './instances-named.ts';
import { instancesSnapshot } from './instances-snapshot.ts';
import { loadAssignment } from './load-assignment.ts';

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

test('of the snapshot before a service whose array is the same keeps its resource; an array may have several names', () => {
  const members = [one];
  const before = instancesSnapshot(new Map([['a', members]]));
  const instances = new Map([
    ['a', members],
    ['b', members],
  ]);
  const after = instancesSnapshot(instances, undefined, before).get(CLUSTER_LOAD_ASSIGNMENT);
  assert.equal(after?.get('a'), before.get(CLUSTER_LOAD_ASSIGNMENT)?.get('a'));
  assert.notEqual(after?.get('b')?.version, after?.get('a')?.version);
});

test('whatever the name, the bytes are those of its assignment', () => {
  const members = [two, { ...one, locality: { zone: 'a' } }];
  const resources = resourcesOf(new Map([['a', members]]));
  for (const name of ['a', 'a:80', 'a:00000000000000000000081'])
    assert.deepEqual(
      Buffer.from(resources.get(name)?.any.value ?? ''),
      Buffer.from(encodeAny(loadAssignment(name, members)).value),
    );
});

/** Some services come, change or go. */
function randomInstances(random: Random, before: Instances): Instances {
  const next = new Map(before);
  for (const name of random.some(['a', 'a:http', 'a:*', 'b', 'c'], 0.3)) {
    if (name === 'a:*') next.set(name, NO_SUCH_PORT);
    else if (random.chance(0.6)) next.set(name, random.some([one, two]));
    if (random.chance(0.3)) next.delete(name);
  }
  return next;
}

test('a snapshot made from another one is as if it were made anew, and leaves the other one as it was', () => {
  const random = new Random(1);
  const made = [
    {
      instances: new Map<string, readonly Instance[]>() as Instances,
      snapshot: instancesSnapshot(new Map()),
    },
  ];
  for (let round = 0; round < 200; round += 1) {
    const before = random.pick(made);
    assert.ok(before);
    const instances = randomInstances(random, before.instances);
    made.push({ instances, snapshot: instancesSnapshot(instances, undefined, before.snapshot) });
  }
  for (const { instances, snapshot } of made) {
    assert.deepEqual(contentOf(snapshot), contentOf(instancesSnapshot(instances)));
    const listed = [...instances]
      .filter(([, members]) => members !== NO_SUCH_PORT)
      .map(([name]) => name);
    assert.deepEqual(
      [...(snapshot.get(CLUSTER_LOAD_ASSIGNMENT)?.keys() ?? [])].sort(),
      listed.sort(),
    );
  }
});

function contentOf(snapshot: Snapshot) {
  const resources = snapshot.get(CLUSTER_LOAD_ASSIGNMENT);
  if (resources === undefined) return undefined;
  const versions = (names: Iterable<string>) =>
    Object.fromEntries([...names].sort().map(name => [name, resources.get(name)?.version]));
  const { size } = resources;
  return {
    version: resourcesVersion(resources),
    size,
    ...versions([...resources.keys(), 'a:80', 'b:80', 'd']),
  };
}

test('without services every name is missed', () => {
  const missed: string[] = [];
  const made = instancesSnapshot(new Map(), name => missed.push(name));
  const resources = made.get(CLUSTER_LOAD_ASSIGNMENT);
  assert.deepEqual([resources?.size, resources?.get('a')], [0, undefined]);
  assert.deepEqual(missed, ['a']);
});
