import assert from 'node:assert/strict';
import { createSecretKey } from 'node:crypto';
import { test } from 'node:test';
import { StoreUnavailable } from '#ext-authz/store/record-store.ts';
import { openSqliteStores } from '#ext-authz/store/testing/sqlite-stores.ts';
import { soon } from '#ext-authz/testing/soon.ts';
import { callsPair } from '#process/testing/calls-pair.ts';
import { joinAttempts, shareAttempts } from './attempt-group.ts';
import { RefusedCredentials } from './refused-credentials.ts';

/** Makes the workers of one leader. `end` is the death of one of them. */
function workers(count: number) {
  const share = shareAttempts();
  return Array.from({ length: count }, () => {
    const { one: leader, other: worker } = callsPair();
    const ended = share(leader);
    const end = () => {
      leader.close();
      ended();
    };
    return { ...joinAttempts(worker), end };
  });
}

const turn = () => new Promise<void>(resolve => setImmediate(resolve));

test('a burst of failures over all workers does not pass the limit', async () => {
  const group = workers(4);
  let [failed, tried] = [0, 0];
  const attempt = async (number: number) => {
    const leave = await group[number % 4]?.gate.enter('key', 5, async () => failed, soon());
    if (typeof leave !== 'function') return leave;
    tried += 1;
    await turn();
    failed += 1;
    leave();
    return 'tried';
  };
  const results = await Promise.all(Array.from({ length: 100 }, (_, number) => attempt(number)));
  assert.equal(tried, 5);
  assert.equal(results.filter(result => result === 'limited').length, 95);
});

test('a worker that dies is inside no more', async () => {
  const [first, second] = workers(2);
  assert.ok(first && second);
  assert.equal(typeof (await first.gate.enter('key', 1, async () => 0, soon())), 'function');
  const waiting = second.gate.enter('key', 1, async () => 0, soon());
  first.end();
  assert.equal(typeof (await waiting), 'function');
});

test('an attempt that gives up while waiting lets the next one in', async () => {
  const [first, second] = workers(2);
  assert.ok(first && second);
  const leave = await first.gate.enter('key', 1, async () => 0, soon());
  const impatient = new AbortController();
  const given = assert.rejects(
    second.gate.enter('key', 1, async () => 0, impatient.signal),
    { name: 'ProviderError', code: 'timeout' },
  );
  await turn();
  impatient.abort();
  await given;
  assert.ok(typeof leave === 'function');
  leave();
  assert.equal(typeof (await second.gate.enter('key', 1, async () => 0, soon())), 'function');
});

test('an attempt that has given up before lets the next one in, too', async () => {
  const [first, second] = workers(2);
  assert.ok(first && second);
  await assert.rejects(
    first.gate.enter('key', 1, async () => 0, AbortSignal.abort()),
    /too many/,
  );
  assert.equal(typeof (await second.gate.enter('key', 1, async () => 0, soon())), 'function');
});

test('what the store says when it cannot count reaches the caller unchanged', async () => {
  const [first, second] = workers(2);
  assert.ok(first && second);
  const error = new StoreUnavailable('Redis: gone');
  await assert.rejects(
    first.gate.enter('key', 1, () => Promise.reject(error), soon()),
    thrown => thrown === error,
  );
  assert.equal(typeof (await second.gate.enter('key', 1, async () => 0, soon())), 'function');
});

test('a limit that one worker has met is known to all, and guesses of all are counted together', async t => {
  const stores = await openSqliteStores({ timeoutMs: 1_000 });
  t.after(() => stores.close());
  const storeKey = createSecretKey(Buffer.alloc(32, 1));
  const group = workers(3).map(
    parts =>
      new RefusedCredentials({
        ...parts,
        store: stores.one,
        storeKey,
        now: () => 1_700_000_000_000,
      }),
  );
  const [first, second, third] = group;
  assert.ok(first && second && third);
  const ada = {
    ...{ realm: 'r', provider: 'https://login.test', name: 'ada', network: '192.0.2.1' },
  };
  for (let failure = 0; failure < 5; failure += 1)
    await first.attempt(ada, soon(), async () => 'refused');
  assert.equal((await first.limitOf(ada))?.kind, 'limited');
  await turn();
  await turn();
  assert.equal(third.blockedBy(ada)?.by, 'name');

  const others = Array.from({ length: 25 }, (_, number) => ({ ...ada, name: `user ${number}` }));
  for (const other of others) await second.attempt(other, soon(), async () => 'refused');
  const bob = { ...ada, name: 'bob' };
  for (const worker of [first, second, third, first, second]) {
    assert.equal((await worker.limitOf(bob))?.kind, 'limited');
    await turn();
    await turn();
  }
  for (const worker of group) assert.equal(worker.blockedBy(bob)?.by, 'name');
});
