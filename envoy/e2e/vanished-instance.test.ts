import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import {
  EVENT_MS,
  EVENTS,
  type HeldApplication,
  startHeldApplication,
} from './held-application.ts';
import { startLoad } from './load.ts';
import { type RawAnswer, request } from './request.ts';
import { type System, startSystem } from './system.ts';
import { until } from './until.ts';

/** The default of a Mapping. */
const TIMEOUT_MS = 3_000;

/** How many requests of each method wait for their answer when a proxy ends. */
const HELD = 200;
const FIRST = 'user-service-1-proxy';
const HOST = '127.0.0.1';

const document = (kind: string, name: string, spec: string) =>
  `---\napiVersion: gateway.internal/v2\nkind: ${kind}\nmetadata: {name: ${name}}\nspec: {${spec}}\n`;

/** Returns an application beside an instance of the user service, which its proxy serves too. */
const beside = (instance: string, { port }: HeldApplication) =>
  document(
    'ProxyConfig',
    `held-${instance}`,
    `node_group: ${instance},
     virtual_hosts: [{name: held, domains: [${HOST}], routes: [{prefix: /, cluster: held}]}],
     clusters: [{name: held, type: static, hosts: [{url: 'tcp://127.0.0.1:${port}'}]}]`,
  );

const MAPPING = document(
  'Mapping',
  'held',
  `host: ${HOST}, prefix: /held/, service: user-service, resolver: sds`,
);

describe('with the default time to answer, and an application beside each of two proxies,', () => {
  let applications: readonly [HeldApplication, HeldApplication];
  let system: System;
  before(async () => {
    applications = await Promise.all([startHeldApplication(), startHeldApplication()]);
    const [first, second] = applications;
    const documents = [beside('user-service-1', first), beside('user-service-2', second), MAPPING];
    system = await startSystem({ instances: 2, resources: { 'held.yaml': documents.join('') } });
  });
  after(async () => {
    await system.stop();
    await Promise.all(applications.map(application => application.close()));
  });

  /** Waits until both run again. */
  beforeEach(async () => {
    for (const application of applications) application.release();
    for (const application of applications) {
      const before = sum([application]);
      await until(async () => {
        await request(system.edge, '/held/ready');
        return sum([application]) > before || undefined;
      });
    }
    for (const application of applications) application.hold();
  });

  /** Counts the requests that these got, for one URL or for all. */
  function sum(of: readonly HeldApplication[], url?: string): number {
    return of
      .flatMap(({ asked }) => [...asked])
      .filter(([asked]) => url === undefined || asked === url)
      .reduce((total, [, count]) => total + count, 0);
  }

  test(`${HELD} GETs in flight are answered when a proxy is killed, and no POST is repeated`, async t => {
    const ask = (method: string) =>
      Array.from({ length: HELD }, (_, id) => request(system.edge, `/held/${id}`, { method }));
    const gets = Promise.all(ask('GET'));
    const posts = Promise.all(ask('POST'));
    const [first, second] = applications;
    await until(() => first.held() + second.held() === 2 * HELD || undefined);
    const lost = first.held();
    await system.kill(FIRST);
    second.release();
    assert.deepEqual(statuses(await gets), { 200: HELD });
    const urls = Array.from({ length: HELD }, (_, id) => `/${id}`);
    const asked = (method: string) => urls.map(url => sum(applications, `${method} ${url}`));
    const repeated = asked('GET').filter(count => count > 1).length;
    const { 200: answered = 0, 503: failed = 0 } = statuses(await posts);
    t.diagnostic(
      `${lost} requests lost their proxy: ${repeated} GETs repeated, ${failed} POSTs lost`,
    );
    assert.ok(repeated > 0, 'else this shows nothing');
    assert.equal(repeated + failed, lost);
    assert.equal(answered + failed, HELD);
    assert.deepEqual(new Set(asked('POST')), new Set([1]));
  });

  test('under load no GET is lost when a proxy answers nothing any more', async t => {
    for (const application of applications) application.release();
    const load = startLoad({ base: system.edge, path: '/held/load', perSecond: 100 });
    await load.more(50);
    const pid = (await system.pid(FIRST)) ?? assert.fail('no proxy');
    process.kill(pid, 'SIGSTOP');
    t.after(() => process.kill(pid, 'SIGCONT'));
    await load.more(300);
    const { failures, requests, samples } = await load.stop();
    const slowest = Math.max(...samples.map(({ endedAt, sentAt }) => endedAt - sentAt));
    t.diagnostic(`${requests} requests, the slowest took ${Math.round(slowest)} ms`);
    assert.ok(slowest > 500, 'some waited for the proxy, else this shows nothing');
    assert.deepEqual(failures, []);
  });

  test('a slow service is asked once, and the client waits once', async t => {
    const begun = performance.now();
    const answers = Array.from({ length: 10 }, (_, id) => request(system.edge, `/held/late${id}`));
    assert.deepEqual(statuses(await Promise.all(answers)), { 504: 10 });
    const waited = performance.now() - begun;
    t.diagnostic(`504 after ${Math.round(waited)} ms`);
    assert.ok(waited >= TIMEOUT_MS, 'not before');
    const asked = answers.map((_, id) => sum(applications, `GET /late${id}`));
    assert.deepEqual(new Set(asked), new Set([1]));
  });

  test('events go on after that time', async () => {
    assert.ok(EVENTS * EVENT_MS > TIMEOUT_MS);
    const { body } = await request(system.edge, '/held/events');
    assert.equal(body.split('data: ').length, EVENTS + 1);
  });
});

function statuses(answers: readonly RawAnswer[]): Readonly<Record<number, number>> {
  const groups = Map.groupBy(answers, ({ status }) => status);
  return Object.fromEntries([...groups].map(([status, { length }]) => [status, length]));
}
