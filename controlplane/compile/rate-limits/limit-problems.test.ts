import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Memo } from '../memo.ts';
import { resourceSetOf } from '../testing/resource-set-of.ts';
import { groupShapes } from './label-shape.ts';
import { labellings } from './labelling.ts';
import { limitProblems } from './limit-problems.ts';

const SHOP = `---
apiVersion: gateway.internal/v2
kind: RateLimit
metadata: { name: shop }
spec:
  targetRefs: [{ kind: HTTPRoute, name: shop }]
  limits:
  - labels: [remote_address, { user: { header: X-User } }]
    pattern: [{ remote_address: "*" }]
    rate: 1
    unit: day
`;

function problemsOf(text: string) {
  const { resources } = resourceSetOf(text);
  const memo = new Memo();
  const [labelling] = labellings(resources).domains;
  assert.ok(labelling !== undefined);
  const known = {
    groups: groupShapes(resources, labelling, memo),
    clusterNames: () => [],
    escapable: { forwarded: [], targets: [] },
    prefixes: resources.config.remote_address_prefix,
  };
  return limitProblems(resources.rateLimits, known, memo);
}

test('a label that no request has is where the operator wrote it, also in a limit for targets', () => {
  const pattern = '[{ remote_address: "*" }, { usr: ada }]';
  const [problem, ...more] = problemsOf(SHOP.replace('[{ remote_address: "*" }]', pattern));
  assert.equal(problem?.field, 'spec.limits[0].pattern[1]');
  assert.match(problem?.message ?? '', /has usr=ada after generic_key=/);
  assert.deepEqual(more, []);
});

test('where a wrong limit is left out, those behind it keep their places', () => {
  const wrong = '  limits:\n  - { rate: -1, unit: day }\n';
  const unmet = SHOP.replace('[{ remote_address: "*" }]', '[{ usr: ada }]');
  const problems = problemsOf(unmet.replace('  limits:\n', wrong));
  assert.deepEqual(
    problems.map(({ field, line }) => `${line} ${field}`),
    ['10 spec.limits[1].pattern[0]'],
  );
});

test('a pattern for any value neither meets nor hides a limit for targets', () => {
  const trial = `---
apiVersion: gateway.internal/v2
kind: RateLimit
metadata: { name: trial }
spec:
  domain: gateway
  limits:
  - pattern: [{ generic_key: "*" }, { remote_address: "*" }, { user: "*" }]
    action: LogOnly
    rate: 1
    unit: day
`;
  const [problem, ...more] = problemsOf(SHOP + trial);
  assert.equal(problem?.field, 'spec.limits[0].pattern[0]');
  assert.match(
    problem?.message ?? '',
    /^no label group of domain "gateway" starts with generic_key\./,
  );
  assert.deepEqual(more, []);
});
