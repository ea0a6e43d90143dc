import assert from 'node:assert/strict';
import { test } from 'node:test';
import { resourceSetOf } from '#controlplane/compile/testing/resource-set-of.ts';
import type { Counters, Knowledge } from '#controlplane/knowledge/knowledge.ts';
import { countersView, loginsView, remembered } from './knowledge.ts';

const LABELS = `apiVersion: gateway.internal/v2
kind: Mapping
metadata: { name: m }
spec:
  prefix: /
  service: s
  labels:
    d:
      - g:
          - remote_address
          - { who: { header: x-user, omit_if_not_present: true } }
          - { id: { header: Authorization, omit_if_not_present: true } }
          - { session_token: { header: x-a, omit_if_not_present: true } }
          - { api_key: { header: x-b, omit_if_not_present: true } }
          - { a: { header: X-Auth-Key, omit_if_not_present: true } }
          - { b: { header: X-Session-Id, omit_if_not_present: true } }
          - { host: { header: ":authority", omit_if_not_present: true } }
          - { where: { path: true } }
`;

const fail = async () => {
  throw new Error('127.0.0.1:18001: it does not answer in time');
};
const DEAD: Knowledge = {
  ...{ sessions: fail, providers: fail, counters: fail, instances: fail, certificates: fail },
  keySets: fail,
  close: () => {},
};

test('values of labels that may be credentials are hidden, and those of unknown labels too', async () => {
  const values = 'remote_address who id session_token api_key a b host where gone __proto__'.split(
    ' ',
  );
  const labels = values.map(key => ({ key, value: '/a?secret=1' }));
  const limit = { limit: 'l', domain: 'd', rate: 1, within: 0, near: 0, over: 0, overLogOnly: 0 };
  const whole = labels.slice(0, 1).map(({ key }) => ({ key, value: '::1' }));
  const keys = [labels, whole].map(each => ({ labels: each, count: 1, ends: 0 }));
  const limits = [{ ...limit, keys }];
  const counters = async (): Promise<Counters> => ({ limits, store: 'memory', processes: 1 });
  const view = await countersView({ ...DEAD, counters }, resourceSetOf(LABELS).resources);
  assert.ok('limits' in view);
  assert.deepEqual(
    view.limits[0]?.keys[0]?.labels.filter(({ value }) => value === '/a').map(({ key }) => key),
    ['remote_address', 'who', 'host', 'where'],
  );
  assert.doesNotMatch(JSON.stringify(view), /secret=1/);
  assert.deepEqual(
    view.limits[0]?.keys.map(({ isWhole }) => isWhole),
    [false, true],
    'what is hidden names no counter',
  );
});

test('a service that does not answer is told as a reason', async () => {
  const error = '127.0.0.1:18001: it does not answer in time';
  assert.deepEqual(await loginsView(DEAD), { sessions: { error }, providers: { error } });
  assert.deepEqual(await countersView(DEAD, resourceSetOf('').resources), { error });
});

test('however many look, a service is asked every two seconds', async () => {
  let [asked, now] = [0, 0];
  const ask = remembered<number>(() => now);
  const look = () => ask(async () => (asked += 1));
  assert.deepEqual(await Promise.all([look(), look(), look()]), [1, 1, 1]);
  now += 1_999;
  assert.equal(await look(), 1);
  now += 1;
  assert.equal(await look(), 2);
  assert.equal(await ask(async () => 9, 'another question'), 9);
  assert.equal(await look(), 2);
});
