import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LATE_DETAILS } from '#controlplane/compile/routes/late-tries.ts';
import { pick, seededRandom } from '#protos/testing/random.ts';
import { gatewayGroup } from '#resources/words/gateway-group.ts';
import { MAX_FAILURES, MAX_MAPPINGS, MAX_SAMPLES, OTHERS } from './bounds.ts';
import type { ConfiguredClusters } from './configured-clusters.ts';
import type { LoggedRequest } from './decode-access-log.ts';
import { FigureStore } from './figure-store.ts';
import type { RequestFilter } from './figures.ts';
import { KEPT_MS } from './traffic.ts';

const ALL: ConfiguredClusters = {
  origins: () => [],
  statName: name => name,
  behind: () => ['shop'],
  serves: () => true,
};
const START = 1_800_000_000_000;
const EDGE = { id: 'edge-1', group: 'edge' };
const REQUEST: LoggedRequest = {
  ...{ at: START, method: 'GET', scheme: 'https', host: 'a.test', path: '/', protocol: 'HTTP/2' },
  ...{ status: 200, flags: [], details: '', client: '192.0.2.1', userAgent: '', requestId: '' },
  ...{ durationMs: 1, attempts: 1, bytesReceived: 0, bytesSent: 0, route: 'Mapping/a/a' },
  ...{ cluster: 'shop', upstream: '192.0.2.9:80', failure: '' },
};

function storeAt(start = START) {
  const clock = { now: start };
  const store = new FigureStore({ clustersOf: () => ALL, changed: () => {}, now: () => clock.now });
  const push = () => ({ node: EDGE, from: clock.now - 5_000, to: clock.now });
  const read = (proxy: object = store, moment = clock.now) => ({ proxy, push: push(), moment });
  return { clock, store, push, read };
}

const answers = (mapping: string, status = 200) =>
  `route.requests.envoy_route.Mapping/a/${mapping}.envoy_response_code.${status}`;

for (let seed = 1; seed <= 30; seed++) {
  test(`rates are those of all pushes of the last 15 minutes (seed ${seed})`, () => {
    const random = seededRandom(seed);
    const { clock, store, push, read } = storeAt();
    const pushed: { at: number; mapping: string; count: number; errors: number }[] = [];
    for (let round = 0; round < 300; round++) {
      clock.now += 5_000 + Math.floor(random() * 3_000);
      const mapping = pick(['a', 'b', 'c.d'], random);
      const count = Math.floor(random() * 50);
      const errors = Math.floor(random() * count);
      store.counter(read(), answers(mapping), count - errors);
      store.counter(read(), answers(mapping, 500), errors);
      store.pushed(store, push());
      pushed.push({ at: clock.now, mapping, count, errors });
    }
    for (const [id, { last15Minutes }] of store.mappings()) {
      const sum = (since: number, of: 'count' | 'errors') =>
        pushed
          .filter(({ at, mapping }) => at > since && id.endsWith(`/${mapping}`))
          .reduce((all, each) => all + each[of], 0);
      // A step that is partly too old, and a push that is, count in part.
      const [least, most] = [clock.now - KEPT_MS + 15_000, clock.now - KEPT_MS - 5_000];
      const { requests, serverErrors } = last15Minutes;
      assert.ok(requests >= sum(least, 'count') - 1 && requests <= sum(most, 'count') + 1, id);
      assert.ok(
        serverErrors >= sum(least, 'errors') - 1 && serverErrors <= sum(most, 'errors') + 1,
      );
    }
  });

  test(`requests are those of a list that is filtered (seed ${seed})`, () => {
    const random = seededRandom(seed);
    const { store } = storeAt();
    const kept = Array.from({ length: 500 }, (_, index) => {
      const status = pick([200, 204, 404, 500, 503], random);
      const client = pick(['192.0.2.1', '192.0.2.2'], random);
      const request = { ...REQUEST, status, client, route: pick(['Mapping/a/a', ''], random) };
      store.request(EDGE, request);
      return { id: index + 1, ...request };
    });
    for (const filter of [
      {},
      { status: 404 },
      { status: 5, limit: 7 },
      { client: '192.0.2.2', mapping: 'Mapping/a/a' },
      { after: 450 },
      { group: 'orders' },
      { limit: 0 },
    ] as readonly RequestFilter[]) {
      const { status, client, mapping, group, after = 0, limit = 100 } = filter;
      const wanted = kept
        .filter(
          each =>
            (status === undefined || String(each.status).startsWith(String(status))) &&
            (client === undefined || each.client === client) &&
            (mapping === undefined || each.route === mapping) &&
            (group === undefined || group === EDGE.group) &&
            each.id > after,
        )
        .map(({ id }) => id)
        .reverse()
        .slice(0, limit);
      assert.deepEqual(
        store.requests(filter).map(({ id }) => id),
        wanted,
      );
    }
  });
}

