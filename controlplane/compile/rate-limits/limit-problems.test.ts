import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Memo } from '../memo.ts';
import { resourceSetOf } from '../testing/resource-set-of.ts';
import { groupShapes } from './label-shape.ts';
import { labellings } from './labelling.ts';
import { limitProblems } from './limit-problems.ts';

test('a label that no request has is where the operator wrote it, also in a limit for targets', () => {
  const { resources } = resourceSetOf(`
apiVersion: gateway.internal/v2
kind: RateLimit
metadata: { name: shop }
spec:
  targetRefs: [{ kind: HTTPRoute, name: shop }]
  limits:
  - labels: [remote_address, { user: { header: X-User } }]
    pattern: [{ remote_address: "*" }, { usr: ada }]
    rate: 1
    unit: day
`);
  const memo = new Memo();
  const [labelling] = labellings(resources).domains;
  assert.ok(labelling !== undefined);
  const known = {
    groups: groupShapes(resources, labelling, memo),
    clusterNames: [],
    targets: [],
    prefixes: resources.config.remote_address_prefix,
  };
  const [problem, ...more] = limitProblems(resources.rateLimits, known, memo);
  assert.equal(problem?.field, 'spec.limits[0].pattern[1]');
  assert.match(problem?.message ?? '', /has usr=ada after generic_key=/);
  assert.deepEqual(more, []);
});
