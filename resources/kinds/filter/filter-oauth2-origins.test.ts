import assert from 'node:assert/strict';
import { test } from 'node:test';
import { problemsOf } from '#resources/testing/problem-lines.ts';

const A = 'https://a.example.com';

function problems(...protectedOrigins: readonly object[]): readonly string[] {
  const client = { authorizationURL: 'https://idp.example.com', clientID: 'me', secret: 's' };
  return problemsOf('Filter', { OAuth2: { ...client, protectedOrigins } }).map(line =>
    line.replace('spec.OAuth2.protectedOrigins', ''),
  );
}

const ACCEPTED: readonly (readonly object[])[] = [
  [{ origin: A }],
  [{ origin: A, internalOrigin: '*://*' }],
  [{ origin: A, internalOrigin: 'http://*' }],
  [{ origin: A, internalOrigin: '*://inside' }],
  [{ origin: A, internalOrigin: 'http://inside:8080/' }],
  [{ origin: 'https://example.com', includeSubdomains: true }],
  [{ origin: 'https://example.com', internalOrigin: 'http://inside', includeSubdomains: true }],
  [{ origin: A }, { origin: 'https://b.example.com' }],
  [
    { origin: A, internalOrigin: 'http://x' },
    { origin: A, internalOrigin: 'http://y' },
  ],
  [{ origin: 'https://a.b', includeSubdomains: true }, { origin: 'https://xa.b' }],
  [{ origin: 'http://localhost:1' }, { origin: 'http://127.0.0.1:2' }],
];

for (const items of ACCEPTED) {
  test(`${JSON.stringify(items)} is taken`, () => {
    assert.deepEqual(problems(...items), []);
  });
}

test('origins that differ in the port only have a warning', () => {
  assert.deepEqual(
    problems({ origin: 'https://b.example.com' }, { origin: A }, { origin: `${A}:8443` }),
    [
      'warning [2]: differs from protectedOrigins[1] in the port only, which requests are not told apart by: all count as protectedOrigins[1]',
    ],
  );
});

const REFUSED: readonly [items: readonly object[], problem: string][] = [
  [[{}], '[0].origin: `origin` is required: an origin such as `https://example.com`'],
  [
    [{ origin: 'a.b' }],
    '[0].origin: Cannot parse origin "a.b": write scheme://host or scheme://host:port',
  ],
  [
    [{ origin: 'https://*' }],
    '[0].origin: Cannot parse origin "https://*": a "*" is allowed in `internalOrigin` only',
  ],
  [
    [{ origin: A, internalOrigin: '*://*.b' }],
    '[0].internalOrigin: Cannot parse origin "*://*.b": a "*" stands for the whole authority, host and port',
  ],
  ...['*://*', 'https://*', '*://a.example.com'].map(
    (internalOrigin): [readonly object[], string] => [
      [{ origin: A, internalOrigin, includeSubdomains: true }],
      '[0].includeSubdomains: `includeSubdomains` and a `*` in `internalOrigin` exclude each other',
    ],
  ),
  [
    [{ origin: 'https://10.0.0.1', includeSubdomains: true }],
    '[0].includeSubdomains: 10.0.0.1 is an IP address and has no subdomains',
  ],
  [
    [{ origin: 'https://[::1]', includeSubdomains: true }],
    '[0].includeSubdomains: ::1 is an IP address and has no subdomains',
  ],
  [
    [{ origin: A, internalOrigin: 'http://10.0.0.1', includeSubdomains: true }],
    '[0].includeSubdomains: 10.0.0.1 is an IP address and has no subdomains',
  ],
  [
    [{ origin: 'http://localhost:8080', includeSubdomains: true }],
    '[0].includeSubdomains: browsers keep no cookies for the subdomains of localhost',
  ],
  [
    [{ origin: 'https://com.', includeSubdomains: true }],
    '[0].includeSubdomains: "com" is a public suffix: browsers refuse cookies for all its subdomains',
  ],
  [
    [{ origin: A }, { origin: 'http://127.0.0.1' }],
    '[1].origin: the origins of one Filter are all http or all https, since they share a session',
  ],
  [
    [{ origin: A }, { origin: 'HTTPS://A.example.com.:443/' }],
    '[1]: https://a.example.com and https://a.example.com (protectedOrigins[0]) match the same internal origin. A request can belong to one only',
  ],
  [
    [{ origin: A }, { origin: 'https://b', internalOrigin: '*://*' }],
    '[1]: *://* and https://a.example.com (protectedOrigins[0]) match the same internal origin. A request can belong to one only',
  ],
  [
    [
      { origin: 'https://b.c' },
      { origin: A },
      { origin: 'https://example.com', includeSubdomains: true },
    ],
    '[2]: https://example.com and https://a.example.com (protectedOrigins[1]) match the same internal origin. A request can belong to one only',
  ],
];

for (const [items, problem] of REFUSED) {
  test(`${JSON.stringify(items)} is rejected`, () => {
    assert.deepEqual(problems(...items), [`error ${problem}`]);
  });
}
