import assert from 'node:assert/strict';
import { test } from 'node:test';
import { documentOf, parseText, problemsOf } from '#resources/testing/problem-lines.ts';
import { whyUnreachable } from './unreachable-prefix.ts';

const PRINTABLE = Array.from({ length: 0x7f - 0x21 }, (_, index) =>
  String.fromCharCode(0x21 + index),
);
const escaped = (character: string) =>
  `%${character.charCodeAt(0).toString(16).padStart(2, '0').toUpperCase()}`;

test('of plain characters a prefix may have all that Envoy leaves as they are', () => {
  const changed = PRINTABLE.filter(character => whyUnreachable(`/a${character}b`) !== undefined);
  assert.equal(changed.join(''), '"<>\\^`{|}');
});

test('of escaped characters a prefix may have all that may not stand plainly', () => {
  const changed = PRINTABLE.filter(
    character => whyUnreachable(`/a${escaped(character)}b`) !== undefined,
  );
  assert.equal(
    changed.join(''),
    '-.0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz~',
  );
  const lowerCase = PRINTABLE.filter(
    c => whyUnreachable(`/a${escaped(c).toLowerCase()}b`) !== undefined,
  );
  assert.deepEqual(lowerCase, changed);
});

for (const [prefix, reason] of [
  ['/user/{id}/', '"{" arrives as "%7B". Write that'],
  ['/%7Eada/', '"%7E" arrives as "~". Write that'],
  ['/a\\b', '"\\\\" arrives as "/". Write that'],
  ['/a//b', '"//", "/./" and "/../" are resolved before paths are compared'],
] as const) {
  test(`a prefix ${prefix} is warned of, in a Mapping and in a ProxyConfig`, () => {
    const mapping = { prefix, service: 'a' };
    assert.deepEqual(problemsOf('Mapping', mapping), [
      `warning spec.prefix: it matches nothing: ${reason}`,
    ]);
    assert.equal(parseText(documentOf('Mapping', mapping)).resources.length, 1);
    const config = {
      node_group: 'edge',
      listener: { port: 8080 },
      virtual_hosts: [{ name: 'a', domains: ['*'], routes: [{ prefix, cluster: 'a' }] }],
      clusters: [{ name: 'a', type: 'sds' }],
    };
    assert.deepEqual(problemsOf('ProxyConfig', config), [
      `warning spec.virtual_hosts[0].routes[0].prefix: it matches nothing: ${reason}`,
    ]);
  });
}

test('an expression may have braces', () => {
  assert.deepEqual(
    problemsOf('Mapping', { prefix: '/a{2}', prefix_regex: true, service: 'a' }),
    [],
  );
});
