import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Rule } from '#ext-authz/policy/rule.ts';
import { ruleItem, ruleOf } from '#ext-authz/testing/rules.ts';
import { jwt } from '#ext-authz/testing/run-filters.ts';
import { allowing } from '#ext-authz/testing/scripted-kit.ts';
import { activateRules } from './active-rules.ts';

const NAMES = ['a', 'b'].map(name => `default/${name}`);
const RUNNABLE = new Map(NAMES.map(name => [name, jwt(allowing())]));
const byPath: Rule = { ...ruleOf(ruleItem('b', { onAllow: 'break' })), path: '/both/*' };
const ofRoute: Rule = {
  ...ruleOf(ruleItem('a', { onDeny: 'continue', onAllow: 'break' })),
  routeRule: 'HTTPRoute/default/site/0',
};
const active = activateRules([byPath, ofRoute], new Map(), RUNNABLE);

function selected(target: string, routeRule?: string): Rule | undefined {
  const asked = { authority: 'site.test', target, ...(routeRule && { routeRule }) };
  const found = active.select(asked);
  assert.ok('rule' in found);
  return found.rule;
}

test("the rule of a route is for that route's requests alone", () => {
  assert.equal(selected('/other'), undefined);
  assert.deepEqual(
    selected('/other', 'HTTPRoute/default/site/0')?.items.map(({ filter }) => filter),
    ['default/a'],
  );
});

test('filters of a route come before those by path, and skip none of them', () => {
  const items = selected('/both/x', 'HTTPRoute/default/site/0')?.items ?? [];
  assert.deepEqual(
    items.map(({ filter, onAllow, onDeny }) => [filter, onDeny, onAllow]),
    [
      ['default/a', 'break', 'continue'],
      ['default/b', 'break', 'break'],
    ],
  );
});

test('a joined rule is in force, and made once', () => {
  const rule = selected('/both/x', 'HTTPRoute/default/site/0');
  assert.ok(rule !== undefined && active.headers.has(rule));
  assert.equal(selected('/both/y', 'HTTPRoute/default/site/0'), rule);
});

for (const target of ['/other', '/both/x']) {
  test(`a rule of a route that is not known closes ${target}`, () => {
    const rule = selected(target, 'HTTPRoute/default/other/0');
    assert.ok(rule !== undefined && active.closed.has(rule));
    assert.ok(!active.headers.has(rule));
    assert.equal(selected(target, 'HTTPRoute/default/other/0'), rule);
  });
}