test('no number of Mappings or requests grows it beyond its bounds', () => {
  const { store, read } = storeAt();
  for (let number = 0; number < MAX_MAPPINGS + 500; number++)
    store.counter(read(), answers(`m${number}`), 1);
  const mappings = store.mappings();
  assert.equal(mappings.size, MAX_MAPPINGS + 1);
  assert.equal(mappings.get(OTHERS)?.lastMinute.requests, 500);
  for (let number = 0; number < 3 * MAX_SAMPLES; number++)
    store.request(EDGE, { ...REQUEST, status: number % 2 === 0 ? 200 : 500 });
  assert.equal(store.requests({ limit: 1e9 }).length, MAX_SAMPLES + MAX_FAILURES);
});

test('what had no figures for 15 minutes is forgotten', () => {
  const { clock, store, push, read } = storeAt();
  store.counter(read(), answers('a'), 1);
  store.gauge(read(), 'cluster.shop.membership_total', 2);
  store.request(EDGE, REQUEST);
  store.pushed(store, push());
  assert.deepEqual([store.mappings().size, store.upstreams().length], [1, 1]);
  clock.now += 31_000;
  assert.deepEqual(store.upstreams(), [], 'the proxy no longer sees it');
  clock.now += KEPT_MS + 60_000;
  store.pushed(store, push());
  assert.deepEqual(store.requests(), []);
  assert.deepEqual(store.traffic({ mapping: 'Mapping/a/a' }).requests.filter(Boolean), []);
});

test('requests of clients are those at the edge and at Gateways', () => {
  const { clock, store, push } = storeAt();
  store.pushed(store, push());
  clock.now += 5_000;
  const site = gatewayGroup('default', 'site');
  for (const [group, count] of [
    ['edge', 1],
    [site, 2],
    ['orders', 4],
  ] as const) {
    const own = { ...push(), node: { id: `${group}-1`, group } };
    const read = { proxy: own, push: own, moment: clock.now };
    store.counter(read, `http.${group}.downstream_rq_completed`, count);
    store.histogram(own, `http.${group}.downstream_rq_time`, new Map([[count, count]]));
  }
  store.pushed(store, push());
  clock.now += 5_000;
  const sum = (of?: { readonly group: string }) =>
    store.traffic(of).requests.reduce((all, each) => all + each, 0);
  assert.deepEqual([sum(), sum({ group: site }), sum({ group: 'orders' })], [3, 2, 4]);
  assert.deepEqual(
    store.traffic().p99.filter(each => each !== null),
    store.traffic({ group: site }).p99.filter(each => each !== null),
  );
});

test('members are those of the proxy that sees the fewest', () => {
  const { store, read } = storeAt();
  const [first, second] = [{}, {}];
  store.gauge(read(first), 'cluster.shop.warming_state', 0);
  store.gauge(read(first), 'cluster.shop.membership_total', 3);
  store.gauge(read(first), 'cluster.shop.membership_healthy', 2);
  store.gauge(read(second), 'cluster.shop.warming_state', 0);
  const [shop] = store.upstreams();
  assert.deepEqual([shop?.proxies, shop?.members, shop?.healthy], [2, 0, 0]);
});

test('members of one moment are told together, in whatever order they arrive', () => {
  for (const seed of [1, 2, 3, 4, 5, 6, 7, 8]) {
    const random = seededRandom(seed);
    const { clock, store, read } = storeAt();
    for (let round = 1; round <= 5; round++, clock.now += 5_000) {
      const gauges = [
        ['warming_state', 0],
        ['membership_total', round],
        ['membership_healthy', round],
      ] as const;
      for (const [name, value] of gauges.toSorted(() => random() - 0.5)) {
        store.gauge(read(), `cluster.shop.${name}`, value);
        const [shop] = store.upstreams();
        assert.equal(shop?.members, shop?.healthy);
      }
      assert.equal(store.upstreams()[0]?.members, round);
    }
  }
});

