import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodeAny } from '#protos/decode.ts';
import { encodeAny } from '#protos/encode.ts';
import { RATE_LIMIT } from '#protos/type-url.ts';
import { type Snapshot, snapshotOf, xdsResource } from '#xds/snapshot.ts';
import { widener } from './widen.ts';

const widen = widener();

/** Returns RateLimits by name, each with limits written `<key> <rate>`. */
function limits(
  resources: Readonly<Record<string, readonly string[]>>,
  domain = 'gateway',
): Snapshot {
  return snapshotOf(
    Object.entries(resources).map(([name, written]) =>
      xdsResource(name, encodeAny({ '@type': RATE_LIMIT, domain, limits: written.map(toLimit) })),
    ),
  );
}

function toLimit(written: string) {
  const [key = '', rate] = written.split(' ');
  return { name: key, rate: Number(rate), unit: 'HOUR', pattern: [{ alternatives: [{ key }] }] };
}

/** Returns what is served, in the same way. A name of the gateway's own ends in "~". */
function served(snapshot: Snapshot): readonly string[] {
  return [...(snapshot.get(RATE_LIMIT) ?? [])].map(([name, { any }]) => {
    const { limits = [] } = decodeAny(any) as { limits?: { name: string; rate?: number }[] };
    const written = limits.map(limit => `${limit.name} ${limit.rate ?? 0}`);
    return `${name.replace(/~.*/, '~')}: ${written.join(', ')}`;
  });
}

test('a pattern that is gone stays, in a resource that changed and in one that went', () => {
  const wide = widen(
    limits({ same: ['x 1'], a: ['p 1', 'q 1'], b: ['r 1'] }),
    limits({ same: ['x 1'], a: ['p 1'] }),
  );
  assert.deepEqual(served(wide), ['same: x 1', 'a: p 1', 'a~: q 1', 'b~: r 1']);
});

test('another rate of the same pattern is in force at once', () => {
  const next = limits({ a: ['p 2'] });
  assert.equal(widen(limits({ a: ['p 1'] }), next), next);
});

test('so is a pattern that moved to another resource', () => {
  const next = limits({ b: ['p 1'] });
  assert.equal(widen(limits({ a: ['p 1'] }), next), next);
});

test('the same pattern in another domain is another one', () => {
  const wide = widen(limits({ a: ['p 1'] }), limits({ a: ['p 1'] }, 'other'));
  assert.deepEqual(served(wide), ['a: p 1', 'a~: p 1']);
});

test('what was kept already is kept on, until its pattern comes back', () => {
  const wide = widen(limits({ a: ['p 1'] }), limits({ a: ['q 1'] }));
  assert.deepEqual(served(widen(wide, limits({ a: ['r 1'] }))), ['a: r 1', 'a~: q 1', 'a~: p 1']);
  assert.deepEqual(served(widen(wide, limits({ a: ['p 1'] }))), ['a: p 1', 'a~: q 1']);
});

test('where nothing changed or nothing was before, it is the next', () => {
  const next = limits({ a: ['p 1'] });
  assert.equal(widen(undefined, next), next);
  assert.equal(widen(limits({ a: ['p 1'] }), next), next);
});
