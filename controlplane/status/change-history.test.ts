import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Written } from '#controlplane/rollout/candidates.ts';
import type { StreamInfo } from '#xds/discovery-observer.ts';
import { changeHistory } from './change-history.ts';

const written = (hashes: Readonly<Record<string, string>>): Written =>
  ({
    resources: new Map(Object.entries(hashes).map(([id, hash]) => [id, { id, hash }])),
    rejected: new Map(),
  }) as unknown as Written;
const stream = (id: number) => ({ id, node: `edge-${id}`, group: 'edge' }) as StreamInfo;

function historyAt() {
  const clock = { now: 1_000 };
  return { clock, history: changeHistory(() => clock.now) };
}

test('a change names what it is about, and who ACKed after how many ms', () => {
  const { clock, history } = historyAt();
  history.written(written({ a: '1', b: '1' }));
  assert.deepEqual(history.changes(), [], 'the first reading is no change');
  history.written(written({ a: '2', c: '1' }));
  history.written(written({ a: '2', c: '1' }));
  clock.now += 30;
  history.settled(stream(1));
  history.settled(stream(1));
  history.nacked(stream(2), 'no');
  const [change] = history.changes();
  assert.deepEqual([change?.added, change?.changed, change?.removed], [['c'], ['a'], ['b']]);
  assert.deepEqual(change?.acks, [{ node: 'edge-1', group: 'edge', ms: 30 }]);
  assert.deepEqual(change?.nacks, [{ node: 'edge-2', message: 'no' }]);
  clock.now += 3_600_000;
  history.settled(stream(3));
  assert.equal(history.changes()[0]?.ackCount, 1, 'one that comes an hour later did not wait');
});

test('however much changes, little is remembered', () => {
  const { history } = historyAt();
  history.written(written({}));
  for (let round = 0; round < 50; round += 1)
    history.written(
      written(Object.fromEntries(Array.from({ length: 200 }, (_, id) => [`m${id}`, `${round}`]))),
    );
  for (let id = 0; id < 500; id += 1) history.settled(stream(id));
  const changes = history.changes();
  assert.deepEqual([changes.length, changes[0]?.count, changes[0]?.changed.length], [20, 200, 20]);
  assert.deepEqual([changes[0]?.ackCount, changes[0]?.acks.length], [500, 50]);
});
