import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const FOLDER = fileURLToPath(new URL('../fixtures', import.meta.url));
const hasGo = spawnSync('go', ['version']).status === 0;

test('the fixtures are what Go gives', { skip: hasGo ? false : 'go is not on the PATH' }, () => {
  const made = execFileSync('go', ['run', '.'], {
    cwd: FOLDER,
    encoding: 'utf8',
    maxBuffer: 2 ** 24,
  });
  assert.equal(made, readFileSync(`${FOLDER}/fixtures.jsonl`, 'utf8'));
});
