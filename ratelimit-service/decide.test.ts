import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findType } from '#protos/root.ts';
import { pick, seededRandom } from '#protos/testing/random.ts';
import { type CounterStore, StoreUnavailable } from './counter-store.ts';
import { type Decision, decide } from './decide.ts';
import { compileLimits } from './limits-index.ts';
import type { RateLimitRequest } from './request.ts';
import { type LimitJson, limitsOf } from './testing/limits.ts';
import { mapStore, requestOf } from './testing/requests.ts';
import { UNIT_MS } from './window.ts';

const A: LimitJson = { pattern: ['a'], rate: 2 };

function decided(
  limits: readonly LimitJson[],
  store: CounterStore,
  request: RateLimitRequest,
): Decision {
  const decision = decide(compileLimits(limitsOf('d', limits)), store, request, 'id');
  assert.ok('verdict' in decision, JSON.stringify(decision));
  return decision;
}

test('an empty domain is the mistake of the caller', () => {
  const store = mapStore();
  const decision = decide(compileLimits([]), store, { ...requestOf(['a=1']), domain: '' }, '');
  assert.deepEqual([decision, store.calls], [{ invalid: 'domain is empty' }, []]);
});

test('no descriptors are the mistake of the caller', () =>
  assert.deepEqual(decide(compileLimits([]), mapStore(), requestOf([]), ''), {
    invalid: 'there are no descriptors',
  }));

for (const [what, request] of [
  ['an unknown domain', { ...requestOf(['a=1', 'a=2']), domain: 'other' }],
  [
    'a domain named as a property of every object',
    { ...requestOf(['a=1', 'a=2']), domain: '__proto__' },
  ],
  ['groups that no limit matches', requestOf(['b=1', '__proto__=1'])],
] as const) {
  test(`${what} is OK, one status a descriptor, and asks no store`, () => {
    const store = mapStore();
    const { response } = decided([A], store, request);
    assert.deepEqual(response, {
      overall_code: 1,
      statuses: [{ code: 1 }, { code: 1 }],
      response_headers_to_add: [],
      request_headers_to_add: [],
      raw_body: null,
      dynamic_metadata: null,
    });
    assert.deepEqual(store.calls, []);
  });
}

test('all groups are counted in one call, also when one is over', () => {
  const store = mapStore();
  decided([A, { pattern: ['b'], rate: 0 }], store, requestOf(['b=1', 'a=1']));
  decided([A, { pattern: ['b'], rate: 0 }], store, requestOf(['b=1', 'a=1']));
  assert.deepEqual(
    store.calls.map(hits => hits.length),
    [2, 2],
  );
  const { response } = decided([A], store, requestOf(['a=1']));
  assert.equal(response.overall_code, 2);
});

test("a new window of the store's clock lets requests pass again", () => {
  const store = mapStore(59_999);
  const codes = [1, 2, 3].map(() => decided([A], store, requestOf(['a=1'])).response.overall_code);
  store.now = 60_000;
  codes.push(decided([A], store, requestOf(['a=1'])).response.overall_code);
  assert.deepEqual(codes, [1, 1, 2, 1]);
});

test('a look counts nothing and says whether a request would pass', () => {
  const store = mapStore();
  const codes = ['a=1 +0', 'a=1', 'a=1 +0', 'a=1', 'a=1 +0'].map(
    group => decided([A], store, requestOf([group])).response.overall_code,
  );
  assert.deepEqual(codes, [1, 1, 1, 1, 2]);
});

test('a store that answers later gives the same decision by a promise', async () => {
  const store = mapStore();
  const later: CounterStore = { ...store, count: async hits => store.count(hits) };
  const index = compileLimits(limitsOf('d', [A]));
  const decision = decide(index, later, requestOf(['a=1']), 'id');
  assert.ok(decision instanceof Promise);
  assert.deepEqual(await decision, decide(index, mapStore(), requestOf(['a=1']), 'id'));
});

