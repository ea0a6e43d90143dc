import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { until } from '#envoy/e2e/until.ts';
import { HandTimers } from '#xds/testing/hand-timers.ts';
import { testAuthority } from '../testing/test-secrets.ts';
import type { EdgeAccount } from './edge-account.ts';
import { keepEdgeIdentities } from './keep-edge-identities.ts';
import type { KeptTexts } from './kept-secret.ts';

const HOUR = 3_600_000;

const account = (group: string): EdgeAccount => ({
  namespace: 'shop',
  group,
  owner: { apiVersion: 'v1', kind: 'ServiceAccount', name: group, uid: group },
});

/** Keeps identities in a Secret in memory. */
async function kept(t: TestContext, accounts: readonly EdgeAccount[]) {
  const now = { accounts, ms: Date.now() };
  let secret: KeptTexts | undefined;
  const writes: string[][] = [];
  const troubles: string[] = [];
  const timers = new HandTimers();
  const tending = await keepEdgeIdentities({
    secret: {
      place: 'Secret shop/gateway-edges',
      read: async () => secret,
      write: async texts => {
        const owners = now.accounts.map(({ owner }) => owner);
        secret = { texts, mark: '', owners };
        writes.push(Object.keys(texts).sort());
        return true;
      },
    },
    accounts: () => now.accounts,
    authority: await testAuthority(t),
    trustDomain: 'gateway.internal',
    leafMs: HOUR,
    clock: { now: () => now.ms, random: () => 0.5, after: timers.after },
    onWritten: () => {},
    onTrouble: (_place, reason) => troubles.push(reason),
  });
  t.after(() => tending.close());
  const turn = async () => {
    timers.run();
    await until(() => timers.delays.length > 0 || undefined);
  };
  return { now, writes, troubles, turn };
}

const KEYS = { a: ['a.crt', 'a.key'], b: ['b.crt', 'b.key'] };

test('nothing is written when nothing has changed', async t => {
  const { writes, turn } = await kept(t, [account('a')]);
  await turn();
  assert.deepEqual(writes, [[...KEYS.a, 'ca.crt']]);
});

test('a Gateway that is gone leaves its identity until that is due', async t => {
  const { now, writes, turn } = await kept(t, [account('a'), account('b')]);
  now.accounts = [account('b')];
  await turn();
  assert.deepEqual(writes.at(-1), [...KEYS.a, ...KEYS.b, 'ca.crt']);
  now.ms += 0.6 * HOUR;
  await turn();
  assert.deepEqual(writes.at(-1), [...KEYS.b, 'ca.crt']);
});

test('more Gateways than a Secret holds are a trouble, and nothing is written', async t => {
  const many = Array.from({ length: 301 }, (_, index) => account(`g${index}`));
  const { writes, troubles } = await kept(t, many);
  assert.deepEqual(writes, []);
  assert.deepEqual(troubles, ['there are 301 Gateways, and it can hold 300']);
});