test('what was counted in one moment is told in one, and nothing of it is lost', () => {
  const { clock, store, read } = storeAt();
  const [first, second] = [{}, {}];
  const told = () => {
    const { requests = 0, serverErrors = 0 } = store.upstreams()[0]?.lastMinute ?? {};
    return [requests, serverErrors];
  };
  const count = (proxy: object) => {
    store.counter(read(proxy), 'cluster.shop.upstream_rq_total', 9);
    store.counter(read(proxy), 'cluster.shop.upstream_rq_5xx', 2);
  };
  store.gauge(read(first), 'cluster.shop.warming_state', 0);
  count(first);
  assert.deepEqual(told(), [0, 0]);
  store.gauge(read(first), 'cluster.shop.membership_total', 1);
  assert.deepEqual(told(), [9, 2]);
  count(second);
  store.gauge(read(second), 'cluster.shop.warming_state', 0);
  assert.deepEqual(told(), [18, 4]);
  clock.now += 5_000;
  count(first);
  clock.now += 5_000;
  count(first);
  assert.deepEqual(told(), [27, 6], 'the moment before is over');
});

test('the gateway answers no more requests of a Mapping than there are, whatever is estimated', () => {
  const { store, read } = storeAt();
  store.sampling = { sampled: 2, failed: 2 };
  store.request(EDGE, { ...REQUEST, upstream: '', status: 301 });
  store.counter(read(), answers('a', 301), 9);
  assert.equal(store.mappings().get('Mapping/a/a')?.answeredByGateway, 9);
});

test('a request that a circuit breaker turned away is no answer of logins or limits', () => {
  const { store, read } = storeAt();
  store.counter(read(), answers('a', 429), 4);
  const own = { ...REQUEST, upstream: '', status: 429, flags: ['RL'] };
  store.request(EDGE, own);
  for (const flag of ['UO', 'UH', 'UT'])
    store.request(EDGE, { ...own, status: 503, flags: [flag] });
  assert.equal(store.mappings().get('Mapping/a/a')?.answeredByGateway, 1);
});

test('a request that its client gave up before its login was decided is no answer', () => {
  const { store } = storeAt();
  store.request(EDGE, { ...REQUEST, upstream: '', status: 0, flags: ['DC'] });
  assert.equal(store.mappings().get('Mapping/a/a'), undefined);
});

test('what a gRPC service fails is counted from the log, by what it stands for', () => {
  const { store, read } = storeAt();
  const told = () => {
    const { answers, serverErrors } = store.upstreams()[0]?.lastMinute ?? {};
    return [answers, serverErrors, store.rates().failures > 0];
  };
  store.gauge(read(), 'cluster.shop.warming_state', 0);
  store.sampling = { sampled: 1, failed: 10 };
  const failed = { ...REQUEST, status: 500, grpcStatus: 'INTERNAL', details: 'via_upstream' };
  store.request(EDGE, failed);
  assert.deepEqual(told(), [0, 10, true], 'the log came before the counts');
  store.counter(read(), 'cluster.shop.upstream_rq_2xx', 12);
  store.gauge(read(), 'cluster.shop.warming_state', 0);
  assert.deepEqual(told(), [2, 10, true]);
  store.request(EDGE, { ...failed, details: 'direct_response' });
  assert.deepEqual(told(), [2, 10, true], 'the service has not answered');
  assert.equal(store.mappings().get('Mapping/a/a')?.lastMinute.serverErrors, 20);
});

test('a late request, which no cluster counts, is counted from the log, by what it stands for', () => {
  const { store, read } = storeAt();
  const late = { ...REQUEST, status: 504, durationMs: 500 };
  store.request(EDGE, { ...late, details: LATE_DETAILS });
  store.sampling = { sampled: 1, failed: 10 };
  store.request(EDGE, { ...late, details: LATE_DETAILS });
  store.request(EDGE, { ...late, flags: ['UT'], details: 'upstream_per_try_timeout' });
  // The first push comes later.
  store.gauge(read(), 'cluster.shop.warming_state', 0);
  assert.deepEqual(store.mappings().get('Mapping/a/a'), undefined, 'its route counts it');
  const [shop] = store.upstreams();
  assert.equal(shop?.lastMinute.serverErrors, 11);
  assert.equal(shop?.lastFailure?.text, 'upstream_per_try_timeout');
  assert.ok(store.requests().every(({ flags }) => flags.join() === 'UT'));
});

test('a request that a Filter denied is no failure of the service', () => {
  const { store, read } = storeAt();
  const denied = { ...REQUEST, status: 500, flags: ['UAEX'], details: 'ext_authz_denied' };
  store.request(EDGE, { ...denied, upstream: '' });
  store.gauge(read(), 'cluster.shop.warming_state', 0);
  assert.equal(store.upstreams()[0]?.lastFailure, undefined);
  assert.equal(store.requests().length, 1);
});

