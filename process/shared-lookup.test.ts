import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sharedLookup } from './shared-lookup.ts';
import { countLookups } from './testing/count-lookups.ts';

function found(name: string, all: boolean): Promise<unknown> {
  return new Promise((resolve, reject) =>
    sharedLookup(name, { all }, (error, ...answer) =>
      error === null ? resolve(answer) : reject(error),
    ),
  );
}

test('a lookup is shared while it goes on, and not longer', async () => {
  for (let round = 0; round < 2; round += 1) {
    const answers: Promise<unknown>[] = [];
    const ask = () => answers.push(...Array.from({ length: 20 }, () => found('localhost', true)));
    assert.equal(await countLookups(ask), 1);
    await Promise.all(answers);
  }
});

test('it answers as that of Node does', async () => {
  const one = { address: '127.0.0.1', family: 4 };
  assert.deepEqual(await found(one.address, true), [[one]]);
  assert.deepEqual(await found(one.address, false), [one.address, one.family]);
});

test('a name that nobody has is an error with a code', () =>
  assert.rejects(found('nobody.invalid', true), ({ code }: NodeJS.ErrnoException) =>
    /^(?:ENOTFOUND|EAI_AGAIN)$/.test(String(code)),
  ));
