import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FILTER, RATE_LIMIT } from '#protos/type-url.ts';
import { type Snapshot, snapshotOf } from '#xds/snapshot.ts';
import { widen } from './widen.ts';

const snapshot = (limits: Readonly<Record<string, string>>, typeUrl = RATE_LIMIT) =>
  snapshotOf(
    Object.entries(limits).map(([name, version]) => ({
      name,
      version,
      any: { type_url: typeUrl, value: new Uint8Array() },
    })),
  );
const names = (wide: Snapshot, typeUrl = RATE_LIMIT) => [...(wide.get(typeUrl)?.keys() ?? [])];

test('a limit that changed or went stays beside what is new', () => {
  const wide = widen(
    snapshot({ same: '1', changed: '1', gone: '1' }),
    snapshot({ same: '1', changed: '2', new: '1' }),
  );
  assert.deepEqual(names(wide), ['same', 'changed', 'new', 'changed~1', 'gone~1']);
});

test('what is wide already keeps what it has, each once', () => {
  const wide = widen(snapshot({ a: '1' }), snapshot({ a: '2' }));
  assert.deepEqual(names(widen(wide, snapshot({ a: '3' }))), ['a', 'a~2', 'a~1']);
  assert.deepEqual(names(widen(wide, snapshot({ a: '2' }))), ['a', 'a~1']);
});

test('where nothing changed or nothing was before, it is the next', () => {
  const next = snapshot({ a: '1' });
  assert.equal(widen(undefined, next), next);
  assert.equal(widen(snapshot({ a: '1' }), next), next);
});

test('filters and policies are those of the next alone: two sets of rules have no meaning together', () => {
  const wide = widen(snapshot({ a: '1' }, FILTER), snapshot({ b: '1' }, FILTER));
  assert.deepEqual(names(wide, FILTER), ['b']);
});
