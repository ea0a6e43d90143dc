import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { readDocument } from './code-blocks.ts';

const SOURCE = join(import.meta.dirname, '..', 'controlplane', 'status', 'object-state.ts');

test('docs/reference/kubernetes-objects.md has every reason of a condition', () => {
  const source = readFileSync(SOURCE, 'utf8');
  const reasons = [...source.matchAll(/(?:\bno\(|said\(\s*'\w+',)\s*'(\w+)'/g)].map(
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
