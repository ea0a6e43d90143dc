import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { headerText } from '#ext-authz/http/header-text.ts';
import { findType } from '#protos/root.ts';
import { cases } from '#protos/testing/cases.ts';
import { pick, seededRandom } from '#protos/testing/random.ts';
import { randomMessage } from '#protos/testing/random-message.ts';
import { toProtobufjs } from '#protos/testing/to-protobufjs.ts';
import { type CheckMessage, decodeCheck } from './decode-check.ts';

const type = typeOf('envoy.service.auth.v3.CheckRequest');
const attributes = typeOf('envoy.service.auth.v3.AttributeContext');
const ROUNDS = cases({ all: 10_000, quick: 1_000 });
const NAMES = ['cookie', 'Cookie', 'x-a', 'X_A', ':path', '', '__proto__', 'über', 'x-request-id'];
const VALUES = ['', 'a=1', 'Jürgen 🙂', 'x'.repeat(300), '\0'];

type Random = () => number;
type Fields = { readonly [field: string]: unknown };

/** Mostly what Envoy sends, with fields that we do not read, and some that are missing. */
function randomCheck(random: Random): Buffer {
  const some = (fields: Fields) =>
    Object.fromEntries(Object.entries(fields).filter(() => random() < 0.7));
  const bytes = () => Buffer.from(pick(VALUES, random), pick(['utf8', 'latin1'] as const, random));
  const header = () =>
    some({ key: pick(NAMES, random), value: pick(VALUES, random), raw_value: bytes() });
  const http = some({
    ...{ id: '1', method: pick(['GET', ''], random), host: pick(VALUES, random), scheme: 'https' },
    ...{
      path: pick(VALUES, random),
      query: 'x',
      body: pick(VALUES, random),
      raw_body: bytes(),
      size: -1,
    },
    ...(random() < 0.8 && {
      header_map: { headers: Array.from({ length: random() * 6 }, header) },
    }),
  });
  const source = some({
    address: some({ socket_address: some({ address: '::1', port_value: 1 }) }),
  });
  const request = some({ time: { seconds: 1, nanos: 2 }, http });
  const more = toProtobufjs(attributes, randomMessage(attributes, random, 2)) as Fields;
  const message = some({ attributes: { ...more, ...some({ source, request }) } });
  return Buffer.from(type.encode(type.fromObject(message)).finish());
}

/** Of a message by protobufjs, what we read of it. */
function expected(bytes: Buffer): object {
  const at = (value: unknown, name: string): unknown =>
    (value as Fields | null | undefined)?.[name];
  const text = (value: unknown) => (typeof value === 'string' ? value : '');
  const top = at(type.decode(bytes), 'attributes');
  const http = at(at(top, 'request'), 'http') as Fields | null | undefined;
  const headers = new Map<string, string[]>();
  for (const { key, raw_value, value } of (at(at(http, 'header_map'), 'headers') ??
    []) as Fields[]) {
    const name = text(key).toLowerCase();
    const raw = Buffer.from(raw_value as Uint8Array);
    if (name === '' || name.startsWith(':')) continue;
    headers.set(name, [
      ...(headers.get(name) ?? []),
      raw.length > 0 ? headerText(name, raw) : text(value),
    ]);
  }
  const rawBody = Buffer.from((http?.raw_body as Uint8Array | undefined) ?? []);
  return {
    isHttp: http !== undefined && http !== null,
    ...{ method: text(http?.method), scheme: text(http?.scheme), host: text(http?.host) },
    ...{ path: text(http?.path), headers: [...headers] },
    body: (rawBody.length > 0 ? rawBody : Buffer.from(text(http?.body))).toString('hex'),
    address: text(at(at(at(at(top, 'source'), 'address'), 'socket_address'), 'address')),
    routeRule: text((at(top, 'context_extensions') as Fields | undefined)?.rule),
    beforeRoute: text((at(top, 'context_extensions') as Fields | undefined)?.before) === 'route',
  };
}

function read(message: CheckMessage): object {
  return {
    ...message,
    headers: [...message.headers],
    body: Buffer.from(message.body).toString('hex'),
  };
}

function typeOf(name: string) {
  const found = findType(name);
  if (found === undefined) throw new Error(name);
  return found;
}

const fromHex = (hex: string) => Buffer.from(hex.replaceAll(' ', ''), 'hex');

test(`${ROUNDS} random checks are decoded as by protobufjs`, () => {
  const random = seededRandom(1);
  for (let round = 0; round < ROUNDS; round++) {
    const bytes = randomCheck(random);
    const decoded = decodeCheck(bytes);
    assert.ok(decoded !== undefined, bytes.toString('hex'));
    assert.deepEqual(read(decoded), expected(bytes), bytes.toString('hex'));
  }
});

