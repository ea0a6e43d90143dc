import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Message } from '#protos/decode-bytes.ts';
import type { Limit } from './limit.ts';
import { parseLimits } from './parse-limits.ts';
import { type LimitJson, limitOf, limitsOf, rateLimitMessage } from './testing/limits.ts';

test('a limit keeps what the control plane sent', () => {
  const limit = limitOf({
    name: 'slow.default-0',
    action: 'LOG_ONLY',
    pattern: ['a=1|b', 'c'],
    rate: 4_294_967_295,
    unit: 'DAY',
    inject_request_headers: [{ name: 'X-Request', value: 'in' }],
    inject_response_headers: [{ name: 'x-response', value: 'out' }],
    error_response: {
      headers: [{ name: 'Content-Type', value: 'text/html' }],
      body_template: 'no',
    },
  });
  const { counter, canonical, forms, ...rest } = limit;
  assert.deepEqual(rest, {
    domain: 'd',
    name: 'slow.default-0',
    action: 'LogOnly',
    pattern: [[{ key: 'a', value: '1' }, { key: 'b' }], [{ key: 'c' }]],
    rate: 4_294_967_295,
    unit: 'day',
    requestHeaders: [{ name: 'x-request', value: 'in' }],
    responseHeaders: [{ name: 'x-response', value: 'out' }],
    errorResponse: { headers: [{ name: 'content-type', value: 'text/html' }], body: 'no' },
  });
});

test('what is not sent has its default: Enforce, rate 0, no headers, no error response', () => {
  const { action, rate, requestHeaders, responseHeaders, errorResponse } = limitOf({ rate: 0 });
  assert.deepEqual(
    { action, rate, requestHeaders, responseHeaders, errorResponse },
    {
      action: 'Enforce',
      rate: 0,
      requestHeaders: [],
      responseHeaders: [],
      errorResponse: undefined,
    },
  );
});

test('an error response without a body template has no body', () =>
  assert.deepEqual(limitOf({ error_response: {} }).errorResponse, {
    headers: [],
    body: undefined,
  }));

test('a message in words, as ProtoJSON writes it, gives the same limit', () => {
  const json = { domain: 'd', limits: [{ name: 'n', action: 'LOG_ONLY', rate: 3, unit: 'HOUR' }] };
  const parsed = parseLimits(json as unknown as Message);
  assert.ok('value' in parsed);
  const said = (limits: readonly Limit[]) => limits.map(({ forms, ...limit }) => limit);
  const limits = limitsOf('d', [{ name: 'n', action: 'LOG_ONLY', rate: 3, unit: 'HOUR' }]);
  assert.deepEqual(said(parsed.value), said(limits));
});

for (const [number, unit] of [
  [1, 'second'],
  [2, 'minute'],
  [3, 'hour'],
  [4, 'day'],
] as const) {
  test(`unit ${number} of the wire is a ${unit}`, () =>
    assert.equal(limitOf({ unit: number }).unit, unit));
}

test('a text without actions is no template', () => {
  const { responseHeaders } = limitOf({
    inject_response_headers: [{ name: 'x', value: 'a } b {' }],
  });
  assert.equal(responseHeaders[0]?.value, 'a } b {');
});

test('a text with actions is a template', () => {
  const { responseHeaders } = limitOf({
    inject_response_headers: [{ name: 'x', value: '{{ .RetryAfter }}' }],
  });
  assert.equal(typeof responseHeaders[0]?.value, 'object');
});

const COUNTERS: readonly [what: string, one: LimitJson, other: LimitJson, same: boolean][] = [
  ['name', { name: 'a' }, { name: 'b' }, true],
  ['rate', { rate: 1 }, { rate: 2 }, true],
  ['action', { action: 'ENFORCE' }, { action: 'LOG_ONLY' }, true],
  ['order of alternatives', { pattern: ['a|b'] }, { pattern: ['b|a'] }, true],
  ['unit', { unit: 'HOUR' }, { unit: 'DAY' }, false],
  ['pattern', { pattern: ['a'] }, { pattern: ['a=1'] }, false],
];

for (const [what, one, other, same] of COUNTERS) {
  test(`limits that differ in ${what} ${same ? 'share a counter' : 'count apart'}`, () =>
    assert.equal(limitOf(one).counter === limitOf(other).counter, same));
}

test('limits of two domains count apart', () => {
  const [one] = limitsOf('d', [{}]);
  const [other] = limitsOf('e', [{}]);
  assert.notEqual(one?.counter, other?.counter);
});

const IMPOSSIBLE: readonly [what: string, limit: object, error: RegExp][] = [
  [
    'a header template that does not parse',
    { inject_request_headers: [{ name: 'x-a', value: '{{ .RetryAfter' }] },
    /^limit "n": inject_request_headers: "x-a": ./,
  ],
  [
    'a header of the answer that does not parse',
    { inject_response_headers: [{ name: 'x-a', value: '{{ nope }}' }] },
    /^limit "n": inject_response_headers: "x-a": .*nope/,
  ],
  [
    'a header template that calls json',
    { error_response: { headers: [{ name: 'x-a', value: '{{ json "" . }}' }] } },
    /^limit "n": error_response: headers: "x-a": .*json/,
  ],
  [
    'a body template that does not parse',
    { error_response: { body_template: '{{ end }}' } },
    /^limit "n": error_response: body_template: ./,
  ],
  [
    'a name that is no header name',
    { inject_response_headers: [{ name: 'x y', value: '' }] },
    /^limit "n": inject_response_headers: "x y" is not a header name/,
  ],
  [
    'a pseudo-header',
    { inject_request_headers: [{ name: ':path', value: '/' }] },
    /":path" is no header to add/,
  ],
  [
    'Host',
    { inject_request_headers: [{ name: 'Host', value: 'a' }] },
    /":authority" is no header to add/,
  ],
  ['no unit', { unit: 0 }, /^limit "n": unit 0 is not known$/],
  ['a unit of a later version', { unit: 9 }, /^limit "n": unit 9 is not known$/],
  ['an action of a later version', { action: 7 }, /^limit "n": action 7 is not known$/],
  ['no name', { name: '' }, /^limits\[0\]: name is empty$/],
  ['a key that is empty', { pattern: ['a', '=1'] }, /^limit "n": pattern\[1\]: a key is empty$/],
];

for (const [what, limit, error] of IMPOSSIBLE) {
  test(`${what} is an error that says where`, () => {
    const parsed = parseLimits(rateLimitMessage('d', [{ name: 'n', ...limit }]));
    assert.match('error' in parsed ? parsed.error : 'none', error);
  });
}

test('a pattern item without alternatives is an error, not a match of everything', () => {
  const message = {
    domain: 'd',
    limits: [{ name: 'n', unit: 1, pattern: [{ alternatives: [] }] }],
  };
  assert.deepEqual(parseLimits(message), { error: 'limit "n": pattern[0] is empty' });
});

test('an empty domain is an error', () =>
  assert.deepEqual(parseLimits(rateLimitMessage('', [{}])), { error: 'domain is empty' }));
