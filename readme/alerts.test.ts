import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { readDocument } from './code-blocks.ts';

const RULES = join(import.meta.dirname, '../deploy/kubernetes/monitoring/prometheus-rules.yaml');

test('the page about metrics says of each alert what to do', () => {
  const alerts = namesIn(readFileSync(RULES, 'utf8'), /^ +- alert: (\w+)$/gm);
  assert.notEqual(alerts.length, 0);
  assert.deepEqual(namesIn(readDocument('docs/how-to/metrics.md'), /^\| `(\w+)` \|/gm), alerts);
});

function namesIn(text: string, row: RegExp): readonly string[] {
  return [...text.matchAll(row)]
    .map(([, name = '']) => name)
    .filter(name => name.startsWith('Gateway'));
}
