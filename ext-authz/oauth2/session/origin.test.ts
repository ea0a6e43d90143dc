import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type TestOrigin, toProtected } from '#ext-authz/oauth2/testing/test-gateway.ts';
import { internalAuthority, placeOf } from './origin.ts';

/**
 * Returns the origin that a request belongs to.
 * @returns undefined when it belongs to none
 */
function placed(items: readonly TestOrigin[], request: string) {
  const [scheme, authority = ''] = request.split('://');
  const place = placeOf(items.map(toProtected), {
    scheme: scheme === 'https' ? 'https' : 'http',
    authority,
  });
  return place && [place.configured, place.origin, place.holdsLogin];
}

const A: TestOrigin = { origin: 'https://a.test' };
const B: TestOrigin = { origin: 'https://b.test:8443' };
const SUB: TestOrigin = { origin: 'https://a.test', includeSubdomains: true };
const INNER: TestOrigin = {
  origin: 'https://a.test',
  internalOrigin: 'http://in.test:8080',
  includeSubdomains: true,
};
const ANY: TestOrigin = { origin: 'https://a.test', internalOrigin: '*://*' };
const ANY_SCHEME: TestOrigin = { origin: 'https://a.test', internalOrigin: '*://in.test' };

const TABLE: readonly [
  what: string,
  items: readonly TestOrigin[],
  request: string,
  place: unknown,
][] = [
  ['equal', [A], 'https://a.test', ['https://a.test', 'https://a.test', true]],
  ['another scheme', [A], 'http://a.test', undefined],
  ['another port', [A], 'https://a.test:8443', ['https://a.test', 'https://a.test', true]],
  ['another host', [A], 'https://b.test', undefined],
  ['a host that ends the same', [SUB], 'https://evila.test', undefined],
  ['a host that begins the same', [SUB], 'https://a.test.evil', undefined],
  [
    'the second',
    [A, B],
    'https://b.test:8443',
    ['https://b.test:8443', 'https://b.test:8443', false],
  ],
  ['a subdomain', [SUB], 'https://x.y.a.test', ['https://a.test', 'https://x.y.a.test', false]],
  ['the domain itself', [SUB], 'https://a.test', ['https://a.test', 'https://a.test', true]],
  ['a subdomain without includeSubdomains', [A], 'https://x.a.test', undefined],
  [
    'an internal origin',
    [INNER],
    'http://in.test:8080',
    ['https://a.test', 'https://a.test', true],
  ],
  [
    'a host below an internal origin',
    [INNER],
    'http://x.in.test:8080',
    ['https://a.test', 'https://x.a.test', false],
  ],
  ['the external origin of an internal one', [INNER], 'https://a.test', undefined],
  ['any', [ANY], 'http://whatever.test:99', ['https://a.test', 'https://a.test', true]],
  ['any scheme', [ANY_SCHEME], 'http://in.test', ['https://a.test', 'https://a.test', true]],
  [
    'any scheme, another port',
    [ANY_SCHEME],
    'http://in.test:8080',
    ['https://a.test', 'https://a.test', true],
  ],
  [
    'the first that matches',
    [ANY, A],
    'https://a.test',
    ['https://a.test', 'https://a.test', true],
  ],
  [
    'IPv6 in any spelling',
    [{ origin: 'http://[::1]:8080' }],
    'http://[0:0::1]:8080',
    ['http://[::1]:8080', 'http://[::1]:8080', true],
  ],
  ['nonsense', [A], 'https://a:b:c', undefined],
];

for (const [what, items, request, place] of TABLE) {
  test(`${request}: ${what}`, () => {
    assert.deepEqual(placed(items, request), place);
  });
}

const INTERNAL: readonly [
  items: readonly TestOrigin[],
  url: string,
  authority: string | undefined,
][] = [
  [[A], 'https://a.test/x', 'a.test'],
  [[A], 'https://b.test/x', undefined],
  [[A, B], 'https://b.test:8443/x', 'b.test'],
  [[SUB], 'https://x.y.a.test/', 'x.y.a.test'],
  [[INNER], 'https://a.test/', 'in.test'],
  [[INNER], 'https://x.a.test/', 'x.in.test'],
  [[ANY], 'https://a.test/', undefined],
  [[{ origin: 'http://[::1]:8080' }], 'http://[::1]:8080/', '[::1]'],
];

for (const [items, url, authority] of INTERNAL) {
  test(`requests for ${url} come in as ${authority}, with ${items.map(({ origin }) => origin)}`, () => {
    assert.equal(internalAuthority(items.map(toProtected), new URL(url)), authority);
  });
}