test('a store that is gone is the error of the caller to tell', async () => {
  const gone = (): never => {
    throw new StoreUnavailable('gone');
  };
  const index = compileLimits(limitsOf('d', [A]));
  const at = (count: CounterStore['count']) =>
    decide(index, { ...mapStore(), count }, requestOf(['a=1']), '');
  assert.throws(() => at(gone), StoreUnavailable);
  await assert.rejects(async () => at(async () => gone()), StoreUnavailable);
});

test('a request as the wire has it is decided, and its response is one', () => {
  const store = mapStore(1_500);
  const limits = [
    { ...A, name: 'n', rate: 0, inject_response_headers: [{ name: 'x-a', value: 'é' }] },
  ];
  const request = decodedAgain(
    'RateLimitRequest',
    requestOf(['a=1', 'b=1'], 3),
  ) as RateLimitRequest;
  const { response } = decided(limits, store, request);
  assert.deepEqual(toJson('RateLimitResponse', response), {
    overall_code: 'OVER_LIMIT',
    statuses: [
      {
        code: 'OVER_LIMIT',
        current_limit: { name: 'n', requests_per_unit: 0, unit: 'MINUTE' },
        limit_remaining: 0,
        duration_until_reset: { seconds: '58', nanos: 500_000_000 },
      },
      { code: 'OK' },
    ],
    response_headers_to_add: [
      { key: 'retry-after', value: '59' },
      { key: 'x-a', value: 'é' },
    ],
    dynamic_metadata: {
      fields: {
        'gw.ratelimit.name': { string_value: 'n' },
        'gw.ratelimit.action': { string_value: 'Enforce' },
        'gw.ratelimit.retry_after': { number_value: 59 },
      },
    },
  });
});

test('of random requests each limit lets exactly its rate pass in every window and group', () => {
  const limits: readonly LimitJson[] = [
    { name: 's', pattern: ['a'], rate: 2, unit: 'SECOND' },
    { name: 'm', pattern: ['a'], rate: 5, unit: 'MINUTE' },
    { name: 'log', pattern: ['b'], rate: 3, unit: 'HOUR', action: 'LOG_ONLY' },
  ];
  const index = compileLimits(limitsOf('d', limits));
  for (let seed = 0; seed < 50; seed++) assertExact(index, seededRandom(seed), `seed ${seed}`);
});

function assertExact(
  index: ReturnType<typeof compileLimits>,
  random: () => number,
  message: string,
): void {
  const store = mapStore(Math.floor(random() * 1e12));
  const seen = new Map<string, number>();
  for (let request = 0; request < 200; request++) {
    store.now += Math.floor(random() ** 4 * 2_000);
    const groups = [pick(['a=1', 'a=2', 'a=1 c=1'], random), pick(['b=1', 'c=1'], random)];
    const decision = decide(index, store, requestOf(groups), '');
    assert.ok('verdict' in decision);
    for (const [at, { statuses }] of decision.verdict.groups.entries()) {
      for (const { limit, exceeded } of statuses) {
        const counter = `${limit.name} ${groups[at]} ${Math.floor(store.now / UNIT_MS[limit.unit])}`;
        const count = (seen.get(counter) ?? 0) + 1;
        seen.set(counter, count);
        assert.equal(exceeded, count > limit.rate, `${message}, ${counter}`);
      }
    }
  }
}

function decodedAgain(name: string, message: object): object {
  const type = findType(`envoy.service.ratelimit.v3.${name}`);
  assert.ok(type);
  return type.decode(type.encode(type.fromObject(message)).finish());
}

/** Converts as the shell encodes, without checks or conversions. */
function toJson(name: string, message: object): object {
  const type = findType(`envoy.service.ratelimit.v3.${name}`);
  assert.ok(type);
  return type.toObject(type.decode(type.encode(message).finish()), {
    enums: String,
    longs: String,
  });
}
