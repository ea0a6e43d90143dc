import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { credentials } from '@grpc/grpc-js';
import { until } from '#envoy/e2e/until.ts';
import { encodeAny } from '#protos/encode.ts';
import { CLUSTER } from '#protos/type-url.ts';
import { snapshotOf, xdsResource } from '#xds/snapshot.ts';
import { HandTimers } from '#xds/testing/hand-timers.ts';
import { saying, startReportServer } from '#xds/testing/report-server.ts';
import { after } from './after.ts';
import { ReportEverywhere, type ReportEverywhereOptions } from './report-everywhere.ts';

/**
 * Tells the followed control plane, and the servers of two names. `at` is where the names lead. A
 * name that is not in it is unknown. `again` looks them up once more.
 */
function setUp(
  t: TestContext,
  [one, two]: readonly [number, number],
  follows?: ReportEverywhereOptions['follows'],
) {
  const timers = new HandTimers();
  const followed: string[] = [];
  const logged: string[] = [];
  const at = new Map<string, readonly string[]>([['one', ['127.0.0.1']]]);
  let lookups = 0;
  const everywhere = new ReportEverywhere({
    followed: { report: report => void followed.push(Buffer.from(report?.value ?? []).toString()) },
    servers: [
      { host: 'one', port: one },
      { host: 'two', port: two },
    ],
    addressesOf: async host => {
      lookups += 1;
      return at.get(host) ?? Promise.reject(new Error(`no ${host}`));
    },
    follows,
    credentials: credentials.createInsecure(),
    node: { id: 'service-1', cluster: 'service' },
    log: {
      info: (_fields: object, message: string) => void logged.push(message),
      warn: ({ reason }: { reason: string }) => void logged.push(reason),
    } as never,
    random: Math.random,
    // Not those of the connections, which open again by themselves.
    after: (ms, callback) => (ms < 5_000 ? after(ms, callback) : timers.after(ms, callback)),
  });
  t.after(() => everywhere.close());
  const again = async () => {
    const before = lookups;
    timers.run();
    await until(() => (lookups > before && timers.pending === 1 ? true : undefined));
  };
  const looked = () => until(() => (timers.pending === 1 ? true : undefined));
  return { ...{ everywhere, followed, logged, at, again, looked }, lookups: () => lookups, timers };
}

async function setUpBoth(t: TestContext, follows?: ReportEverywhereOptions['follows']) {
  const servers = [await startReportServer(t), await startReportServer(t)] as const;
  const [one, two] = servers;
  return { one, two, ...setUp(t, [one.port, two.port], follows) };
}

test('what is wrong is told to the one that is followed and to all others, and taken back everywhere', async t => {
  const { at, everywhere, followed, one, two } = await setUpBoth(t);
  at.set('two', ['127.0.0.1', 'localhost']);
  everywhere.send(saying('a'));
  await one.hears('a');
  await two.hears('a', 'a');
  everywhere.send(saying('b'));
  await one.hears('b');
  await two.hears('b', 'b');
  everywhere.send(undefined);
  await one.hears();
  await two.hears();
  assert.deepEqual(followed, ['a', 'b', '']);
});

test('while nothing is wrong no name is looked up, and there is no stream', async t => {
  const { everywhere, looked, lookups, one, timers } = await setUpBoth(t);
  everywhere.send(undefined);
  assert.equal(lookups(), 0);
  everywhere.send(saying('a'));
  await looked();
  await one.hears('a');
  everywhere.send(undefined);
  await one.hears();
  assert.equal(timers.pending, 0);
});

test('one that comes later is told too, and one that has left its address no more', async t => {
  const { again, at, everywhere, looked, one, two } = await setUpBoth(t);
  everywhere.send(saying('a'));
  await looked();
  await one.hears('a');
  assert.deepEqual(two.said(), []);
  at.set('one', []).set('two', ['127.0.0.1']);
  await again();
  await two.hears('a');
  await one.hears();
  everywhere.send(saying('b'));
  await two.hears('b');
});

test('while a name is not known its last addresses count, which is told of once', async t => {
  const { again, at, everywhere, logged, looked, one, two } = await setUpBoth(t);
  at.set('two', ['127.0.0.1']);
  everywhere.send(saying('a'));
  await looked();
  at.delete('one');
  await again();
  await again();
  await one.hears('a');
  await two.hears('a');
  assert.deepEqual(logged, ['no one']);
});

test('one that was away hears it when it is back', async t => {
  const { everywhere, one } = await setUpBoth(t);
  everywhere.send(saying('a'));
  await one.hears('a');
  await one.stop();
  everywhere.send(saying('b'));
  const back = await startReportServer(t, one.port);
  await back.hears('b');
});

test('what is gone before a name is found is not reported', async t => {
  const { everywhere, lookups, one, timers } = await setUpBoth(t);
  everywhere.send(saying('a'));
  everywhere.send(undefined);
  everywhere.send(saying('b'));
  await one.hears('b');
  assert.equal(lookups(), 4);
  // Each connection has a timer of its own until it stands.
  await until(() => timers.pending === 1 || undefined);
});

test('of very many addresses some are told, and those remain', async t => {
  const { again, at, everywhere, logged, looked, one } = await setUpBoth(t);
  const many = Array.from({ length: 100 }, (_, index) => `127.0.1.${index + 100}`);
  at.set('one', ['127.0.0.1', ...many]);
  everywhere.send(saying('a'));
  await looked();
  await one.hears('a');
  at.set('one', [...many, '127.0.0.1']);
  await again();
  everywhere.send(saying('b'));
  await one.hears('b');
  assert.deepEqual(logged, ['no two']);
});

test('those that are followed, too, are heard all the time, each for itself', async t => {
  const heard: string[] = [];
  const numbers = new Map<object, number>();
  const numberOf = (from: object) => {
    numbers.set(from, numbers.get(from) ?? numbers.size + 1);
    return numbers.get(from);
  };
  const { again, at, everywhere, looked, one, two } = await setUpBoth(t, {
    typeUrls: [CLUSTER],
    update: ({ ack, changed }, from) => {
      heard.push(`${numberOf(from)}: ${changed.map(({ name }) => name)}`);
      ack();
    },
    turned: (from, state) => void heard.push(`${numberOf(from)} is ${state}`),
  });
  const hears = (...wanted: readonly string[]) =>
    until(() => heard.splice(0).join() === wanted.join() || undefined, 30_000, wanted.join());
  const serves = ({ cache }: typeof one, name: string) =>
    cache.set('service', snapshotOf([xdsResource(name, encodeAny({ '@type': CLUSTER, name }))]));
  await looked();
  serves(one, 'a');
  await hears('1: a');
  at.set('two', ['127.0.0.1']);
  serves(two, 'b');
  await again();
  await hears('2: b');
  everywhere.send(saying('x'));
  await one.hears('x');
  everywhere.send(undefined);
  await one.hears();
  await one.stop();
  await hears('1 is away');
  const back = await startReportServer(t, one.port);
  await hears('1 is here');
  serves(back, 'c');
  await hears('1: c');
  at.set('one', []);
  await again();
  await hears('1 is gone');
});
