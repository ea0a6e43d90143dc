import assert from 'node:assert/strict';
import { test } from 'node:test';
import { installedPackages } from './installed-packages.ts';

/** To pass such a package on asks for its notices, and for nothing else. */
const PERMISSIVE = ['0BSD', 'Apache-2.0', 'BSD-2-Clause', 'BSD-3-Clause', 'ISC', 'MIT'];
/** A choice of licences, of which one is taken. */
const CHOICES: Readonly<Record<string, string>> = {
  '(BSD-3-Clause OR GPL-2.0)': 'BSD-3-Clause',
};

test('each package that is installed with ours has a permissive licence', () => {
  const others = installedPackages()
    .map(([path, { license = 'none' }]) => [path, CHOICES[license] ?? license] as const)
    .filter(([, license]) => !PERMISSIVE.includes(license));
  assert.deepEqual(others, []);
});
