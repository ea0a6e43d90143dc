import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { compile } from '#controlplane/compile/compile.ts';
import { nodeGroups } from '#controlplane/compile/node-groups.ts';
import { parseFile } from '#resources/parse.ts';
import { DEFAULT_PARSE_OPTIONS } from '#resources/parse-options.ts';
import { toResourceSet } from '#resources/resource-set.ts';
import manifest from '../package.json' with { type: 'json' };
import { codeBlocks, commands, readDocument } from './code-blocks.ts';

const README = readDocument('README.md');

describe('README.md', () => {
  test('shows resources without a problem', () => {
    for (const [at, block] of codeBlocks(README, 'yaml').entries()) {
      const { problems, resources } = parseFile(`block ${at}`, block, DEFAULT_PARSE_OPTIONS);
      const set = toResourceSet(resources, []);
      const address = { host: '127.0.0.1', port: 8080 };
      const between = nodeGroups(set).flatMap(
        group =>
          compile(set, group, { edge: address, sds: address, rateLimit: address, extAuthz: address })
            .problems,
      );
      assert.deepEqual([...problems, ...between], []);
      assert.ok(resources.length > 0);
    }
  });

  test('names scripts that npm has', () => {
    const scripts = commands(README).flatMap(line => /^npm (\w+)/.exec(line)?.slice(1) ?? []);
    assert.deepEqual(scripts, ['start', 'test']);
    for (const script of scripts) assert.ok(Object.hasOwn(manifest.scripts, script), script);
  });
});
