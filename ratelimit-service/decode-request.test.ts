import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { findType } from '#protos/root.ts';
import { decodeRequest } from './decode-request.ts';
import { hitsOf, type RateLimitRequest } from './request.ts';

const type = findType('envoy.service.ratelimit.v3.RateLimitRequest');
assert.ok(type !== undefined);
const ROUNDS = 2_000;
const TEXTS = ['', 'a', 'path', '/müll/🚦', '\0\x7f', '__proto__', 'x'.repeat(300)];
const NUMBERS = [0, 1, 127, 128, 2 ** 31, 2 ** 32 - 1];

/** Mulberry32, so that each run has the same rounds. */
function seeded(seed: number): (below: number) => number {
  let state = seed;
  return below => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}

/** Returns a request with fields that we do not read, and without some that we do. */
function randomRequest(below: (limit: number) => number): object {
  const pick = <T>(values: readonly T[]) => values[below(values.length)] as T;
  const many = <T>(make: () => T) => Array.from({ length: below(4) }, make);
  const entry = () => ({ key: pick(TEXTS), ...(below(4) > 0 && { value: pick(TEXTS) }) });
  const descriptor = () => ({
    entries: many(entry),
    ...(below(3) === 0 && { limit: { requests_per_unit: pick(NUMBERS), unit: below(5) } }),
    ...(below(3) === 0 && { hits_addend: below(4) > 0 ? { value: pick(NUMBERS) } : {} }),
    ...(below(3) === 0 && { is_negative_hits: below(2) > 0 }),
  });
  return {
    ...(below(8) > 0 && { domain: pick(TEXTS) }),
    descriptors: many(descriptor),
    ...(below(2) === 0 && { hits_addend: pick(NUMBERS) }),
  };
}

/** Returns what the service reads, whichever way it was decoded. */
function read(request: RateLimitRequest): object {
  const { domain, hits_addend, descriptors } = request;
  const groups = descriptors.map(descriptor => ({
    entries: descriptor.entries.map(({ key, value }) => ({ key, value })),
    hits: hitsOf(descriptor, request),
  }));
  return { domain, hits_addend, groups };
}

const byProtobufjs = (bytes: Buffer) => type.decode(bytes) as unknown as RateLimitRequest;
const fromHex = (hex: string) => Buffer.from(hex.replaceAll(' ', ''), 'hex');

describe('requests are decoded as by protobufjs', () => {
  test(`${ROUNDS} times`, () => {
    const below = seeded(1);
    for (let round = 0; round < ROUNDS; round++) {
      const bytes: Buffer = Buffer.from(
        type.encode(type.fromObject(randomRequest(below))).finish(),
      );
      const decoded = decodeRequest(bytes);
      assert.ok(decoded !== undefined, bytes.toString('hex'));
      assert.deepEqual(read(decoded), read(byProtobufjs(bytes)), bytes.toString('hex'));
    }
  });

  for (const [what, hex] of [
    ['a domain that comes twice', '0a0161 0a0162'],
    ['a number that comes twice', '1801 1802'],
    ['a number in more bytes than it wants', '18 81808000'],
    ['fields that nobody knows', '2205616263646528073d010203044101020304050607084b0a01614c 0a0164'],
    ['fields in another order', '1803 0a0164'],
    ['nothing', ''],
  ] as const)
    test(what, () => {
      const bytes = fromHex(hex);
      assert.deepEqual(read(decodeRequest(bytes) as RateLimitRequest), read(byProtobufjs(bytes)));
    });
});

test('an addend that comes twice is one message: without a value the second changes nothing', () => {
  const decoded = decodeRequest(fromHex('12 06 1a02 0805 1a00'));
  assert.deepEqual(decoded?.descriptors[0]?.hits_addend, { value: 5 });
});

test('a number of more than 32 bits is its lower 32', () => {
  assert.equal(decodeRequest(fromHex('18 8380808010'))?.hits_addend, 3);
});

test('a known field of another wire type is skipped', () => {
  const decoded = decodeRequest(fromHex('0805 0a0164'));
  assert.equal(decoded?.domain, 'd');
});

describe('bytes that are no request', () => {
  for (const [what, hex] of [
    ['a cut text', '0a05 6162'],
    ['a cut tag', '8a'],
    ['a descriptor longer than the request', '120a 0a00'],
    ['an entry longer than its descriptor', '1202 0a05 0a0161'],
    ['an endless varint', `18${'ff'.repeat(20)}`],
    ['field 0', '0000'],
    ['an end of no group', '0c'],
  ] as const)
    test(what, () => assert.equal(decodeRequest(fromHex(hex)), undefined));

  test('more descriptors, or more labels, than any request has', () => {
    const many = (count: number, hex: string) => Buffer.from(hex.repeat(count), 'hex');
    assert.equal(decodeRequest(many(100_000, '1200'))?.descriptors.length, 100_000);
    assert.ok(decodeRequest(many(100_001, '1200')) === undefined);
    const labels = Buffer.concat([fromHex('12 c29a0c'), many(100_001, '0a00')]);
    assert.ok(decodeRequest(labels) === undefined);
  });

  test('cut or changed at random never throw', () => {
    const below = seeded(2);
    for (let round = 0; round < ROUNDS; round++) {
      const bytes = Buffer.from(type.encode(type.fromObject(randomRequest(below))).finish());
      for (let change = below(4); change > 0 && bytes.length > 0; change--)
        bytes[below(bytes.length)] = below(256);
      decodeRequest(bytes.subarray(0, below(bytes.length + 1)));
    }
  });

  test('every strict prefix of a request with one descriptor is none, or a shorter request', () => {
    const whole = { domain: 'gateway', descriptors: [{ entries: [{ key: 'path', value: '/a' }] }] };
    const bytes = Buffer.from(type.encode(type.fromObject(whole)).finish());
    const lengths = Array.from(bytes, (_, length) => length);
    const readable = lengths.filter(
      length => decodeRequest(bytes.subarray(0, length)) !== undefined,
    );
    assert.deepEqual(readable, [0, 9]);
  });
});

test('a domain and a key are UTF-8, but a value is what a client sent', () => {
  assert.equal(decodeRequest(fromHex('0a02c328')), undefined);
  assert.equal(decodeRequest(fromHex('12 07 0a05 0a01ff 1200')), undefined);
  const labelOf = (hex: string) =>
    decodeRequest(fromHex(`12 09 0a07 0a016b 1202 ${hex}`))?.descriptors[0]?.entries[0]?.value;
  assert.equal(labelOf('c3bc'), 'ü');
  assert.equal(labelOf('4dfc'), 'Mü', 'what is no UTF-8 is Latin-1');
  assert.equal(labelOf('4df6'), 'Mö', 'and has a counter of its own');
});
