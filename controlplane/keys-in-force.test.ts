import assert from 'node:assert/strict';
import { test } from 'node:test';
import { KeysInForce, MOST_AGE_MS } from './keys-in-force.ts';

const key = (kid: string, alg: unknown = 'RS256') => JSON.stringify({ kid, alg });
const SET = { filter: 'default/tokens', jwksURI: 'https://idp.test/keys', keys: [key('a')] };
const PROVIDER = {
  ...{ name: 'p', filter: SET.filter, jwksURI: SET.jwksURI, terms: {} },
  algorithms: ['RS256'],
};

function inForce() {
  let time = 1_000_000;
  const keys = new KeysInForce(() => time);
  const take = (set: Parameters<typeof keys.take>[0][number]) => keys.take([set], time);
  const wait = (ms: number) => {
    time += ms;
  };
  return { keys, take, wait };
}

test('a provider has the keys of its Filter while they are fresh', () => {
  const { keys, take, wait } = inForce();
  assert.equal(keys.of([PROVIDER]).size, 0);
  take(SET);
  wait(MOST_AGE_MS);
  assert.deepEqual([...keys.of([PROVIDER])], [['p', SET.keys]]);
  wait(1);
  assert.equal(keys.of([PROVIDER]).size, 0);
});

test('keys from before a clock was set back are not fresh', () => {
  const { keys, take, wait } = inForce();
  take(SET);
  wait(-MOST_AGE_MS - 1);
  assert.equal(keys.of([PROVIDER]).size, 0);
});

for (const [what, set] of [
  ['of another Filter', { ...SET, filter: 'default/other' }],
  ['of another place', { ...SET, jwksURI: 'https://idp.test/old' }],
  ['for other algorithms', { ...SET, keys: [key('a', 'PS256')] }],
  ['without an algorithm', { ...SET, keys: [key('a', null)] }],
  ['that are no JSON', { ...SET, keys: ['{', ''] }],
  ['that are null', { ...SET, keys: ['null'] }],
] as const)
  test(`keys ${what} are not used`, () => {
    const { keys, take } = inForce();
    take(set);
    assert.equal(keys.of([PROVIDER]).size, 0);
  });
