import assert from 'node:assert/strict';
import { test } from 'node:test';
import pino from 'pino';
import { createTable } from './create-table.ts';
import type { UserStore } from './users.ts';

test('a store that stays down is told of once for each reason', async t => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const faults = ['refused', 'refused', 'refused', 'timeout'];
  const lines: { msg: string; error?: string }[] = [];
  const log = pino({}, { write: (line: string) => void lines.push(JSON.parse(line)) });
  const store: UserStore = {
    createTable: async () => {
      const fault = faults.shift();
      if (fault !== undefined) throw new Error(fault);
    },
    insert: async () => true,
    find: async () => undefined,
    close: async () => {},
  };
  await createTable(store, log, new AbortController().signal);
  while (lines.at(-1)?.msg !== 'table of users exists') {
    t.mock.timers.tick(2_000);
    await new Promise(resolve => setImmediate(resolve));
  }
  assert.deepEqual(
    lines.map(({ msg, error }) => [msg, error]),
    [
      ['store of users is down, retrying', 'refused'],
      ['store of users is down, retrying', 'timeout'],
      ['table of users exists', undefined],
    ],
  );
});
