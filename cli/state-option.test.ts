import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { ROOT } from '#files/places.ts';
import { allCommands } from './commands.ts';

test('each command says that a checkout has a state folder of its own', async () => {
  const options = (await allCommands()).flatMap(({ options }) =>
    options.filter(({ long }) => long === '--state'),
  );
  assert.equal(options.length, 3);
  for (const { defaultValue, defaultValueDescription } of options) {
    assert.equal(defaultValue, join(ROOT, '.gateway'));
    assert.match(defaultValueDescription ?? '', /current folder, or of the checkout/);
  }
});
