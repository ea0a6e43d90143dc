import assert from 'node:assert/strict';
import { test } from 'node:test';
import { UNREADABLE_TARGET } from '#resources/kinds/gateway-api/policy-target.ts';
import type { Rejected } from '#resources/resource.ts';
import { toResourceSet } from '#resources/resource-set.ts';
import { closedPolicyProblems } from './policy-problems.ts';

const REFUSED: Rejected = {
  kind: 'FilterPolicy',
  namespace: 'default',
  name: 'site',
  id: 'FilterPolicy/default/site',
  source: { file: 'a.yaml', line: 3 },
};
const messages = (...closed: readonly Rejected[]) =>
  closedPolicyProblems(toResourceSet([], closed)).map(({ message }) => message);

test('a rejected FilterPolicy has a Problem that names what answers 500 by it', () => {
  const rules = [{ host: 'a.test', path: '/admin/*' }, { path: '/b' }];
  const covered = 'path /admin/* of host a.test answers 500, path /b of host * answers 500';
  assert.deepEqual(messages({ ...REFUSED, rules }), [`the FilterPolicy is rejected: ${covered}`]);
});

test('a rejected FilterPolicy names what it was for, and its namespace where that cannot be read', () => {
  const targets = [{ group: '', kind: 'HTTPRoute', name: 'shop' }, UNREADABLE_TARGET];
  const covered =
    'the HTTPRoute shop answers 500, every Gateway, ListenerSet and route of the namespace default answers 500';
  assert.deepEqual(messages({ ...REFUSED, rules: [], targets }), [
    `the FilterPolicy is rejected: ${covered}`,
  ]);
});

test('a rejected FilterPolicy of which no rule can be read closes every path', () =>
  assert.deepEqual(messages(REFUSED), [
    'the FilterPolicy is rejected: path * of host * answers 500',
  ]));

test('a rejected FilterPolicy without rules closes nothing, and other kinds have no paths', () =>
  assert.deepEqual(messages({ ...REFUSED, rules: [] }, { ...REFUSED, kind: 'Filter' }), []));