test('a header is found by its name without the others being read, repeated ones in their order', () => {
  const fields = [
    ['a', '1'],
    ['b', '2'],
    ['A', '3'],
  ].map(([key, value]) => ({ key, raw_value: Buffer.from(value ?? '') }));
  const message = { attributes: { request: { http: { header_map: { headers: fields } } } } };
  const { headers } =
    decodeCheck(Buffer.from(type.encode(type.fromObject(message)).finish())) ?? {};
  assert.deepEqual(headers?.get('a'), ['1', '3']);
  assert.equal(headers?.get('c'), undefined);
  assert.deepEqual([headers?.has('b'), headers?.has('B'), headers?.size], [true, false, 2]);
  assert.deepEqual([...(headers?.keys() ?? [])], ['a', 'b']);
  assert.deepEqual([...(headers?.entries() ?? [])], [...(headers ?? [])]);
  assert.deepEqual([...(headers?.values() ?? [])], [['1', '3'], ['2']]);
  const seen: unknown[] = [];
  headers?.forEach((value, name, map) => void seen.push([name, value, map === headers]));
  assert.deepEqual(seen, [
    ['a', ['1', '3'], true],
    ['b', ['2'], true],
  ]);
});

test('a message in two parts is one: the fields add up, of a text the last counts', () => {
  const twice = decodeCheck(fromHex('0a09 2207 12051203474554 0a0c 220a 1208 1203505554 2a0161'));
  assert.deepEqual([twice?.method, twice?.host, twice?.isHttp], ['PUT', 'a', true]);
});

describe('bytes that are no check', () => {
  for (const [what, hex] of [
    ['a cut tag', '8a'],
    ['attributes longer than the message', '0a05 2200'],
    ['a request longer than its attributes', '0a02 2205 1200'],
    ['a header longer than its map', '0a09 2207 1205 6a03 0a05 61'],
    ['an endless varint', `10${'ff'.repeat(20)}`],
    ['field 0', '0000'],
    ['an end of no group', '0c'],
  ] as const)
    test(what, () => assert.equal(decodeCheck(fromHex(hex)), undefined));

  test('cut or changed at random never throw, and end with the message', () => {
    const random = seededRandom(2);
    const below = (limit: number) => Math.floor(random() * limit);
    for (let round = 0; round < ROUNDS; round++) {
      const whole = randomCheck(random);
      for (let change = below(4); change > 0 && whole.length > 0; change--)
        whole[below(whole.length)] = below(256);
      const message = decodeCheck(whole.subarray(0, below(whole.length + 1)));
      if (message !== undefined) read(message);
    }
  });

  test('what is cut within a known field is refused', () => {
    const http = { method: 'GET', path: '/', host: 'a', scheme: 'http' };
    const bytes = Buffer.from(
      type.encode(type.fromObject({ attributes: { request: { http } } })).finish(),
    );
    const lengths = Array.from(bytes, (_, length) => length);
    const readable = lengths.filter(length => decodeCheck(bytes.subarray(0, length)) !== undefined);
    assert.deepEqual(readable, [0]);
  });
});

describe('what is no UTF-8', () => {
  const check = (http: Fields) =>
    decodeCheck(
      Buffer.from(type.encode(type.fromObject({ attributes: { request: { http } } })).finish()),
    );
  /** Of the same length as what stands for it in the message. */
  const swapped = (http: Fields, text: string, bytes: string) => {
    const message = Buffer.from(
      type.encode(type.fromObject({ attributes: { request: { http } } })).finish(),
    );
    Buffer.from(bytes, 'hex').copy(message, message.indexOf(text));
    return decodeCheck(message);
  };

  for (const field of ['method', 'path', 'host', 'scheme'])
    test(`is rejected as ${field}, which Envoy checks`, () => {
      assert.equal(check({ [field]: 'grün' })?.[field as 'path'], 'grün');
      assert.equal(swapped({ [field]: 'half' }, 'half', 'c328ff80'), undefined);
    });

  test('is taken as the value of a header, which a client may write so', () => {
    const headers = [{ key: 'x-a', raw_value: Buffer.from('fffe', 'hex') }];
    assert.equal(check({ header_map: { headers } })?.headers.get('x-a')?.length, 1);
    assert.ok(
      swapped({ headers: { 'x-a': 'half' } }, 'half', 'c328ff80'),
      'a map that nobody reads',
    );
  });
});
