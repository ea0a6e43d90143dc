import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Instance } from './instance.ts';
import { instancesNamed, NO_SUCH_PORT } from './instances-named.ts';

const at = (port: number): readonly Instance[] => [{ address: '10.0.0.1', port }];

const DECLARED = new Map([
  ['users', at(8000)],
  ['users:9000', at(9000)],
  ['shop', at(8000)],
  ['shop:*', NO_SUCH_PORT],
]);

const NAMES: readonly [name: string, ports: readonly number[] | undefined][] = [
  ['users', [8000]],
  ['users:9000', [9000]],
  ['users:80', [8000]],
  ['users:http', undefined],
  ['shop:80', []],
  ['nobody:80', undefined],
  ['nobody', undefined],
];

for (const [name, ports] of NAMES)
  test(`${name} means ${ports === undefined ? 'nothing' : `the ports ${ports}`}`, () => {
    assert.deepEqual(
      instancesNamed(DECLARED, name)?.map(({ port }) => port),
      ports,
    );
  });
