import assert from 'node:assert/strict';
import { test } from 'node:test';
import { recordsInMemory } from './records.ts';

test('a record is there until it expires', async () => {
  let now = 0;
  const codes = recordsInMemory(() => now)('AuthorizationCode');
  await codes.upsert('a', { uid: 'u' }, 60);
  now = 59_999;
  assert.deepEqual(await codes.find('a'), { uid: 'u' });
  assert.deepEqual(await codes.findByUid('u'), { uid: 'u' });
  now = 60_000;
  assert.equal(await codes.find('a'), undefined);
  assert.equal(await codes.findByUid('u'), undefined);
});

test('what was used says when', async () => {
  const codes = recordsInMemory(() => 5_900)('AuthorizationCode');
  await codes.upsert('a', {}, 60);
  await codes.consume('a');
  assert.deepEqual(await codes.find('a'), { consumed: 5 });
});

test('a grant that is withdrawn takes all that came of it along, of every kind', async () => {
  const store = recordsInMemory(() => 0);
  const [codes, tokens] = [store('AuthorizationCode'), store('AccessToken')];
  await codes.upsert('a', { grantId: 'g' }, 60);
  await tokens.upsert('a', { grantId: 'g' }, 60);
  await tokens.upsert('b', { grantId: 'h' }, 60);
  await codes.revokeByGrantId('g');
  assert.deepEqual(await Promise.all([codes.find('a'), tokens.find('a'), tokens.find('b')]), [
    undefined,
    undefined,
    { grantId: 'h' },
  ]);
});

test('of more than it keeps the oldest goes', async () => {
  const sessions = recordsInMemory(() => 0)('Session');
  for (let id = 0; id <= 10_000; id++) await sessions.upsert(String(id), {}, 60);
  assert.equal(await sessions.find('0'), undefined);
  assert.deepEqual(await sessions.find('1'), {});
});
