import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readConfig } from './config.ts';

test('without variables it is the provider of the demo', () => {
  assert.deepEqual(readConfig({ ADDRESS: '', ISSUER: ' ' }), {
    address: { host: '127.0.0.1', port: 18_004 },
    issuer: undefined,
    origins: ['http://127.0.0.1:8080', 'http://localhost:8080'],
    state: '.gateway',
    logLevel: 'info',
  });
});

for (const ADDRESS of ['127.0.0.1:0', '127.8.8.8:80', 'localhost:80', '[::1]:80']) {
  test(`listens on ${ADDRESS}`, () => assert.ok(readConfig({ ADDRESS })));
}

for (const ADDRESS of [
  '0.0.0.0:80',
  '[::]:80',
  '10.0.0.1:80',
  '127.example.com:80',
  'localhost.example:80',
]) {
  test(`does not listen on ${ADDRESS}, unless told`, () => {
    assert.throws(
      () => readConfig({ ADDRESS }),
      /^Error: ADDRESS is .* The passwords of this sample are public/,
    );
    assert.throws(() => readConfig({ ADDRESS, ALLOW_KNOWN_PASSWORDS: 'true' }));
    assert.ok(readConfig({ ADDRESS, ALLOW_KNOWN_PASSWORDS: 'yes' }));
  });
}

for (const [name, value] of [
  ['ADDRESS', 'nowhere'],
  ['ISSUER', 'http://127.0.0.1/path'],
  ['GATEWAY_ORIGINS', 'http://127.0.0.1:8080, javascript:alert(1)'],
  ['LOG_LEVEL', 'loud'],
] as const) {
  test(`a bad ${name} is named`, () => {
    assert.throws(() => readConfig({ [name]: value }), new RegExp(`^Error: ${name} (is|has) "`));
  });
}
