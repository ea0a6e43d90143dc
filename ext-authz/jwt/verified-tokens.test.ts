import assert from 'node:assert/strict';
import { test } from 'node:test';
import { generateKeyPair } from 'jose';
import type { KeySet } from '#ext-authz/provider/key-set.ts';
import { soon } from '#ext-authz/testing/soon.ts';
import { BoundedCache } from '#process/bounded-cache.ts';
import { type KeySource, VerifiedTokens } from './verified-tokens.ts';

const { publicKey: key } = await generateKeyPair('ES256');

/**
 * A source that takes every token as signed by the key `first` and counts how often it is asked.
 */
function countingSource() {
  const asked = { verify: 0, keySet: 0 };
  let keys = keySetOf('first');
  const source: KeySource = {
    verify: async raw => {
      asked.verify += 1;
      await Promise.resolve();
      if (raw === 'forged') return 'signature';
      return { raw, header: {}, claims: { raw }, thumbprint: 'first', key };
    },
    keySet: async () => {
      asked.keySet += 1;
      return keys;
    },
    knownKeySet: () => keys,
  };
  const change = (...thumbprints: readonly string[]) => {
    keys = keySetOf(...thumbprints);
  };
  return { source, asked, change };
}

function keySetOf(...thumbprints: readonly string[]): KeySet {
  return {
    epoch: thumbprints.join(),
    listed: [],
    has: thumbprint => thumbprints.includes(thumbprint),
    candidates: async () => [],
    exported: async () => [],
  };
}

test('the signature of a token is verified once, however many carry it at the same time', async () => {
  const { source, asked } = countingSource();
  const tokens = new VerifiedTokens(source, { now: () => 0, deadline: soon });
  await Promise.all(Array.from({ length: 50 }, () => tokens.verify('token')));
  await tokens.verify('token');
  assert.equal(asked.verify, 1);
});

test('a known token costs no promise', async () => {
  const { source } = countingSource();
  const tokens = new VerifiedTokens(source, { now: () => 0, deadline: soon });
  await tokens.verify('token');
  await tokens.verify('token');
  const known = tokens.verify('token');
  assert.ok(!(known instanceof Promise));
  assert.deepEqual(known.claims, { raw: 'token' });
});

test('a refused token is not kept', async () => {
  const { source, asked } = countingSource();
  const tokens = new VerifiedTokens(source, { now: () => 0, deadline: soon });
  assert.deepEqual(
    [await tokens.verify('forged'), await tokens.verify('forged')],
    ['signature', 'signature'],
  );
  assert.equal(asked.verify, 2);
});

test('keys are asked for once in 10 s, whatever the number of known tokens', async () => {
  const { source, asked } = countingSource();
  let now = 0;
  const tokens = new VerifiedTokens(source, { now: () => now, deadline: soon });
  await tokens.verify('token');
  await Promise.all(Array.from({ length: 50 }, () => tokens.verify('token')));
  assert.equal(asked.keySet, 1);
  now = 10_000;
  await Promise.all(Array.from({ length: 50 }, () => tokens.verify('token')));
  assert.equal(asked.keySet, 2);
});

test('a provider that hangs holds up no known token for its whole time', {
  timeout: 20_000,
}, async t => {
  const { source } = countingSource();
  const hanging = (signal: AbortSignal) =>
    new Promise<never>((_, reject) => signal.addEventListener('abort', () => reject(new Error())));
  const never = () => new AbortController().signal;
  const tokens = new VerifiedTokens(
    { ...source, keySet: hanging },
    { now: () => 0, deadline: never },
  );
  await tokens.verify('token');
  const alive = setInterval(() => {}, 1_000);
  t.after(() => clearInterval(alive));
  const known = await tokens.verify('token');
  assert.deepEqual(typeof known === 'string' ? known : known.claims, { raw: 'token' });
});

test('a key set without the key of a token ends its verdict, even when it changed while it was verified', async () => {
  const { source, asked, change } = countingSource();
  const tokens = new VerifiedTokens(source, { now: () => 0, deadline: soon });
  const verifying = tokens.verify('token');
  change('second');
  await verifying;
  await tokens.verify('token');
  await tokens.verify('token');
  assert.equal(asked.verify, 3);
  change('second', 'first');
  await tokens.verify('token');
  assert.equal(asked.verify, 3);
});

test('a cache drops the oldest that was not used, by number and by weight', () => {
  const cache = new BoundedCache<number>({ entries: 3, weight: 10 });
  for (const [index, name] of ['a', 'b', 'c'].entries()) cache.set(name, index, 3);
  cache.get('a');
  cache.set('d', 3, 1);
  assert.deepEqual(
    ['a', 'b', 'c', 'd'].map(name => cache.get(name)),
    [0, undefined, 2, 3],
  );
  cache.set('e', 4, 9);
  assert.deepEqual(
    ['a', 'c', 'd', 'e'].map(name => cache.get(name)),
    [undefined, undefined, 3, 4],
  );
  cache.set('f', 5, 11);
  assert.equal(cache.get('f'), undefined);
});
