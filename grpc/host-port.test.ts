import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatHostPort, parseHostPort } from './host-port.ts';

for (const [text, expected] of [
  ['127.0.0.1:18000', { host: '127.0.0.1', port: 18000 }],
  ['localhost:0', { host: 'localhost', port: 0 }],
  ['[::1]:80', { host: '::1', port: 80 }],
  ['::1:80', undefined],
  ['[localhost]:80', undefined],
  ['localhost', undefined],
  [':80', undefined],
  ['a:65536', undefined],
  ['a:-1', undefined],
  ['a:1 ', undefined],
  ['a b:1', undefined],
  ['a/b:1', undefined],
  ['my_db-1.test:1', { host: 'my_db-1.test', port: 1 }],
] as const) {
  test(`"${text}" is ${JSON.stringify(expected) ?? 'no address'}`, () => {
    assert.deepEqual(parseHostPort(text), expected);
    if (expected !== undefined) assert.equal(formatHostPort(expected), text);
  });
}
