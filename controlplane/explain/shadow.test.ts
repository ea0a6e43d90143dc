import assert from 'node:assert/strict';
import { test } from 'node:test';
import { describe } from './describe.ts';
import { document, explained } from './testing/explained.ts';

const RESOURCES = [
  document('Mapping', 'a-shadow', '{prefix: /, service: all, shadow: true}'),
  document('Mapping', 'main', '{prefix: /, service: main}'),
  document('Mapping', 'part', '{prefix: /, service: part, shadow: true, weight: 10}'),
].join('');

test('who gets copies of a request is told beside who gets it', () => {
  const explanation = explained(RESOURCES);
  assert.equal(explanation.route?.resource, 'Mapping default/main');
  const lines = describe(explanation).split('\n');
  const from = lines.indexOf('Target cluster');
  assert.deepEqual(lines.slice(from, from + 5), [
    'Target cluster',
    '  main',
    'Copies',
    '    100 %  all, Mapping default/a-shadow (in.yaml:2)',
    '     10 %  part, Mapping default/part (in.yaml:12)',
  ]);
});
