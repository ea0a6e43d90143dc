import assert from 'node:assert/strict';
import { test } from 'node:test';
import { labelSelector } from '#resources/kinds/gateway-api/label-selector.ts';
import { selects } from './label-selector.ts';

const LABELS = { team: 'shop', stage: 'live' };

const CASES: readonly [selector: object, selected: boolean][] = [
  [{}, true],
  [{ matchLabels: { team: 'shop' } }, true],
  [{ matchLabels: { team: 'shop', stage: 'test' } }, false],
  [{ matchLabels: { constructor: 'shop' } }, false],
  [{ matchExpressions: [{ key: 'stage', operator: 'In', values: ['test', 'live'] }] }, true],
  [{ matchExpressions: [{ key: 'stage', operator: 'In', values: ['test'] }] }, false],
  [{ matchExpressions: [{ key: 'region', operator: 'In', values: ['eu'] }] }, false],
  [{ matchExpressions: [{ key: 'stage', operator: 'NotIn', values: ['test'] }] }, true],
  [{ matchExpressions: [{ key: 'stage', operator: 'NotIn', values: ['live'] }] }, false],
  [{ matchExpressions: [{ key: 'region', operator: 'NotIn', values: ['eu'] }] }, true],
  [{ matchExpressions: [{ key: 'team', operator: 'Exists' }] }, true],
  [{ matchExpressions: [{ key: 'toString', operator: 'Exists' }] }, false],
  [{ matchExpressions: [{ key: 'region', operator: 'DoesNotExist' }] }, true],
  [{ matchExpressions: [{ key: 'team', operator: 'DoesNotExist' }] }, false],
  [{ matchLabels: { team: 'shop' }, matchExpressions: [{ key: 'x', operator: 'Exists' }] }, false],
];

for (const [selector, selected] of CASES) {
  test(`${JSON.stringify(selector)} selects ${selected ? 'the labels' : 'nothing'}`, () => {
    assert.equal(selects(labelSelector.parse(selector), LABELS), selected);
  });
}

const BEYOND: readonly [requirement: object, selected: boolean][] = [
  [{ key: 'region', operator: 'DoesNotExist' }, false],
  [{ key: 'region', operator: 'NotIn', values: ['eu'] }, false],
  [{ key: 'stage', operator: 'NotIn', values: ['test'] }, true],
  [{ key: 'team', operator: 'Exists' }, true],
];

for (const [requirement, selected] of BEYOND) {
  test(`where labels may be unknown ${JSON.stringify(requirement)} selects ${selected ? 'them' : 'nothing'}`, () => {
    const selector = labelSelector.parse({ matchExpressions: [requirement] });
    assert.equal(selects(selector, LABELS, false), selected);
  });
}
