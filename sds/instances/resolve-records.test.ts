import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { startDnsServer } from '../testing/dns-server.ts';
import type { QueryOutcome } from './record-set.ts';
import { dnsResolver, type Family } from './resolve-records.ts';

const MISSING: QueryOutcome = { kind: 'missing' };

async function setUp(t: TestContext, timeoutMs = 2_000, lookup = async (_name: string) => MISSING) {
  const dns = await startDnsServer();
  t.after(() => dns.close());
  const resolve = dnsResolver({ servers: [dns.address], timeoutMs, lookup });
  const ask = (name: string, family: Family = 4, signal = new AbortController().signal) =>
    resolve(name, family, signal);
  return { dns, ask };
}

const a = (name: string, data: string, ttl = 30) => ({ type: 'A' as const, name, data, ttl });
const aaaa = (name: string, data: string, ttl = 30) => ({ type: 'AAAA' as const, name, data, ttl });

test('all A or all AAAA records are found, with the shortest TTL', async t => {
  const { dns, ask } = await setUp(t);
  dns.zone.set('user.test', [
    a('user.test', '10.0.0.1', 30),
    a('user.test', '10.0.0.2', 7),
    aaaa('user.test', 'fd00::1', 20),
  ]);
  const v4 = await ask('user.test', 4);
  assert.deepEqual(v4, { kind: 'found', addresses: ['10.0.0.1', '10.0.0.2'], ttlSeconds: 7 });
  assert.deepEqual(await ask('user.test', 6), {
    kind: 'found',
    addresses: ['fd00::1'],
    ttlSeconds: 20,
  });
});

test('nothing is answered from a cache: a changed record is found by the next query', async t => {
  const { dns, ask } = await setUp(t);
  for (const data of ['10.0.0.1', '10.0.0.2']) {
    dns.zone.set('user.test', [a('user.test', data, 3600)]);
    assert.deepEqual(await ask('user.test'), {
      kind: 'found',
      addresses: [data],
      ttlSeconds: 3600,
    });
  }
  dns.zone.set('user.test', []);
  assert.equal((await ask('user.test')).kind, 'missing');
  dns.zone.set('user.test', [a('user.test', '10.0.0.3')]);
  assert.equal((await ask('user.test')).kind, 'found');
});

test('a name without such records, and a name that does not exist, are missing', async t => {
  const { dns, ask } = await setUp(t);
  dns.zone.set('user.test', [a('user.test', '10.0.0.1')]);
  assert.deepEqual(await ask('user.test', 6), { kind: 'missing' });
  assert.deepEqual(await ask('nowhere.test'), { kind: 'missing' });
});

test('a truncated answer is asked for again by TCP', async t => {
  const { dns, ask } = await setUp(t);
  const records = Array.from({ length: 100 }, (_, i) => a('many.test', `10.0.0.${i}`));
  dns.zone.set('many.test', records);
  dns.truncate = true;
  const outcome = await ask('many.test');
  assert.equal(outcome.kind === 'found' && outcome.addresses.length, 100);
  assert.deepEqual(dns.questions, ['A many.test', 'A many.test tcp']);
});

test('SERVFAIL has failed, it is not an absence', async t => {
  const { dns, ask } = await setUp(t);
  dns.zone.set('user.test', 'SERVFAIL');
  assert.equal((await ask('user.test')).kind, 'failed');
});

test('a server that does not answer has failed within the time given', async t => {
  const { dns, ask } = await setUp(t, 300);
  dns.zone.set('user.test', 'silence');
  const start = performance.now();
  assert.equal((await ask('user.test')).kind, 'failed');
  assert.ok(performance.now() - start < 5_000);
});

test('a query that is aborted ends at once', async t => {
  const { dns, ask } = await setUp(t, 60_000);
  dns.zone.set('user.test', 'silence');
  const ended = new AbortController();
  const asked = ask('user.test', 4, ended.signal);
  ended.abort();
  assert.equal((await asked).kind, 'failed');
});

test('a name that does not exist in DNS is looked up, one without such records is not', async t => {
  const known: QueryOutcome = { kind: 'found', addresses: ['10.0.0.9'], ttlSeconds: 5 };
  const { dns, ask } = await setUp(t, 2_000, async () => known);
  dns.zone.set('user.test', [a('user.test', '10.0.0.1')]);
  assert.deepEqual(await ask('only-in-hosts', 4), known);
  assert.deepEqual(await ask('user.test', 6), MISSING);
});

test('a lookup without an answer has failed within the time given, and at once when aborted', async t => {
  const never = () => new Promise<QueryOutcome>(() => {});
  const failed = { kind: 'failed', message: 'no answer within 300 ms' };
  assert.deepEqual(await (await setUp(t, 300, never)).ask('only-in-hosts'), failed);
  const { ask } = await setUp(t, 60_000, never);
  const ended = new AbortController();
  const asked = ask('only-in-hosts', 4, ended.signal);
  ended.abort();
  assert.equal((await asked).kind, 'failed');
});
