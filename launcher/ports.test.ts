import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { instancePorts, MAX_INSTANCES, MAX_PORT_OFFSET, portsAt } from './ports.ts';
import { wantedPorts } from './wanted-ports.ts';

function all(offset: number): readonly number[] {
  const numbers = Array.from({ length: MAX_INSTANCES }, (_, index) => index + 1);
  return [
    ...Object.values(portsAt(offset)),
    ...numbers.flatMap(number => Object.values(instancePorts(offset, number))),
  ];
}

describe('the ports of a system', () => {
  test('are all different', () => {
    assert.equal(new Set(all(0)).size, 10 + 2 * MAX_INSTANCES);
  });

  for (const offset of [100, 200, 1000, 10_000]) {
    test(`and of one moved by ${offset} have none in common`, () => {
      const own = new Set(all(0));
      assert.deepEqual(
        all(offset).filter(port => own.has(port)),
        [],
      );
    });
  }

  test('are ports up to the highest offset', () => {
    assert.ok(Math.max(...all(MAX_PORT_OFFSET)) <= 65_535);
    assert.ok(Math.max(...all(MAX_PORT_OFFSET + 1)) > 65_535);
  });

  test('the demo alone wants one for an identity provider', () => {
    const wanted = (demo: boolean) => wantedPorts(0, 2, demo).map(({ port }) => port);
    assert.deepEqual(
      wanted(true).filter(port => !wanted(false).includes(port)),
      [18_004],
    );
  });
});
