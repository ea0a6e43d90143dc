import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { until } from '#envoy/e2e/until.ts';
import { HandTimers } from '#xds/testing/hand-timers.ts';
import { type DnsServer, startDnsServer } from '../testing/dns-server.ts';
import { dnsResolver } from './resolve-records.ts';
import { watchDns } from './watch-dns.ts';

const record = (data: string, ttl = 1) => ({
  type: data.includes(':') ? ('AAAA' as const) : ('A' as const),
  name: 'user.test',
  data,
  ttl,
});

async function setUp(t: TestContext) {
  const dns = await startDnsServer();
  const timers = new HandTimers();
  const heard: (readonly string[])[] = [];
  const outcomes: string[] = [];
  const watchName = watchDns({
    resolve: dnsResolver({
      servers: [dns.address],
      timeoutMs: 20_000,
      lookup: async () => ({ kind: 'missing' }),
    }),
    after: timers.after,
    maxTtlSeconds: 60,
    onQueried: ({ family, outcome, set }) =>
      outcomes.push(`${family} ${outcome.kind} ${set.failures}`),
  });
  t.after(() => dns.close());
  return {
    dns,
    timers,
    heard,
    outcomes,
    start: (...known: readonly string[]) => watchName('user.test', each => heard.push(each), known),
  };
}

/**
 * Lets both families ask once more, as when their delay is over, and waits until they wait again.
 */
async function askAgain({ timers }: { timers: HandTimers }): Promise<readonly number[]> {
  timers.run();
  await until(() => (timers.delays.length === 2 ? true : undefined));
  return timers.delays;
}

const serve = (dns: DnsServer, ...records: ReturnType<typeof record>[]) =>
  dns.zone.set('user.test', records);

test('both families are heard of together, then every change, each at its own TTL', async t => {
  const it = await setUp(t);
  serve(it.dns, record('10.0.0.2'), record('10.0.0.1'), record('fd00::1', 9));
  t.after(it.start());
  assert.deepEqual((await askAgain(it)).toSorted(), [1_000, 9_000]);
  assert.deepEqual(it.heard, [['10.0.0.1', '10.0.0.2', 'fd00::1']]);

  serve(it.dns, record('10.0.0.1'), record('10.0.0.2'), record('fd00::1', 9));
  await askAgain(it);
  assert.equal(it.heard.length, 1, 'the same records in another order are no change');

  serve(it.dns, record('10.0.0.2', 5), record('fd00::1', 9));
  assert.deepEqual((await askAgain(it)).toSorted(), [5_000, 9_000]);
  assert.deepEqual(it.heard.at(-1), ['10.0.0.2', 'fd00::1']);
});

test('while DNS fails the last addresses stay, and its return is heard of', async t => {
  const it = await setUp(t);
  serve(it.dns, record('10.0.0.1'));
  t.after(it.start());
  await askAgain(it);
  it.dns.zone.set('user.test', 'SERVFAIL');
  await askAgain(it);
  assert.deepEqual(await askAgain(it), [2_000, 2_000]);
  assert.deepEqual(it.heard, [['10.0.0.1']]);
  assert.ok(it.outcomes.includes('4 failed 2'));
  serve(it.dns, record('10.0.0.7'));
  await askAgain(it);
  assert.deepEqual(it.heard.at(-1), ['10.0.0.7']);
});

test('a name that is gone is believed the second time', async t => {
  const it = await setUp(t);
  serve(it.dns, record('10.0.0.1'));
  t.after(it.start());
  await askAgain(it);
  it.dns.zone.delete('user.test');
  await askAgain(it);
  assert.deepEqual(it.heard, [['10.0.0.1']]);
  await askAgain(it);
  assert.deepEqual(it.heard.at(-1), []);
});

test('a name that cannot be asked for from the start is heard of as having no address', async t => {
  const it = await setUp(t);
  it.dns.zone.set('user.test', 'SERVFAIL');
  t.after(it.start());
  await until(() => it.heard[0]);
  assert.deepEqual(it.heard, [[]]);
});

test('addresses that were known before stay while DNS fails, and go when the name is gone', async t => {
  const it = await setUp(t);
  it.dns.zone.set('user.test', 'SERVFAIL');
  t.after(it.start('10.0.0.1', 'fd00::1'));
  await askAgain(it);
  assert.deepEqual(it.heard, [['10.0.0.1', 'fd00::1']]);
  it.dns.zone.delete('user.test');
  await askAgain(it);
  await askAgain(it);
  assert.deepEqual(it.heard.at(-1), []);
});

test('nothing is asked or heard after the end', async t => {
  const it = await setUp(t);
  serve(it.dns, record('10.0.0.1'));
  const end = it.start();
  await askAgain(it);
  end();
  assert.deepEqual(it.timers.delays, []);
});
