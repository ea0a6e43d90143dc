import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatOrigin, parseOrigin } from './origin.ts';
import {
  formatOriginPattern,
  matchesOrigin,
  overlap,
  parseOriginPattern,
} from './origin-pattern.ts';
import type { Parsed } from './parsed-string.ts';

function unwrap<T>(parsed: Parsed<T>): T {
  if ('error' in parsed) throw new Error(parsed.error);
  return parsed.value;
}

const ORIGINS: readonly [text: string, origin: string][] = [
  ['https://example.com', 'https://example.com'],
  ['https://example.com/', 'https://example.com'],
  ['https://example.com/a/b?c#d', 'https://example.com'],
  ['HTTPS://EXAMPLE.com.', 'https://example.com'],
  ['https://example.com:443', 'https://example.com'],
  ['https://example.com:8443', 'https://example.com:8443'],
  ['http://example.com:80', 'http://example.com'],
  ['http://example.com:443', 'http://example.com:443'],
  ['http://127.0.0.1:8080', 'http://127.0.0.1:8080'],
  ['http://[0:0::1]:8080/x', 'http://[::1]:8080'],
  ['http://localhost', 'http://localhost'],
];

for (const [text, origin] of ORIGINS) {
  test(`${text} is the origin ${origin}`, () => {
    assert.equal(formatOrigin(unwrap(parseOrigin(text))), origin);
  });
}

const NO_ORIGINS: readonly [text: string, reason: RegExp][] = [
  ['', /write scheme:\/\/host/],
  ['example.com', /write scheme:\/\/host/],
  ['https:example.com', /write scheme:\/\/host/],
  ['https:///a', /write scheme:\/\/host/],
  ['//example.com', /write scheme:\/\/host/],
  ['ftp://example.com', /must begin with http:\/\/ or https:\/\//],
  ['javascript://example.com', /must begin with http:\/\/ or https:\/\//],
  ['*://example.com', /must begin with http:\/\/ or https:\/\//],
  ['https://*', /"\*" is allowed in `internalOrigin` only/],
  ['https://*.example.com', /"\*" is allowed in `internalOrigin` only/],
  ['https://example.com:0', /port "0"/],
  ['https://example.com:', /port ""/],
  ['https://ex ample.com', /no "-" at its ends$/],
  ['https://B\u00fccher.test', /no "-" at its ends\. Browsers send it as "xn--bcher-kva\.test"$/],
  ['https://\u0000.test', /no "-" at its ends$/],
  ['https://example.com\\.evil.org', /is not a host name/],
  ['https://a..b', /a part between its dots is empty/],
  ['https://1.2.3', /neither a host name nor an IP address/],
];

for (const [text, reason] of NO_ORIGINS) {
  test(`${JSON.stringify(text)} is no origin`, () => {
    const parsed = parseOrigin(text);
    assert.match('error' in parsed ? parsed.error : '', reason);
  });
}

for (const text of [
  'https://me:hunter2@a.b',
  'ftp://me:hunter2@a',
  'https:/me:hunter2@a',
  'https://a/@',
]) {
  test(`what may be a password in ${text} is not said`, () => {
    const messages = JSON.stringify([parseOrigin(text), parseOriginPattern(text)]);
    assert.doesNotMatch(messages, /hunter2/);
  });
}

const PATTERNS: readonly [text: string, pattern: string][] = [
  ['*://*', '*://*'],
  ['https://*', 'https://*'],
  ['*://Example.com', '*://example.com'],
  ['*://example.com:443', '*://example.com:443'],
  ['https://example.com:443/x', 'https://example.com'],
  ['http://[::1]', 'http://[::1]'],
];

for (const [text, pattern] of PATTERNS) {
  test(`${text} is the internal origin ${pattern}`, () => {
    const parsed = unwrap(parseOriginPattern(text));
    assert.equal(formatOriginPattern(parsed), pattern);
    assert.deepEqual(parseOriginPattern(pattern), { value: parsed });
  });
}

for (const text of ['*://*:8080', '*://*.example.com', '**://a', 'ftp://*', '*', '*.*']) {
  test(`${text} is no internal origin`, () => {
    assert.ok('error' in parseOriginPattern(text));
  });
}

/** With a leading `+`: includeSubdomains. */
const internal = (text: string) => ({
  internalOrigin: unwrap(parseOriginPattern(text.replace(/^\+/, ''))),
  includeSubdomains: text.startsWith('+'),
});

const MATCHES: readonly [pattern: string, origin: string, matched: boolean][] = [
  ['*://*', 'https://a.b:1', true],
  ['https://*', 'https://a.b:1', true],
  ['https://*', 'http://a.b', false],
  ['*://a.b', 'http://a.b', true],
  ['*://a.b', 'https://a.b:443', true],
  ['*://a.b', 'https://a.b:80', false],
  ['*://a.b:443', 'http://a.b:443', true],
  ['https://a.b', 'https://a.b', true],
  ['https://a.b', 'https://x.a.b', false],
  ['+https://a.b', 'https://a.b', true],
  ['+https://a.b', 'https://x.y.a.b', true],
  ['+https://a.b', 'https://xa.b', false],
  ['+https://a.b', 'http://x.a.b', false],
  ['+https://a.b', 'https://x.a.b:8443', false],
  ['+https://a.b', 'https://a.b.evil.org', false],
];

for (const [pattern, origin, matched] of MATCHES) {
  test(`${pattern} ${matched ? 'matches' : 'does not match'} ${origin}`, () => {
    assert.equal(matchesOrigin(internal(pattern), unwrap(parseOrigin(origin))), matched);
  });
}

test('two patterns overlap exactly when some origin matches both', () => {
  const schemes = ['*', 'http', 'https'];
  const hosts = ['*', 'a.b', 'a.b:443', 'x.a.b', 'c.b:80'];
  const patterns = schemes.flatMap(scheme =>
    hosts.flatMap(host => [
      `${scheme}://${host}`,
      ...(host === '*' ? [] : [`+${scheme}://${host}`]),
    ]),
  );
  const origins = ['http', 'https'].flatMap(scheme =>
    ['a.b', 'x.a.b', 'y.x.a.b', 'c.b', 'z'].flatMap(host =>
      ['', ':80', ':443', ':1'].map(port => unwrap(parseOrigin(`${scheme}://${host}${port}`))),
    ),
  );
  for (const [a, b] of patterns.flatMap(one =>
    patterns.map(other => [internal(one), internal(other)] as const),
  )) {
    const both = origins.some(origin => matchesOrigin(a, origin) && matchesOrigin(b, origin));
    assert.equal(overlap(a, b), both, JSON.stringify([a, b]));
  }
});
