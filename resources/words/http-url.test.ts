import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isHttps, isOpenToReaders, parseHttpBase, parseHttpUrl } from './http-url.ts';

for (const url of [
  'https://idp.example.com',
  'https://idp.example.com/',
  'https://idp.example.com:8443/realms/a%20b/',
  'HTTP://127.0.0.1:8080/x',
  'http://[::1]:8080',
  'https://a.b/~x/@y;z=1',
]) {
  test(`${url} stays as it is written: an issuer is compared with it`, () => {
    assert.deepEqual(parseHttpBase(url), { value: url });
  });
}

test('a query is for those that nothing is appended to', () => {
  assert.deepEqual(parseHttpUrl('https://a/keys?p=1'), { value: 'https://a/keys?p=1' });
  assert.deepEqual(parseHttpBase('https://a/?p=1'), {
    error: 'Cannot parse url "https://a/?…": it may not have a query ("?")',
  });
});

for (const url of [
  '',
  'idp.example.com',
  '/path',
  'https:/a.b',
  'https:a.b',
  'https://',
  'https:///a',
  'ftp://a.b',
  'https://a.b#c',
  'https://a b',
  'https://a.b/c d',
  'https://a.b/c\n',
  'https://a.b/%zz',
  'https://a.b\\@c',
  'https://a.b:99999',
  'https://\u00fc.example.com',
  `https://a/${'x'.repeat(3000)}`,
]) {
  test(`${JSON.stringify(url.slice(0, 40))} is no URL`, () => {
    assert.ok('error' in parseHttpUrl(url));
  });
}

for (const url of [
  'https://me:hunter2@a.b',
  'https://me:hunter2@a.b/?x',
  'ftp://me:hunter2@a.b',
  'https:/me:hunter2@a.b',
  'https://a.b/?key=hunter2#x',
]) {
  test(`what may be a password in ${url} is not said`, () => {
    assert.doesNotMatch(JSON.stringify([parseHttpUrl(url), parseHttpBase(url)]), /hunter2/);
  });
}

test('http to another machine can be read on the way, to this one it cannot', () => {
  assert.deepEqual(
    ['https://a.b', 'http://a.b', 'http://localhost:1', 'http://127.1.2.3/', 'http://[::1]'].map(
      isOpenToReaders,
    ),
    [false, true, false, false, false],
  );
  assert.deepEqual(['HTTPS://a', 'http://a'].map(isHttps), [true, false]);
});
