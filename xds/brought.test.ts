import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { messageType } from '#protos/root.ts';
import { Brought } from './brought.ts';
import { decodeDeltaRequest } from './decode-request.ts';
import { ABSENT } from './refusals.ts';
import { brought } from './testing/delta-driver.ts';
import { Random } from './testing/random.ts';
import { resource, resources } from './testing/resources.ts';

const REQUEST = messageType('envoy.service.discovery.v3.DeltaDiscoveryRequest');
const LONG = 'l'.repeat(200);

/** What arrives when these bytes are an entry of `initial_resource_versions`. */
function entry(hex: string): Brought {
  const bytes = Buffer.from(hex.replaceAll(' ', ''), 'hex');
  return new Brought(bytes, [0, bytes.length]);
}

describe('entries', () => {
  const CASES = [
    ['a short name', '0a 01 61 12 01 31', 'a', '1'],
    ['a version before the name', '12 01 31 0a 01 61', 'a', '1'],
    ['a field that is not known', '0a 01 61 18 05 12 01 31', 'a', '1'],
    ['a name that is given twice', '0a 01 62 0a 01 61 12 01 31', 'a', '1'],
    ['a length in more bytes than it needs', '0a 81 00 61 12 01 31', 'a', '1'],
    ['a name that is not ASCII', '0a 02 c3 a4 12 01 31', 'ä', '1'],
    ['no version', '0a 01 61', 'a', ''],
    ['no name', '12 01 31', '', '1'],
    ['nothing', '', '', ''],
  ] as const;
  for (const [what, hex, name, version] of CASES)
    test(`with ${what} are read`, () => {
      assert.deepEqual([...entry(hex).versions()], [[name, version]]);
      assert.deepEqual(entry(hex).against(resources({})).apart, new Map([[name, version]]));
    });

  const INVALID = [
    ['a name that runs past it', '0a 05 61 12 01 31'],
    ['a version that runs past it', '0a 01 61 12 02 31'],
    ['a length that is cut off', '0a'],
    ['a name that is no UTF-8', '0a 01 ff 12 01 31'],
    ['a version that is no UTF-8', '0a 01 61 12 01 ff'],
    ['half a character', '0a 01 c3 12 01 31'],
    ['a group that does not end', '0b 0a 01 61'],
  ] as const;
  for (const [what, hex] of INVALID)
    test(`with ${what} are refused`, () => {
      assert.throws(() => entry(hex), { name: 'WireError' });
    });

  test('of every length are read as they were written', () => {
    for (const length of [1, 109, 110, 111, 127, 128, 129, 300, 20_000]) {
      const versions = { ['n'.repeat(length)]: '1', n: 'v'.repeat(length), ä: '1' };
      assert.deepEqual(Object.fromEntries(brought(versions).versions()), versions);
    }
  });

  test('count by their number and their bytes', () => {
    const { size, bytes } = brought({ aa: '1', b: '22', '': '' });
    assert.deepEqual([size, bytes], [3, 18]);
    assert.deepEqual([brought({}).size, brought({}).bytes], [0, 0]);
  });
});

test('what a client brings is compared with what is served', () => {
  const a = resource('a', '1').version;
  const served = resources({ a: '1', b: '1', [LONG]: '1' });
  const had = brought({ a, b: 'older', gone: '1' });
  const { common, apart } = had.against(served);
  assert.equal(common, 1);
  assert.deepEqual(
    apart,
    new Map<string, unknown>([
      ['b', 'older'],
      ['gone', '1'],
      [LONG, ABSENT],
    ]),
  );
});

test('a name that is brought in two versions differs, whichever comes last', () => {
  const { version } = resource('a', '1');
  const part = (of: string) =>
    Buffer.from(REQUEST.encode({ initial_resource_versions: { a: of } }).finish());
  for (const order of [
    [version, 'older'],
    ['older', version],
  ]) {
    const request = decodeDeltaRequest(Buffer.concat(order.map(part)));
    const { apart } = request.initial_resource_versions.against(resources({ a: '1' }));
    assert.deepEqual([...apart], [['a', 'older']]);
  }
});

const NAMES = [...Array.from({ length: 40 }, (_, at) => `name-${at}`), LONG, 'ä', 'ab', 'ba'];

test('random holdings differ from what is served where a plain comparison says', () => {
  for (let seed = 1; seed <= 500; seed += 1) {
    const random = new Random(seed);
    const draw = () => {
      const names = random.some(NAMES, random.next());
      return resources(Object.fromEntries(names.map(name => [name, String(random.below(2))])));
    };
    const served = draw();
    const held = new Map([...draw()].map(([name, { version }]) => [name, version]));
    const has = (name: string) => held.get(name) ?? ABSENT;
    const isSame = (name: string) => has(name) === (served.get(name)?.version ?? ABSENT);
    const all = new Set([...held.keys(), ...served.keys()]);
    const differing = [...all].filter(name => !isSame(name));
    const { common, apart } = brought(Object.fromEntries(held)).against(served);
    const expected = new Map(differing.map(name => [name, has(name)]));
    assert.deepEqual(apart, expected, `seed ${seed}`);
    assert.equal(common, all.size - differing.length, `seed ${seed}`);
  }
});

test('random requests are decoded as the library decodes them, in any order of their fields', () => {
  const random = new Random(1);
  for (let round = 0; round < 300; round += 1) {
    const versions = random.some(NAMES, 0.2).map(name => [name, String(random.below(9))]);
    const fields: object[] = [
      { node: { id: 'n', cluster: 'edge' } },
      { type_url: 'type' },
      { response_nonce: '7' },
      { resource_names_subscribe: random.some(NAMES, 0.1) },
      { resource_names_unsubscribe: random.some(NAMES, 0.1) },
      { error_detail: { code: 3, message: 'no' } },
      ...versions.map(([name = '', version]) => ({
        initial_resource_versions: { [name]: version },
      })),
    ];
    const parts = random
      .some(fields, 0.9)
      .map(field => ({ field, place: random.next() }))
      .sort((a, b) => a.place - b.place)
      .map(({ field }) => Buffer.from(REQUEST.encode(field).finish()));
    const bytes = Buffer.concat(parts);
    const whole = REQUEST.toObject(REQUEST.decode(bytes), { defaults: true });
    const { initial_resource_versions, ...others } = decodeDeltaRequest(bytes);
    assert.deepEqual(
      Object.fromEntries(initial_resource_versions.versions()),
      whole.initial_resource_versions,
    );
    assert.deepEqual(REQUEST.toObject(REQUEST.fromObject(others), { defaults: true }), {
      ...whole,
      initial_resource_versions: {},
    });
  }
});
