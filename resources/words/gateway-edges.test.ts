import assert from 'node:assert/strict';
import { test } from 'node:test';
import { edgesName } from './gateway-edges.ts';

test('each gateway has a name for its edges, which is the value of a label', () => {
  assert.equal(edgesName('default'), 'gateway-edges');
  assert.equal(edgesName('two'), 'gateway-edges-two');
  const names = ['Of any form!', 'a'.repeat(200), '-'].map(edgesName);
  for (const name of names) assert.match(name, /^[a-z0-9-]{1,62}[a-z0-9]$/);
  assert.equal(new Set(names).size, names.length);
});
