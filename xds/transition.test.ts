import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  CLUSTER,
  CLUSTER_LOAD_ASSIGNMENT,
  LISTENER,
  ROUTE_CONFIGURATION,
  SECRET,
  VIRTUAL_HOST,
} from '#protos/type-url.ts';
import type { Stage } from './make-before-break.ts';
import { type Snapshot, snapshotOf } from './snapshot.ts';
import { resource } from './testing/resources.ts';
import { advance, begin, release, retarget } from './transition.ts';

const OTHER = 'type.googleapis.com/test.Policy';
const TYPES = [CLUSTER, CLUSTER_LOAD_ASSIGNMENT, SECRET, LISTENER, ROUTE_CONFIGURATION, OTHER];

/** Every type with a resource `both`, which changes, and one of its own. */
function snapshot(own: string): Snapshot {
  return snapshotOf(TYPES.flatMap(type => [resource('both', own, type), resource(own, '1', type)]));
}

/**
 * Returns, type by type, the names that a stage holds. `both` has a mark where it is the new one.
 */
function show({ snapshot: staged }: Stage, target: Snapshot): readonly string[] {
  return TYPES.map(type => {
    const isNew = staged.get(type)?.get('both') === target.get(type)?.get('both');
    const names = [...(staged.get(type)?.keys() ?? [])].filter(name => name !== 'both');
    return `${isNew ? 'new' : 'old'} ${names.sort().join(' ')}`;
  });
}

test('the stages from an old to a new snapshot', () => {
  const [older, newer] = [snapshot('o'), snapshot('n')];
  const make = begin(older, newer);
  const shift = advance(make);
  const break_ = advance(shift);
  //                                     CDS        EDS        secrets    LDS      RDS        other
  assert.deepEqual(show(make.stage, newer), [
    'new n o',
    'new n o',
    'new n o',
    'old o',
    'old o',
    'new n',
  ]);
  assert.deepEqual(show(shift.stage, newer), [
    'new n o',
    'new n o',
    'new n o',
    'new n o',
    'new n o',
    'new n',
  ]);
  assert.deepEqual(show(break_.stage, newer), [
    'new n o',
    'new n o',
    'new n o',
    'new n',
    'new n',
    'new n',
  ]);
  const [kept] = break_.kept;
  assert.ok(kept !== undefined);
  const released = release(break_, kept);
  assert.deepEqual(show(released.stage, newer), [
    'new n',
    'new n',
    'new n',
    'new n',
    'new n',
    'new n',
  ]);
  assert.equal(release(released, kept), released);
  assert.equal(advance(break_), break_);
  for (const { stage } of [make, shift, break_])
    assert.deepEqual([stage.keep.size, stage.silent.size], [0, 0]);
});

test('a proxy that has just come hears nothing of listeners, routes and removals before its clusters are there', () => {
  const make = begin(undefined, snapshot('n'));
  assert.deepEqual([...make.stage.silent].sort(), [LISTENER, ROUTE_CONFIGURATION, VIRTUAL_HOST]);
  assert.ok(TYPES.every(type => type === OTHER || make.stage.keep.has(type)));
  const shift = advance(make);
  assert.equal(shift.stage.silent.size, 0);
  assert.ok(TYPES.every(type => type === OTHER || shift.stage.keep.has(type)));
  const last = advance(shift);
  assert.deepEqual([...last.stage.keep].sort(), [CLUSTER, CLUSTER_LOAD_ASSIGNMENT, SECRET]);
  const [kept] = last.kept;
  assert.ok(kept !== undefined);
  assert.equal(release(last, kept).stage.keep.size, 0);
});

test('of newer targets the newest waits until the switch under way is through, and drops what is then unused', () => {
  const [first, second, third] = [snapshot('1'), snapshot('2'), snapshot('3')];
  const none = new Set<string>();
  const waiting = retarget(retarget(begin(snapshot('0'), first), second, none), third, none);
  assert.equal(waiting.target, first);
  const next = advance(advance(waiting));
  assert.deepEqual([next.from, next.target, next.step], [first, third, 0]);
});

test('after a refusal the newer target begins at once, without what was rejected', () => {
  const [older, bad, newer] = [snapshot('o'), snapshot('bad'), snapshot('n')];
  const next = retarget(begin(older, bad), newer, new Set([CLUSTER]));
  assert.equal(next.target, newer);
  assert.equal(next.from?.get(CLUSTER), older.get(CLUSTER));
  assert.equal(next.stage.snapshot.get(CLUSTER)?.has('bad'), false);
  assert.equal(next.stage.snapshot.get(SECRET)?.has('bad'), true);
});

test('after a first refusal nothing is assumed of what the proxy holds', () => {
  const next = retarget(begin(undefined, snapshot('bad')), snapshot('n'), new Set([LISTENER]));
  assert.equal(next.from, undefined);
  assert.equal(next.stage.silent.has(LISTENER), true);
});
