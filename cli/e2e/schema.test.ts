import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { bundledSchema, kindSchema } from '#resources/json-schema/kind-schema.ts';
import { DOCUMENTED_KINDS } from '#resources/kinds/known-kinds.ts';
import { gateway } from '../testing/gateway.ts';

describe('gateway schema', () => {
  test('prints the schema of all kinds, which needs no other file', async () => {
    const { code, stdout } = await gateway('schema');
    assert.equal(code, 0);
    assert.deepEqual(JSON.parse(stdout), bundledSchema());
    assert.doesNotMatch(stdout, /"\$ref": "[^#]/);
  });

  test('prints the schema of one kind, in any letter case', async () => {
    const { code, stdout } = await gateway('schema', 'tlscontext');
    assert.equal(code, 0);
    assert.deepEqual(JSON.parse(stdout), kindSchema('TLSContext'));
  });

  test('lists the kinds', async () => {
    const { code, stdout } = await gateway('schema', '--list');
    assert.deepEqual([code, stdout], [0, `${DOCUMENTED_KINDS.join('\n')}\n`]);
  });

  for (const [args, message] of [
    [['Maping'], /"Maping" is no kind of the gateway, did you mean `Mapping`\?/],
    [['Deployment'], /"Deployment" is no kind of the gateway\. `gateway schema --list` prints/],
    [[''], /"" is no kind/],
    [['Host', '--list'], /--list prints all kinds: name none/],
    [['Host', 'Mapping'], /too many arguments/],
  ] as const)
    test(`explains what is wrong with ${JSON.stringify(args.join(' '))}`, async () => {
      const { code, stderr, stdout } = await gateway('schema', ...args);
      assert.deepEqual([code, stdout], [1, '']);
      assert.match(stderr, message);
    });
});
