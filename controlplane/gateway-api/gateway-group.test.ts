import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseNodeGroup } from '#resources/words/node-group.ts';
import { gatewayGroup } from './gateway-group.ts';

test('the group of a Gateway begins with its namespace and name', () => {
  assert.match(gatewayGroup('shop', 'public'), /^shop-public-[0-9a-f]{8}$/);
});

test('Gateways whose names meet around the hyphen have different groups', () => {
  assert.notEqual(gatewayGroup('a-b', 'c'), gatewayGroup('a', 'b-c'));
});

test('every name of a Gateway gives the name of a node group', () => {
  const names = ['g', 'g.example.com', 'g'.repeat(63), `${'g'.repeat(40)}.${'h'.repeat(200)}`];
  const groups = names.map(name => gatewayGroup('n'.repeat(63), name));
  assert.deepEqual(
    [...groups, gatewayGroup('n', 'a.b')].map(parseNodeGroup).filter(parsed => 'error' in parsed),
    [],
  );
});
