import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cases } from '#protos/testing/cases.ts';
import { covers } from './region.ts';
import { fuzz, type Side } from './testing/fuzz.ts';
import {
  mayMeet,
  type RandomRequest,
  randomSite,
  randomWorld,
  SITE_PORT,
} from './testing/random-world.ts';

/** Returns the Filters that a request must pass, or that it is closed, or has no route. */
function decided({ explain, resources }: Side, request: RandomRequest, port?: number) {
  const { answer, asks = [], filters, route } = explain(request, port);
  if (route === undefined) return 'no route';
  if (filters?.decision === 'closed' || answer?.status === 500) return 'closed';
  if (filters?.decision !== 'chain') return new Set(asks);
  if (port !== undefined)
    return new Set([...filters.chain.map(({ resource }) => resource), ...asks]);
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

function isLost(old: ReturnType<typeof decided>, next: ReturnType<typeof decided>): boolean {
  if (old === 'no route' || typeof next === 'string') return false;
  return old === 'closed' ? next.size === 0 : [...old].some(name => !next.has(name));
}

for (const [what, world, port, least] of [
  ['of Mappings', randomWorld, undefined, cases({ all: 40, quick: 5 })],
  ['of Gateways', randomSite, SITE_PORT, cases({ all: 30, quick: 5 })],
] as const)
  test(`no request ${what} loses a Filter, or opens, without a line that tells it`, () => {
    const lost = fuzz(world, ({ request, was, is, difference: { access }, told }) => {
      if (!isLost(decided(was, request, port), decided(is, request, port))) return false;
      const loud = access.filter(({ effect }) => ['lost', 'opened', 'replaced'].includes(effect));
      assert.ok(
        loud.some(region => covers(region, request) && mayMeet(region.conditions ?? [], request)),
        told(access),
      );
      return true;
    });
    assert.ok(lost > least, `only ${lost} requests lost a Filter`);
  });
