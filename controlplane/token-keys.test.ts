import assert from 'node:assert/strict';
import { test } from 'node:test';
import pino from 'pino';
import { HandTimers } from '#xds/testing/hand-timers.ts';
import { openTokenKeys } from './token-keys.ts';

test('a rule that goes and comes back while ext-authz is asked for keys has it asked no more often', async () => {
  const timers = new HandTimers();
  const answers: (() => void)[] = [];
  const keys = openTokenKeys({
    log: pino({ level: 'silent' }),
    keySets: () => new Promise(resolve => answers.push(() => resolve([]))),
    refuse: () => undefined,
    now: () => 0,
    after: timers.after,
  });
  const provider = { name: 'p', filter: 'default/f', jwksURI: '', algorithms: [], terms: {} };
  for (const providers of [[provider], [], [provider]]) keys.compiled('edge', providers);
  assert.equal(answers.length, 2);
  for (const answer of answers) answer();
  await new Promise(resolve => setImmediate(resolve));
  assert.equal(timers.pending, 1);
  keys.close();
  assert.equal(timers.pending, 0);
});
