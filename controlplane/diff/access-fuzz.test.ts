import assert from 'node:assert/strict';
import { test } from 'node:test';
import { resourceSetOf } from '#controlplane/compile/testing/resource-set-of.ts';
import { seededRandom } from '#protos/testing/random.ts';
import type { ResourceSet } from '#resources/resource-set.ts';
import { covers } from './region.ts';
import { differing } from './testing/differing.ts';
import {
  changedWorld,
  explained,
  mayMeet,
  type RandomRequest,
  randomRequest,
  randomWorld,
  textOf,
} from './testing/random-world.ts';

/** Returns the Filters that a request must pass, or that it is closed, or has no route. */
function decided(resources: ResourceSet, request: RandomRequest) {
  const { answer, filters, route } = explained(resources, request);
  if (route === undefined) return 'no route';
  if (filters?.decision === 'closed' || answer?.status === 500) return 'closed';
  if (filters?.decision !== 'chain') return new Set<string>();
  const [, policyId = '', index = ''] = [
    '',
    filters.rule.resource.replace('FilterPolicy ', ''),
    /\d+/.exec(filters.rule.field)?.[0],
  ];
  const found = resources.filterPolicies.find(
    ({ namespace, name }) => `${namespace}/${name}` === policyId,
  );
  const items = found?.spec.rules[Number(index)]?.filters ?? [];
  const skipping = items.findIndex(({ onAllow }) => onAllow === 'break');
  const reached = skipping === -1 ? items : items.slice(0, skipping + 1);
  const sure = reached.filter(
    ({ ifRequestHeader, onDeny }) => !ifRequestHeader && onDeny === 'break',
  );
  return new Set(sure.map(({ name }) => name));
}

const SEEDS = 60;
const REQUESTS = 32;

test('no request loses a Filter, or opens, without a line that tells it', () => {
  let lost = 0;
  for (let seed = 1; seed <= SEEDS; seed++) {
    const random = seededRandom(seed);
    const docs = randomWorld(random);
    const [before, after] = [textOf(docs), textOf(changedWorld(docs, random))];
    const { access } = differing(before, after);
    const loud = access.filter(({ effect }) => ['lost', 'opened', 'replaced'].includes(effect));
    const [was, is] = [resourceSetOf(before), resourceSetOf(after)];
    for (let count = 0; count < REQUESTS; count++) {
      const request = randomRequest(random);
      const [old, next] = [decided(was.resources, request), decided(is.resources, request)];
      if (old === 'no route' || typeof next === 'string') continue;
      const isLost = old === 'closed' ? next.size === 0 : [...old].some(name => !next.has(name));
      if (!isLost) continue;
      lost += 1;
      assert.ok(
        loud.some(region => covers(region, request) && mayMeet(region.conditions ?? [], request)),
        `seed ${seed}: ${JSON.stringify(request)} ${JSON.stringify(access)}\n${before}\n=== then\n${after}`,
      );
    }
  }
  assert.ok(lost > 40, `only ${lost} requests lost a Filter`);
});
