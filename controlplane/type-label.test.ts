import assert from 'node:assert/strict';
import { test } from 'node:test';
import { typeLabel } from '#controlplane/status/status.ts';
import { CLUSTER, FILTER } from '#protos/type-url.ts';

test('types that a client made up share one label in the metrics', () => {
  const labels = [CLUSTER, FILTER, 'type.googleapis.com/a.B', 'c/a.B', ''].map(typeLabel);
  assert.deepEqual(labels, ['Cluster', 'Filter', 'other', 'other', 'other']);
});
