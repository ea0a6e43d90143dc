import assert from 'node:assert/strict';
import type { IncomingMessage } from 'node:http';
import { test } from 'node:test';
import { isLoopback, isLoopbackHost, isRebound, isSameOrigin } from './guard.ts';

test('only addresses of this machine are a loopback', () => {
  for (const host of ['127.0.0.1', '127.9.9.9', '::1', 'localhost'])
    assert.ok(isLoopback(host), host);
  for (const host of [
    '',
    '0.0.0.0',
    '::',
    '10.0.0.1',
    '127.0.0.1.evil.example',
    '127.1',
    '128.0.0.1',
  ])
    assert.ok(!isLoopback(host), host);
});

test('a name of another site is no loopback, though it may lead here', () => {
  for (const host of ['127.0.0.1:8877', 'localhost', 'LOCALHOST:1', '[::1]:8877', '[::1]'])
    assert.ok(isLoopbackHost(host), host);
  for (const host of [
    undefined,
    '',
    ':8877',
    'evil.example',
    'localhost.evil.example',
    '127.0.0.1.evil.example:8877',
    'localhost:8877:1',
    'localhost:',
    'localhost@evil.example',
    '[::1',
    '[::1]x:1',
    '0.0.0.0:8877',
  ])
    assert.ok(!isLoopbackHost(host), String(host));
});

test('only the page itself may ask for what changes something', () => {
  const host = '127.0.0.1:8877';
  const own = [
    { host },
    { host, origin: 'http://127.0.0.1:8877' },
    { host, origin: 'http://127.0.0.1:8877', 'sec-fetch-site': 'same-origin' },
  ];
  for (const headers of own) assert.ok(isSameOrigin(headers), JSON.stringify(headers));
  const others = [
    { host, origin: 'http://evil.example' },
    { host, origin: 'null' },
    { host, origin: '' },
    { host, origin: 'http://127.0.0.1:8878' },
    { host, origin: 'http://127.0.0.1:8877.evil.example' },
    { host, 'sec-fetch-site': 'cross-site' },
    { host, 'sec-fetch-site': 'same-site' },
    { host, 'sec-fetch-site': '' },
    { origin: 'http://127.0.0.1:8877' },
  ];
  for (const headers of others) assert.ok(!isSameOrigin(headers), JSON.stringify(headers));
});

test('only what came over the loopback by another name is rebound', () => {
  const isIt = (localAddress: string | undefined, host: string | undefined) =>
    isRebound({ headers: { host }, socket: { localAddress } } as IncomingMessage);
  for (const address of ['127.0.0.1', '::1', '::ffff:127.0.0.1', '127.9.9.9']) {
    assert.ok(isIt(address, 'evil.test'), address);
    assert.ok(!isIt(address, 'localhost:8877'), address);
    assert.ok(!isIt(address, undefined), address);
  }
  for (const address of ['10.0.0.1', '::ffff:10.0.0.1', 'fd00::1', undefined])
    assert.ok(!isIt(address, 'controlplane:8877'), address);
});