test('a late request blames no instance, since its log names the one of the retry', () => {
  const { store, read } = storeAt();
  store.request(EDGE, { ...REQUEST, status: 504, details: LATE_DETAILS, attempts: 2 });
  store.gauge(read(), 'cluster.shop.warming_state', 0);
  assert.equal(store.upstreams()[0]?.lastFailure?.upstream, undefined);
  assert.deepEqual(
    store.requests().map(({ upstream }) => upstream),
    [''],
  );
});

test('a proxy is overloaded while it does one of two things, and is known', () => {
  const { clock, store, push, read } = storeAt();
  const [first, second] = [{}, {}];
  const overload = (proxy: object, requests: number, connections: number) => {
    clock.now += 5_000;
    const actions = { stop_accepting_requests: requests, stop_accepting_connections: connections };
    for (const [action, value] of Object.entries(actions))
      store.gauge(read(proxy), `overload.envoy.overload_actions.${action}.active`, value);
    store.pushed(proxy, push());
    return store
      .sources()
      .map(({ overloadedSince: since }) => (since === undefined ? since : since - START));
  };
  store.pushed(second, push());
  assert.deepEqual(overload(first, 0, 0), [undefined, undefined]);
  assert.deepEqual(overload(first, 1, 0), [undefined, 10_000]);
  assert.deepEqual(overload(first, 1, 1), [undefined, 10_000]);
  assert.deepEqual(overload(first, 0, 1), [undefined, 15_000]);
  assert.deepEqual(overload(first, 0, 0), [undefined, undefined]);
  assert.deepEqual(overload(first, 1, 1), [undefined, 30_000]);
  store.left(first);
  store.pushed(first, push());
  assert.deepEqual(
    store.sources().map(({ overloadedSince }) => overloadedSince),
    [undefined, undefined],
  );
});

test('a proxy is full while it closes new connections, and for half a minute after', () => {
  const { clock, store, push, read } = storeAt();
  const proxy = {};
  const seen = (afterMs: number, closed: number) => {
    clock.now += afterMs;
    store.counter(read(proxy), 'listener.a.downstream_global_cx_overflow', closed);
    store.pushed(proxy, push());
    return fullSince();
  };
  const idle = (afterMs: number) => {
    clock.now += afterMs;
    store.pushed(proxy, push());
    return fullSince();
  };
  const fullSince = () => store.sources().map(({ fullSince: since }) => since && since - START);
  assert.deepEqual(idle(5_000), [undefined]);
  assert.deepEqual(seen(5_000, 7), [10_000]);
  assert.deepEqual(seen(5_000, 1), [10_000]);
  assert.deepEqual(idle(30_000), [10_000]);
  assert.deepEqual(idle(5_000), [undefined]);
  assert.deepEqual(seen(5_000, 1), [55_000]);
  store.left(proxy);
  assert.deepEqual(idle(0), [undefined]);
});

test('a value that no proxy can have counted is skipped', () => {
  const { store, read } = storeAt();
  for (const value of [1e300, Number.MAX_VALUE]) store.counter(read(), answers('a'), value);
  assert.equal(store.mappings().size, 0);
});

test('after the clock was set back by an hour the figures are those since then', async () => {
  const { clock, store, push, read } = storeAt();
  const count = (requests: number) => {
    clock.now += 5_000;
    store.counter(read(), answers('a'), requests);
    for (const gauge of ['total', 'healthy'])
      store.gauge(read(), `cluster.shop.membership_${gauge}`, 2);
    store.request(EDGE, { ...REQUEST, at: clock.now });
    store.pushed(store, push());
  };
  const told = async () => {
    // What is asked for in one moment is the same.
    await Promise.resolve();
    const { last15Minutes } = store.mappings().get('Mapping/a/a') ?? {};
    return [last15Minutes?.requests, store.requests({}).length, store.upstreams()[0]?.members];
  };
  count(7);
  assert.deepEqual(await told(), [7, 1, 2]);
  clock.now -= 3_600_000;
  count(5);
  count(3);
  assert.deepEqual(await told(), [3, 1, 2], 'the first push tells that the clock was set back');
  clock.now -= 30_000;
  count(4);
  clock.now += 30_000;
  assert.deepEqual(await told(), [7, 2, 2], 'a small step forgets nothing');
});
