import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseInstancesFile } from './parse-instances-file.ts';

test('a service is a list of items or one item, by address or by name', () => {
  const { services, problems } = parseInstancesFile(`
services:
  user-service:
    - { address: 127.0.0.1, port: 5101, hostname: user-service-1 }
    - address: "2001:DB8:0:0::1"
      port: 5102
      health_status: DRAINING
      load_balancing_weight: 3
      locality: { region: eu, zone: eu-1, sub_zone: a }
  billing: { dns: billing.internal, port: 80 }
  idle: []
`);
  assert.deepEqual(problems, []);
  assert.deepEqual(services?.get('user-service'), [
    { address: '127.0.0.1', port: 5101, hostname: 'user-service-1' },
    {
      address: '2001:db8::1',
      port: 5102,
      health_status: 'DRAINING',
      load_balancing_weight: 3,
      locality: { region: 'eu', zone: 'eu-1', sub_zone: 'a' },
    },
  ]);
  assert.deepEqual(services?.get('billing'), [{ dns: 'billing.internal', port: 80 }]);
  assert.deepEqual(services?.get('idle'), []);
});

test('a name with capital letters is also found in lower case, as a Mapping asks for it', () => {
  const item = (port: number) => ({ address: '127.0.0.1', port });
  const text = JSON.stringify({
    services: { Search: item(1), 'Users:80': item(2), Cart: item(3), cart: item(4), Bad: {} },
  });
  const { rejected, services } = parseInstancesFile(text);
  const portsOf = (name: string) => services?.get(name)?.map(each => 'port' in each && each.port);
  assert.deepEqual(['Search', 'search', 'users:80', 'Cart', 'cart'].map(portsOf), [
    ...[[1], [1], [2]],
    ...[[3], [4]],
  ]);
  assert.deepEqual(rejected, ['Bad', 'bad']);
});

test('two names that differ in case alone do not share the name in lower case', () => {
  const { problems, rejected, services } = parseInstancesFile(
    'services:\n  Users: []\n  a: []\n  USERS: []\n  Cart: []\n  cart: []\n',
  );
  assert.deepEqual([...(services?.keys() ?? [])], ['Users', 'a', 'USERS', 'Cart', 'cart']);
  assert.deepEqual(rejected, ['users']);
  const message =
    'services.USERS: it differs from "Users" in case alone, and a Mapping asks for "users"';
  assert.deepEqual(problems, [{ line: 4, message }]);
});

const REFUSED_WHOLE: readonly [why: string, text: string, line: number, message: RegExp][] = [
  ['an empty file', '', 1, /"services: \{\}"/],
  ['no services', 'service: {}', 1, /"services"/],
  ['services that are a list', 'services: []', 1, /"services"/],
  ['another top-level field', 'services: {}\n\nversion: 1', 3, /unknown field "version"/],
  ['a service named twice', 'services:\n  a: []\n  a: []', 3, /^a key appears twice/],
  ['a field named twice', 'services:\n  a:\n  - port: 1\n    port: 1', 4, /^a key appears twice/],
  ['broken YAML', 'services:\n  a: [\n', 3, /./],
  ['an unknown alias', 'services:\n  a: *nowhere\n', 1, /nowhere/],
  [
    'two documents',
    'services: {}\n---\nservices: {}\n',
    2,
    /^want one document, another begins here$/,
  ],
];

for (const [why, text, line, message] of REFUSED_WHOLE) {
  test(`${why} is rejected whole, with its line`, () => {
    const parsed = parseInstancesFile(text);
    assert.equal(parsed.services, undefined);
    assert.equal(parsed.problems[0]?.line, line);
    assert.match(parsed.problems[0]?.message ?? '', message);
  });
}

const REFUSED_ALONE: readonly [item: string, message: RegExp][] = [
  [
    '{ address: user.internal, port: 1 }',
    /^services\.bad\[0\]\.address: want an IP address .*got "user\.internal"/,
  ],
  ['{ address: "fe80::1%eth0", port: 1 }', /\.address: want an IP address/],
  ['{ address: 127.0.0.1 }', /^services\.bad\[0\]: "port" is missing/],
  ['{ port: 80 }', /"address" is missing/],
  ['{ address: 127.0.0.1, port: 0 }', /\.port: want a port, 1 to 65535, got 0/],
  ['{ address: 127.0.0.1, port: "80" }', /\.port: want a port, 1 to 65535, got "80"/],
  ['{ address: 127.0.0.1, port: 80, prot: 1 }', /\.prot: unknown field/],
  ['{ address: 127.0.0.1, port: 80, constructor: 1 }', /\.constructor: unknown field/],
  ['{ address: 127.0.0.1, port: 80, load_balancing_weight: 0 }', /want a whole number, 1 to 100/],
  ['{ address: 127.0.0.1, port: 80, health_status: FINE }', /want one of HEALTHY/],
  ['{ address: 127.0.0.1, port: 80, locality: { zome: a } }', /\.locality\.zome: unknown field/],
  [
    String.raw`{ address: 127.0.0.1, port: 80, hostname: "a\ud83d" }`,
    /\.hostname: want a text of whole characters, got "a\\ud83d"$/,
  ],
  [
    String.raw`{ address: 127.0.0.1, port: 80, locality: { zone: "\ude00" } }`,
    /\.locality\.zone: want a text of whole characters/,
  ],
  ['{ dns: "a..b", port: 80 }', /\.dns: want a DNS name/],
  ['{ dns: a.b, port: 80, hostname: x }', /\.hostname: unknown field/],
  ['127.0.0.1:80', /want a map/],
  ['null', /want a map/],
];

for (const [item, message] of REFUSED_ALONE) {
  test(`a service with ${item} is rejected alone`, () => {
    const parsed = parseInstancesFile(`services:\n  good: []\n  bad:\n    - ${item}\n`);
    assert.deepEqual([...(parsed.services ?? [])], [['good', []]]);
    assert.deepEqual(parsed.rejected, ['bad']);
    assert.equal(parsed.problems[0]?.line, 4);
    assert.match(parsed.problems[0]?.message ?? '', message);
  });
}

test('of very many mistakes the first are told with their lines, and where the others begin', () => {
  const wrong = '  - x\n'.repeat(130_000);
  const { problems, rejected } = parseInstancesFile(`services:\n  bad:\n${wrong}`);
  assert.deepEqual(rejected, ['bad']);
  assert.deepEqual(problems.length, 101);
  assert.deepEqual(problems[99]?.line, 102);
  assert.deepEqual(problems[100], { line: 103, message: '129900 further mistakes begin here' });
});

test('a service whose name is empty or has half a character is rejected alone', () => {
  for (const name of ['', String.raw`a\ud83d`]) {
    const { problems, services } = parseInstancesFile(`services: { good: [], "${name}": [] }`);
    assert.deepEqual([...(services ?? [])], [['good', []]]);
    assert.match(problems[0]?.message ?? '', /^services\.a?.?: want a name of whole characters$/);
  }
});
