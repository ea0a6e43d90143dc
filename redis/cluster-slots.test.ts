import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { parseClusterSlots, parseRedirect } from './cluster-slots.ts';

describe('CLUSTER SLOTS', () => {
  test('names the master of each range', () =>
    assert.deepEqual(
      parseClusterSlots(
        [
          [0, 5460, ['10.0.0.1', 6379, 'id', []], ['10.0.0.4', 6379, 'id', []]],
          [5461, 16383, ['10.0.0.2', 6380, 'id', []]],
        ],
        'seed',
      ),
      [
        { from: 0, to: 5460, master: { host: '10.0.0.1', port: 6379 } },
        { from: 5461, to: 16383, master: { host: '10.0.0.2', port: 6380 } },
      ],
    ));

  test('leaves out the address of the node that was asked when it does not know it', () =>
    assert.deepEqual(
      [
        ['', 1],
        [null, 2],
      ]
        .flatMap(node => parseClusterSlots([[0, 1, node]], 'seed'))
        .map(({ master }) => master),
      [
        { host: 'seed', port: 1 },
        { host: 'seed', port: 2 },
      ],
    ));

  test('is nothing when it is odd', () => {
    for (const reply of [
      null,
      'x',
      7,
      [],
      [[]],
      [[0]],
      [[0, 1]],
      [[0, 16384, ['a', 1]]],
      [[-1, 1, ['a', 1]]],
      [[0, 1, ['?', 1]]],
    ])
      assert.deepEqual(parseClusterSlots(reply, 'seed'), []);
  });
});

describe('a redirect', () => {
  for (const [message, expected] of [
    [
      'MOVED 3999 127.0.0.1:6381',
      { kind: 'MOVED', slot: 3999, address: { host: '127.0.0.1', port: 6381 } },
    ],
    [
      'ASK 0 node.internal:1',
      { kind: 'ASK', slot: 0, address: { host: 'node.internal', port: 1 } },
    ],
    ['MOVED 1 ::1:6381', { kind: 'MOVED', slot: 1, address: { host: '::1', port: 6381 } }],
    ['MOVED 1 [::1]:6381', { kind: 'MOVED', slot: 1, address: { host: '::1', port: 6381 } }],
    ['MOVED 3999 :6381', undefined],
    ['MOVED 16384 a:1', undefined],
    ['ERR MOVED 1 a:1', undefined],
    ['MOVED', undefined],
  ] as const)
    test(message, () => assert.deepEqual(parseRedirect(message), expected));
});
