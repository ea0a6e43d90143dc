import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gatewayGroup, isGatewayGroup } from './gateway-group.ts';
import { nodeGroup, parseNodeGroup } from './node-group.ts';

test('the node group of a Gateway begins with its namespace and its name', () => {
  assert.match(gatewayGroup('shop', 'public'), /^shop-public-[0-9a-f]{16}$/);
});

test('every Gateway has a node group of its own', () => {
  const long = 'a'.repeat(252);
  const gateways = [
    ['a', 'b-c'],
    ['a-b', 'c'],
    ['a', 'b.c'],
    ['1', '2'],
    ['n'.repeat(63), `${'g'.repeat(40)}.${'h'.repeat(200)}`],
    ['shop', `${long}a`],
    ['shop', `${long}b`],
  ] as const;
  const groups = gateways.map(([namespace, name]) => gatewayGroup(namespace, name));
  assert.equal(new Set(groups).size, groups.length);
  for (const group of groups) assert.ok('value' in parseNodeGroup(group), group);
});

test('the proxies of a Gateway are known by their group, which no operator can write', () => {
  const group = gatewayGroup('shop', 'public');
  assert.ok(isGatewayGroup(group));
  assert.ok(!nodeGroup.safeParse(group).success);
  for (const other of ['edge', 'user-service-1', 'shop-0123456789abcde', '']) {
    assert.ok(!isGatewayGroup(other), other);
    assert.equal(nodeGroup.safeParse(other).success, other !== '');
  }
});
