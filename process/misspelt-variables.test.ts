import assert from 'node:assert/strict';
import { test } from 'node:test';
import { misspeltVariables, VARIABLES } from './misspelt-variables.ts';

const CASES: readonly (readonly [written: string, meant: string | undefined])[] = [
  ['HOP_TSL', 'HOP_TLS'],
  ['EDGE_ADRESS', 'EDGE_ADDRESS'],
  ['REDIS_URLL', 'REDIS_URL'],
  ['RESOURCE', 'RESOURCES'],
  ['RESOURCE5', 'RESOURCES'],
  ['XRESOURCES', 'RESOURCES'],
  ['log_level', 'LOG_LEVEL'],
  ['HOP_TLS', undefined],
  ['', undefined],
  ['STAT', undefined],
  ['PORTS', undefined],
  ['NODE_ENV', undefined],
  ['REDIS_PORT', undefined],
  ['EDGE_ADRES', undefined],
  ['CONTROLPLANE_SERVICE_HOST', undefined],
];
for (const [written, meant] of CASES)
  test(`the variable "${written}" ${meant === undefined ? 'is no mistake' : `is meant as ${meant}`}`, () => {
    assert.deepEqual(
      misspeltVariables({ [written]: 'secret' }),
      meant === undefined ? [] : [`nothing reads the variable ${written}. Is ${meant} meant?`],
    );
  });

test('a name that is near to one that is set is of another program', () => {
  assert.deepEqual(misspeltVariables({ REDIS_URL: 'redis://a', REDIS_URL2: 'redis://b' }), []);
});

test('all variables together have no mistake', () => {
  assert.deepEqual(misspeltVariables(Object.fromEntries(VARIABLES.map(name => [name, '']))), []);
});
