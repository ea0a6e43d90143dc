import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type Gear, HELP, parseGear } from './gear.ts';

describe('npm test', () => {
  for (const [args, gear] of [
    [[], { kind: 'quick' }],
    [['--all'], { kind: 'all' }],
    [['--help'], { kind: 'help' }],
    [['-h'], { kind: 'help' }],
    [['--changed'], { kind: 'changed' }],
    [['--changed', 'v1'], { kind: 'changed', base: 'v1' }],
    [['xds', 'sds/main.test.ts'], { kind: 'named', names: ['xds', 'sds/main.test.ts'] }],
  ] as const satisfies readonly [readonly string[], Gear][])
    test(`with [${args.join(' ')}] is ${JSON.stringify(gear)}`, () => {
      assert.deepEqual(parseGear(args), gear);
    });

  for (const [args, wrong] of [
    [['--al'], '--al'],
    [['--all', 'xds'], 'xds'],
    [['--changed', '--all'], '--all'],
    [['--changed', 'v1', 'xds'], 'xds'],
    [['xds', '--all'], '--all'],
  ] as const)
    test(`with [${args.join(' ')}] names what it does not know`, () => {
      assert.throws(
        () => parseGear(args),
        new RegExp(`^Error: npm test does not know "${wrong}" here`),
      );
    });

  test('tells of each gear when it is asked for help', () => {
    for (const option of ['--all', '--changed', '<path>', '--help'])
      assert.ok(HELP.includes(option));
  });
});
