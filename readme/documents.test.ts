import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import manifest from '../package.json' with { type: 'json' };
import { codeBlocks, commands, readDocument } from './code-blocks.ts';
import { resourceProblems } from './resource-problems.ts';

const README = readDocument('README.md');

describe('README.md', () => {
  test('shows resources without a problem', () => {
    for (const block of codeBlocks(README, 'yaml'))
      assert.deepEqual(resourceProblems('README.md', block), []);
  });

  test('names scripts that npm has', () => {
    const scripts = commands(README).flatMap(line => /^npm (\w+)/.exec(line)?.slice(1) ?? []);
    assert.deepEqual(scripts, ['start', 'test']);
    for (const script of scripts) assert.ok(Object.hasOwn(manifest.scripts, script), script);
  });
});
