import assert from 'node:assert/strict';
import { test } from 'node:test';
import { toResourceSet } from '#resources/resource-set.ts';
import { gatewayGroup } from '#resources/words/gateway-group.ts';
import type { RouteRow } from './route-row.ts';
import { security } from './security.ts';

const LISTENERS = [{ id: 'Gateway/default/site/web', port: 80, protocol: 'HTTP' }];
const SITE = gatewayGroup('default', 'site');

function openOf(id: string, nodeGroup: string, more: Partial<RouteRow> = {}) {
  const row: Partial<RouteRow> = { id, nodeGroup, covered: 'none', listeners: [], ...more };
  const facts = { states: [], problems: [], requests: [], rows: [row as RouteRow] };
  return security({ ...facts, resources: toResourceSet([], []) }).open;
}

test('open routes are those that clients reach, at the edge and at Gateways', () => {
  const none = { none: 0, part: 0, bypass: 0 };
  const web = 'HTTPRoute/default/web';
  assert.deepEqual(openOf('Mapping/default/a', 'edge'), { ...none, none: 1 });
  assert.deepEqual(openOf(web, SITE, { listeners: LISTENERS }), { ...none, none: 1 });
  assert.deepEqual(openOf(web, SITE, { listeners: LISTENERS, covered: 'part' }), {
    ...none,
    part: 1,
  });
  assert.deepEqual(openOf('Mapping/default/a', 'orders'), none);
  assert.deepEqual(openOf(web, 'edge'), none, 'no listener serves it');
  assert.deepEqual(openOf('Mapping/default/a', 'edge', { instead: 'redirect' }), none);
});
