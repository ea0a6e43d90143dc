import assert from 'node:assert/strict';
import { test } from 'node:test';
import { resourceSetOf } from '#controlplane/compile/testing/resource-set-of.ts';
import { lonelyGroupProblems, lonelyGroups } from './lonely-groups.ts';

function told(
  groups: readonly string[],
  connected: readonly string[],
  { replicated = false, seconds = 10 } = {},
): readonly string[] {
  const text = groups.map(
    (group, at) =>
      `apiVersion: gateway.internal/v2\nkind: Mapping\nmetadata: {name: m${at}}\nspec: {prefix: /, service: a, node_group: ${group}}\n`,
  );
  const { resources } = resourceSetOf(text.join('---\n'));
  const facts = { resources: resources.mappings, connected: new Set(connected), replicated };
  const lonely = lonelyGroups(lonelyGroups(new Map(), facts, 0), facts, seconds * 1000);
  return lonelyGroupProblems(lonely, facts, seconds * 1000).map(
    ({ line, message }) => `${line}: ${message}`,
  );
}

const REMEDY = (group: string) =>
  `Correct \`node_group\`, or start a proxy with what \`gateway bootstrap ${group}\` prints`;

test('a node group without a proxy is told after a while, with the group that was meant', () => {
  assert.deepEqual(told(['egde'], ['edge'], { seconds: 9 }), []);
  assert.deepEqual(told(['egde', 'shop', 'egde', 'edge'], ['edge']), [
    `4: no proxy of node group "egde" is connected, so nothing runs this, did you mean "edge"? The same for 1 more. ${REMEDY('egde')}`,
    `9: no proxy of node group "shop" is connected, so nothing runs this. ${REMEDY('shop')}`,
  ]);
});

test('a node group with a proxy is fine', () => {
  assert.deepEqual(told(['shop'], ['edge', 'shop']), []);
});

test('an instance is not taken for another one', () => {
  assert.deepEqual(told(['users-2'], ['edge', 'users-1']), [
    `4: no proxy of node group "users-2" is connected, so nothing runs this. ${REMEDY('users-2')}`,
  ]);
});

test('nothing is told while no proxy is connected', () => {
  assert.deepEqual(told(['shop'], []), []);
});

test('the edge may come later', () => {
  assert.deepEqual(told(['edge'], ['shop']), []);
});

test('with replicas another control plane may have the proxy, unless the name looks misspelt', () => {
  for (const group of ['shop', 'edge-b', 'edge2', 'users-2', 'users-21'])
    assert.deepEqual(told([group], ['edge', 'users-12'], { replicated: true }), []);
  assert.equal(told(['egde'], ['edge'], { replicated: true }).length, 1);
});
