import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Limit } from './limit.ts';
import { LimitUses } from './limit-uses.ts';

const LIMIT = { name: 'logins', domain: 'gateway', unit: 'minute' } as Limit;
const client = (value: string) => [{ key: 'remote_address', value }];

test('the newest groups near a limit are remembered until their window ends', () => {
  const clock = { now: 60_000 };
  const uses = new LimitUses(() => clock.now);
  uses.note(LIMIT, client('a'), false);
  clock.now += 1;
  uses.note(LIMIT, client('b'), false);
  uses.note(LIMIT, client('a'), true);
  assert.deepEqual(
    uses.list().map(({ labels: [label], over }) => [label?.value, over]),
    [
      ['a', true],
      ['b', false],
    ],
  );
  clock.now = 120_000;
  assert.deepEqual(uses.list(), []);
});

test('however many groups there are, a hundred are remembered', () => {
  const uses = new LimitUses(() => 0);
  for (let index = 0; index < 1_000; index += 1) uses.note(LIMIT, client(`${index}`), true);
  assert.equal(uses.list().length, 100);
  assert.equal(uses.list()[0]?.labels[0]?.value, '999');
});

test('a value that may be a credential is not told', () => {
  const uses = new LimitUses(() => 0);
  uses.note(
    LIMIT,
    [
      { key: 'x-api-key', value: 's3cret' },
      { key: 'method', value: 'GET' },
    ],
    true,
  );
  assert.deepEqual(uses.list()[0]?.labels, [{ key: 'x-api-key' }, { key: 'method', value: 'GET' }]);
  assert.doesNotMatch(JSON.stringify(uses.list()), /s3cret/);
});
