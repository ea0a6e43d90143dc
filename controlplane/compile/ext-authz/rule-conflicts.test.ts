import assert from 'node:assert/strict';
import { test } from 'node:test';
import { stringify } from 'yaml';
import { resourceSetOf } from '../testing/resource-set-of.ts';
import { written } from '../testing/written.ts';
import { ruleConflicts } from './rule-conflicts.ts';
import { orderedRules, ruleFinder } from './rule-order.ts';

const TENANTS = 200;

/** For each tenant a policy that opens a path, and one behind it that closes others. */
function policiesOf(place: (tenant: number) => { readonly host: string; readonly path: string }) {
  return Array.from({ length: TENANTS }, (_, tenant) => {
    const { host, path } = place(tenant);
    const name = `tenant-${tenant}`;
    return [
      written('FilterPolicy', 'default', `${name}-a`, {
        rules: [{ host, path: `${path}health`, filters: [] }],
      }),
      written('FilterPolicy', 'default', `${name}-b`, {
        rules: [{ host, path: `${path}private/*`, filters: [{ name: 'jwt' }] }],
      }),
    ];
  }).flat();
}

/** Counts how often the beginning of a host or path is looked at. */
function lookingAt(documents: readonly object[]) {
  const yaml = documents.map(document => stringify(document)).join('---\n');
  let looks = 0;
  const counting = <Counted extends { readonly prefix: string }>(glob: Counted): Counted => ({
    ...glob,
    get prefix() {
      looks += 1;
      return glob.prefix;
    },
  });
  const rules = orderedRules(resourceSetOf(yaml).resources.filterPolicies);
  const counted = rules.map(rule => ({
    ...rule,
    host: counting(rule.host),
    path: counting(rule.path),
  }));
  const problems = ruleConflicts(counted, ruleFinder(counted));
  return { looks, problems };
}

for (const [what, place] of [
  ['host', (tenant: number) => ({ host: `t${tenant}.test`, path: '/' })],
  ['domain', (tenant: number) => ({ host: `*.t${tenant}.test`, path: '/' })],
  ['path', (tenant: number) => ({ host: '*', path: `/t${tenant}/` })],
] as const)
  test(`a rule that opens is compared with those of its ${what} alone`, () => {
    const { looks, problems } = lookingAt(policiesOf(place));
    assert.deepEqual(problems, []);
    assert.ok(looks < 100 * TENANTS, `${looks} looks`);
  });
