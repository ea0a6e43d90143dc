import assert from 'node:assert/strict';
import { test } from 'node:test';
import { toRequest } from '#ext-authz/oauth2/testing/test-browser.ts';
import { returnUrl } from './return-url.ts';

const ORIGIN = 'https://a.test';

function from(target: string, method = 'GET', referer?: string | readonly string[]): string {
  const headers = referer === undefined ? {} : { referer };
  return returnUrl({ ...toRequest(new URL(ORIGIN), [], { method, headers }), target }, ORIGIN);
}

const TARGETS: readonly [target: string, url: string][] = [
  ['/', 'https://a.test/'],
  ['/deep/page?x=1&y=%2F', 'https://a.test/deep/page?x=1&y=%2F'],
  ['/?next=https://evil.test', 'https://a.test/?next=https://evil.test'],
  ['//evil.test/', 'https://a.test//evil.test/'],
  ['/\\evil.test', 'https://a.test//evil.test'],
  ['/@evil.test', 'https://a.test/@evil.test'],
  ['/a\tb', 'https://a.test/ab'],
  ['/.gateway/oauth2/logout', 'https://a.test/'],
  ['/x/../.gateway/oauth2/logout', 'https://a.test/'],
  ['/%2e%2e/.gateway/x', 'https://a.test/'],
  ['/.gateway', 'https://a.test/.gateway'],
  [`/${'a'.repeat(8_192 - 15)}`, `https://a.test/${'a'.repeat(8_192 - 15)}`],
  [`/${'a'.repeat(8_192 - 14)}`, 'https://a.test/'],
  [`/${'\u00e4'.repeat(2_000)}`, 'https://a.test/'],
  ['.evil.test/', 'https://a.test/'],
  [':80@evil.test/', 'https://a.test/'],
  ['@evil.test/', 'https://a.test/'],
];

for (const [target, url] of TARGETS) {
  test(`GET ${target.slice(0, 60)} goes on to ${url.slice(0, 60)}`, () => {
    assert.equal(from(target), url);
    assert.equal(from(target, 'HEAD'), url);
  });
}

const REFERERS: readonly [referer: string | undefined, url: string][] = [
  [undefined, 'https://a.test/'],
  ['https://a.test/form?x=1', 'https://a.test/form?x=1'],
  ['https://a.test', 'https://a.test/'],
  ['https://evil.test/', 'https://a.test/'],
  ['http://a.test/form', 'https://a.test/'],
  ['https://a.test:8443/form', 'https://a.test/'],
  ['https://a.test.evil.test/', 'https://a.test/'],
  ['https://a.test@evil.test/', 'https://a.test/'],
  ['https://user:secret@a.test/form', 'https://a.test/'],
  ['https://a.test/.gateway/oauth2/logout', 'https://a.test/'],
  ['javascript:alert(1)', 'https://a.test/'],
  ['/form', 'https://a.test/'],
  ['', 'https://a.test/'],
];

for (const [referer, url] of REFERERS) {
  test(`POST with the Referer ${referer} goes on to ${url}`, () => {
    assert.equal(from('/submit', 'POST', referer), url);
  });
}
