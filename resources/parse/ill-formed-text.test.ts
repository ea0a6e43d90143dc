import assert from 'node:assert/strict';
import { test } from 'node:test';
import { documentOf, parseText, problemLines } from '#resources/testing/problem-lines.ts';

const MAPPING = { prefix: '/a', service: 'a' };

for (const [where, spec, field] of [
  ['a value', { ...MAPPING, host_rewrite: '\ud800' }, 'spec.host_rewrite'],
  [
    'a value in a list',
    { ...MAPPING, labels: { d: [{ g: ['\udfffx'] }] } },
    'spec.labels.d[0].g[0]',
  ],
  ['a key', { ...MAPPING, labels: { '\ud800': [] } }, 'spec.labels'],
] as const) {
  test(`half of a surrogate pair in ${where} refuses the resource, and names the field`, () => {
    const parsed = parseText(documentOf('Mapping', spec));
    assert.equal(parsed.rejected.length, 1);
    const lines = problemLines(parsed).filter(line => line.includes('surrogate'));
    assert.ok(lines[0]?.includes(`${field}: `), lines.join('\n'));
  });
}

test('whole pairs are text like any other', () => {
  const parsed = parseText(
    documentOf('Mapping', { ...MAPPING, labels: { d: [{ g: ['\u{1f600}'] }] } }),
  );
  assert.deepEqual([parsed.resources.length, parsed.rejected.length], [1, 0]);
});

test('a name with half of a pair is none: two such resources are not taken for one', () => {
  const names = ['\ud800', '\ud801'].map(
    name => parseText(documentOf('Mapping', MAPPING, name)).rejected[0]?.name,
  );
  assert.deepEqual(names, ['', '']);
});
