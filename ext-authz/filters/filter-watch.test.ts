import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { until } from '#envoy/e2e/until.ts';
import { ProviderError } from '#ext-authz/provider/provider-error.ts';
import { FilterWatch, type Look } from './filter-watch.ts';

const HOUR_MS = 3_600_000;
const refused = new ProviderError('oauth_error', 'the client is refused');
const mistaken = new ProviderError('issuer_mismatch', 'another issuer');

/** A watch with a clock that goes on by what it waits for. */
function setUp(t: TestContext, look?: Look) {
  let now = 0;
  let changes = 0;
  const failures: unknown[] = [];
  const waits: { readonly ms: number; readonly end: () => void }[] = [];
  const watch = new FilterWatch({
    now: () => now,
    pause: (ms, signal) =>
      new Promise(resolve => {
        waits.push({ ms, end: resolve });
        signal?.addEventListener('abort', () => resolve());
      }),
    changed: () => {
      changes += 1;
    },
    failed: error => void failures.push(error),
  });
  t.after(() => watch.end());
  if (look !== undefined) watch.begin(look, undefined);
  const pass = async () => {
    const wait = await until(() => waits.shift());
    now += wait.ms;
    wait.end();
    return wait.ms;
  };
  const advance = (ms: number) => {
    now += ms;
  };
  return { watch, pass, advance, waits, failures, changes: () => changes };
}

test('that the client is refused is told of for an hour after it was last seen, without being asked for', async t => {
  const { watch, pass, advance, waits, changes } = setUp(t, async () =>
    assert.fail('nobody may be asked'),
  );
  watch.heard('client', refused);
  advance(HOUR_MS / 2);
  watch.heard('client', refused);
  assert.deepEqual([await pass(), watch.findings().length], [HOUR_MS, 0]);
  await until(() => (changes() === 3 ? true : undefined));
  assert.deepEqual(waits, [], 'and one waited');
});

test('each failure is told of for its own time, though another one is told of for longer', async t => {
  const { watch, advance, waits, changes } = setUp(t, async () =>
    assert.fail('nobody may be asked'),
  );
  watch.heard('client', refused);
  watch.heard('idTokens', mistaken);
  assert.deepEqual(
    waits.map(({ ms }) => ms),
    [HOUR_MS, HOUR_MS / 4],
  );
  advance(HOUR_MS / 4);
  waits.pop()?.end();
  await until(() => (changes() === 3 ? true : undefined));
  assert.deepEqual(
    watch.findings().map(({ aspect }) => aspect),
    ['client'],
  );
});

test('what no provider can be asked about is reported, and not waited for', t => {
  const { watch, waits } = setUp(t);
  watch.heard('discovery', mistaken);
  watch.heard('client', refused);
  assert.deepEqual([watch.findings().length, waits.length], [2, 0]);
});

test('that all is well is no news', t => {
  const { watch, changes } = setUp(t);
  watch.heard('discovery', undefined);
  watch.heard('client', undefined);
  assert.equal(changes(), 0);
});

test('what has ended reports nothing and asks no provider', async t => {
  let looks = 0;
  const { watch, waits } = setUp(t, async () => {
    looks += 1;
  });
  watch.heard('discovery', mistaken);
  watch.end();
  watch.heard('keys', mistaken);
  waits.shift()?.end();
  await new Promise(setImmediate);
  assert.deepEqual([watch.findings(), looks, waits.length], [[], 0, 0]);
});

test('a mistake of ours in asking ends neither the watch nor the service', async t => {
  const { watch, pass, waits, failures } = setUp(t, async () => {
    throw new TypeError('ours');
  });
  watch.heard('discovery', mistaken);
  assert.deepEqual([await pass(), await pass(), await pass()], [1_000, 2_000, 4_000]);
  await until(() => waits[0]);
  assert.deepEqual([failures.length, watch.findings().length], [3, 1]);
});
