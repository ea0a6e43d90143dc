import assert from 'node:assert/strict';
import { test } from 'node:test';
import { edgeName, labelValue } from './edge-names.ts';

const DNS_LABEL = /^[a-z]([a-z0-9-]{0,61}[a-z0-9])?$/;
const LABEL_VALUE = /^[A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?$/;

test('the objects of a Gateway are named after it and its class', () => {
  assert.equal(edgeName('public', 'gateway'), 'public-gateway');
});

test('every name of a Gateway gives a name that a Service may have', () => {
  const names = ['a'.repeat(253), '1.2.3', 'shop.example', '0', `${'a'.repeat(53)}.b`];
  for (const name of names) assert.match(edgeName(name, 'gateway'), DNS_LABEL, name);
  assert.match(edgeName('public', `class.${'b'.repeat(240)}`), DNS_LABEL);
});

test('Gateways with equal beginnings have different names', () => {
  const [first, second] = ['b', 'c'].map(end => edgeName(`${'a'.repeat(200)}${end}`, 'gateway'));
  assert.notEqual(first, second);
  assert.notEqual(edgeName('a.b', 'gateway'), edgeName('a-b', 'gateway'));
});

test('every name of a Gateway gives the value of a label', () => {
  for (const name of ['public', '1.2.3', 'a'.repeat(253), `${'a'.repeat(53)}.${'b'.repeat(20)}`])
    assert.match(labelValue(name), LABEL_VALUE, name);
  assert.equal(labelValue('shop.example'), 'shop.example');
});
