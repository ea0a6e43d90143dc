import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isJsonObject, type JsonObject, objectsIn } from '#protos/json.ts';
import { seededRandom } from '#protos/testing/random.ts';
import { HOST_RETRIES, RETRY_POLICY, retriesWithin, sharedRetries } from './retry-policy.ts';

test('a dead instance does not come up at every look for another, however often it comes up', () => {
  const looks = 1 + Number(RETRY_POLICY.host_selection_retry_max_attempts);
  // Of two instances, with `least_request`: the dead one has the fewest requests.
  assert.ok((3 / 4) ** looks < 1e-20);
  // By weight it has its turns in a row.
  assert.ok(looks > 128);
});

/** `routes` of each time to answer in ms. 0 stands for a redirect, 3,000 for the usual one. */
const hostOf = (routes: ReadonlyMap<number, number>): JsonObject => ({
  name: 'shop',
  ...HOST_RETRIES,
  routes: [...routes].flatMap(([timeoutMs, count]) =>
    Array.from({ length: count }, (_, index) => ({
      name: `${timeoutMs} ${index}`,
      ...(timeoutMs === 0
        ? { redirect: { path_redirect: '/' } }
        : { route: { cluster: 'shop', ...retriesWithin(timeoutMs) } }),
    })),
  ),
});

/** The policy in force for each route, as Envoy reads it. */
const inForce = (host: JsonObject) =>
  objectsIn(host.routes).map(({ name, route }) => [
    name,
    isJsonObject(route) ? (route.retry_policy ?? host.retry_policy) : undefined,
  ]);

const owners = (host: JsonObject) =>
  objectsIn(host.routes).filter(
    ({ route }) => isJsonObject(route) && route.retry_policy !== undefined,
  ).length;

test('each route keeps its policy, whoever shares it', () => {
  const random = seededRandom(7);
  const count = () => Math.floor(random() ** 3 * 300);
  for (let turn = 0; turn < 300; turn++) {
    const times = [0, 3_000, 1_000, 5_000, 60_000].sort(() => random() - 0.5);
    const host = hostOf(new Map(times.map(timeoutMs => [timeoutMs, count()])));
    const shared = sharedRetries(host);
    assert.deepEqual(inForce(shared), inForce(host));
    assert.ok(owners(shared) <= owners(host));
  }
});

const CASES = [
  { of: 'many routes have it', counts: [[5_000, 100]], own: 0 },
  {
    of: 'it is that of most',
    counts: [
      [5_000, 100],
      [1_000, 80],
      [3_000, 99],
    ],
    own: 179,
  },
  {
    of: 'the usual one is that of most',
    counts: [
      [5_000, 100],
      [3_000, 100],
    ],
    own: 100,
  },
  { of: 'few routes have it', counts: [[5_000, 64]], own: 64 },
  {
    of: 'most routes forward nothing',
    counts: [
      [0, 500],
      [5_000, 65],
    ],
    own: 0,
  },
] as const;

for (const { counts, of, own } of CASES)
  test(`where ${of}, ${own} routes have a policy of their own`, () => {
    assert.equal(owners(sharedRetries(hostOf(new Map(counts)))), own);
  });

test('a route that did not change is the very same object again', () => {
  const host = hostOf(
    new Map([
      [5_000, 100],
      [3_000, 50],
      [0, 2],
      [1_000, 1],
    ]),
  );
  const [first, again] = [sharedRetries(host), sharedRetries({ ...host })];
  const others = objectsIn(again.routes);
  for (const [index, route] of objectsIn(first.routes).entries())
    assert.equal(route, others[index]);
});

test('a virtual host with a policy of its own keeps it', () => {
  const host = { ...hostOf(new Map([[5_000, 100]])), retry_policy: { retry_on: '5xx' } };
  assert.equal(sharedRetries(host), host);
});
