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

  test('those of the edge are wanted where its variables say, which move them', () => {
    const edge = { EDGE_ADDRESS: '0.0.0.0:80', EDGE_TLS_ADDRESS: '127.0.0.1:8443' };
    const [http, https] = wantedPorts(0, 0, false, edge);
    assert.deepEqual(http, {
      host: '0.0.0.0',
      port: 80,
      what: 'the edge',
      variable: 'EDGE_ADDRESS',
    });
    assert.deepEqual(https, { host: '127.0.0.1', port: 8443, what: 'the edge (https)' });
    assert.throws(
      () => wantedPorts(0, 0, false, { ...edge, EDGE_ADDRESS: '80' }),
      /^Error: EDGE_ADDRESS is "80": want host:port/,
    );
  });

  test('the demo alone wants one for an identity provider', () => {
    const wanted = (demo: boolean) => wantedPorts(0, 2, demo).map(({ port }) => port);
    assert.deepEqual(
      wanted(true).filter(port => !wanted(false).includes(port)),
      [18_004],
    );
  });
});
