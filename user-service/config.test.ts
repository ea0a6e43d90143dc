import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readConfig } from './config.ts';

test('without variables, or with empty ones, everything has its default', () => {
  const defaults = {
    host: '127.0.0.1',
    port: 5000,
    database: { kind: 'sqlite', file: '.gateway/users.sqlite' },
    instanceName: undefined,
    instanceAddress: undefined,
    logLevel: 'info',
  };
  assert.deepEqual(readConfig({}), defaults);
  assert.deepEqual(
    readConfig({ HOST: '', PORT: ' ', DATABASE_URL: '', DATABASE_FILE: '', LOG_LEVEL: ' info ' }),
    defaults,
  );
});

test('DATABASE_URL goes before DATABASE_FILE', () => {
  const url = 'postgresql://user:secret@db/users';
  assert.deepEqual(readConfig({ DATABASE_URL: url, DATABASE_FILE: 'x' }).database, {
    kind: 'postgres',
    url,
  });
  assert.deepEqual(readConfig({ DATABASE_FILE: 'x' }).database, { kind: 'sqlite', file: 'x' });
});

for (const [variable, value] of [
  ['PORT', '65536'],
  ['PORT', '-1'],
  ['PORT', '80a'],
  ['PORT', '0x50'],
  ['DATABASE_URL', 'mysql://user:secret@db/users'],
  ['DATABASE_URL', 'postgres://user:secret@db:port/users'],
  ['DATABASE_URL', 'postgres://user:1/secret@db/users'],
  ['DATABASE_URL', 'postgres://user:1?secret@db/users'],
  ['DATABASE_URL', 'postgres://user:1#secret@db/users'],
  ['INSTANCE_ADDRESS', 'localhost'],
  ['LOG_LEVEL', 'loud'],
] as const) {
  test(`${variable} cannot be ${value}, and the message says so without a password`, () => {
    assert.throws(
      () => readConfig({ [variable]: value }),
      (error: Error) =>
        error.message.startsWith(`${variable}: `) && !error.message.includes('secret'),
    );
  });
}
