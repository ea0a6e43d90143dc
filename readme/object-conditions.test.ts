import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { readDocument } from './code-blocks.ts';

const SOURCES = ['object-state.ts', 'conditions.ts'].map(file =>
  join(import.meta.dirname, '..', 'controlplane', 'status', file),
);

test('docs/reference/kubernetes-objects.md has every reason of a condition', () => {
  const source = SOURCES.map(file => readFileSync(file, 'utf8')).join('');
  const reasons = [...source.matchAll(/(?:\bno\(|said\(\s*'\w+',|\breason:)\s*'(\w+)'/g)].map(
    ([, reason = '']) => reason,
  );
  const documented = [
    ...readDocument('docs/reference/kubernetes-objects.md').matchAll(/^\| `\w+` \| `(\w+)` \|/gm),
  ];
  assert.ok(reasons.length > 5);
  assert.deepEqual(
    [...new Set(documented.map(([, reason]) => reason))].sort(),
    [...new Set(reasons)].sort(),
  );
});
