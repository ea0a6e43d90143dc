import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type ClientAck, type RolloutVerdict, rolloutVerdict } from './rollout-verdict.ts';

const proxy = (group: string, state: ClientAck['state']): ClientAck => ({
  id: group,
  group,
  state,
  ...(state === 'rejected' ? { refusal: 'no' } : {}),
});
const table: [what: string, proxies: ClientAck[], overdue: boolean, expected: RolloutVerdict][] = [
  ['no proxy is there', [], false, 'undecided'],
  ['no proxy is there, overdue', [], true, 'undecided'],
  ['all took it', [proxy('edge', 'settled'), proxy('edge', 'settled')], false, 'accepted'],
  [
    'one has not answered',
    [proxy('edge', 'settled'), proxy('edge', 'waiting')],
    false,
    'undecided',
  ],
  [
    'one is stuck and overdue',
    [proxy('edge', 'settled'), proxy('edge', 'waiting')],
    true,
    'accepted',
  ],
  ['all are stuck and overdue', [proxy('edge', 'waiting')], true, 'undecided'],
  [
    'one refuses while another has not answered',
    [proxy('edge', 'rejected'), proxy('edge', 'waiting')],
    false,
    { rejected: 'no' },
  ],
  [
    'another group has not answered',
    [proxy('edge', 'settled'), proxy('other', 'waiting')],
    false,
    'accepted',
  ],
  ['only other groups are there', [proxy('other', 'waiting')], false, 'accepted'],
];
for (const [what, proxies, overdue, expected] of table) {
  test(`a trial for group edge when ${what}: ${JSON.stringify(expected)}`, () => {
    assert.deepEqual(
      rolloutVerdict(proxies, new Set(['edge']), () => overdue),
      expected,
    );
  });
}

test('a proxy that is late does not stand for another that is not', () => {
  const proxies = ['settled', 'waiting', 'waiting'].map((state, index) => ({
    ...proxy('edge', state as ClientAck['state']),
    id: `${index}`,
  }));
  const judge = (...late: readonly string[]) =>
    rolloutVerdict(proxies, new Set(['edge']), ({ id }) => late.includes(id));
  assert.equal(judge('1'), 'undecided');
  assert.equal(judge('1', '2'), 'accepted');
});

test('a group that is awaited holds a trial until a proxy of it is there', () => {
  const judge = (proxies: ClientAck[], awaited: readonly string[]) =>
    rolloutVerdict(proxies, new Set(['edge', 'other']), () => false, new Set(awaited));
  assert.equal(judge([proxy('other', 'settled')], ['edge']), 'undecided');
  assert.equal(judge([proxy('other', 'settled')], []), 'accepted');
  assert.equal(judge([proxy('other', 'settled'), proxy('edge', 'settled')], ['edge']), 'accepted');
  assert.equal(judge([proxy('edge', 'settled')], ['edge']), 'accepted');
  assert.deepEqual(judge([proxy('other', 'rejected')], ['edge']), { rejected: 'no' });
});
