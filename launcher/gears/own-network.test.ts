import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { testFiles } from '../test-files.ts';
import { makesInterfaces } from './own-network.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const MAKERS =
  /\b(?:startTestCluster|startConformanceCluster|makeTestHosts|makePodNetwork|startDocker)\b/;

test('each file that makes network interfaces has a network of its own, and no other', () => {
  const files = testFiles(ROOT, []).filter(file => file.includes('/e2e/'));
  const makers = files.filter(file => MAKERS.test(readFileSync(join(ROOT, file), 'utf8')));
  assert.deepEqual(files.filter(makesInterfaces), makers);
});
