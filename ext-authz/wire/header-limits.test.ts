import assert from 'node:assert/strict';
import { test } from 'node:test';
import { requestWith } from '#ext-authz/testing/requests.ts';
import { findType } from '#protos/root.ts';
import { headerSizes } from './check-headers.ts';
import { decodeCheck } from './decode-check.ts';
import { excessOf, tokenExcess, tooLargePage } from './header-limits.ts';

const setting = (headers: Readonly<Record<string, string>>) => ({
  set: new Map(Object.entries(headers)),
});
/** What is left for a request of `GET http://site.test/`. */
const ROOM = 60 * 1024 - 128 - 29 - 'GEThttpsite.test/'.length;
const TOKEN = ROOM - 'authorization'.length;

test('a token may be as long as Envoy lets the headers be, and no longer', () => {
  const excess = (length: number) =>
    excessOf(requestWith(), setting({ authorization: 'a'.repeat(length) }));
  assert.equal(excess(TOKEN), undefined);
  assert.deepEqual(excess(TOKEN + 1), { bytes: 60 * 1024 - 127, fields: 1 });
});

test('a token for which no request has room is too large by itself', () => {
  const most = 60 * 1024 - 128 - 29 - 'authorization'.length;
  const excess = (length: number) => tokenExcess(setting({ authorization: 'a'.repeat(length) }));
  assert.equal(excess(most), undefined);
  assert.match(excess(most + 1) ?? '', /^is too large: 61271 bytes as a header, /);
  assert.equal(tokenExcess(setting({ 'x-a': 'a'.repeat(100_000) })), undefined);
});

test('what the client sends counts too, in bytes', () => {
  const request = requestWith({ cookie: `a=${'ü'.repeat(100)}`, 'x-twice': ['1', '2'] });
  const used = 'cookie'.length + 202 + 2 * ('x-twice'.length + 1);
  const excess = (length: number) =>
    excessOf(request, setting({ authorization: 'a'.repeat(length) }));
  assert.equal(excess(TOKEN - used), undefined);
  assert.equal(excess(TOKEN - used + 1)?.fields, 4);
});

test('a header that is replaced does not count, once its turn has come', () => {
  const old = requestWith({ authorization: 'o'.repeat(40_000) });
  const token = 'a'.repeat(40_000);
  assert.equal(excessOf(old, setting({ authorization: token })), undefined);
  assert.equal(
    excessOf(old, setting({ authorization: token, 'x-a': token.slice(0, 15_000) })),
    undefined,
  );
  assert.ok(excessOf(old, setting({ 'x-a': token, authorization: 'b' })));
});

test('fields are counted, repeated ones too', () => {
  const many = (count: number) =>
    setting(Object.fromEntries(Array.from({ length: count }, (_, n) => [`x-${n}`, ''])));
  assert.equal(excessOf(requestWith({ a: ['1', '2'] }), many(293)), undefined);
  assert.equal(excessOf(requestWith({ a: ['1', '2'] }), many(294))?.fields, 296);
  assert.equal(excessOf(requestWith({ 'x-0': ['1', '2'] }), many(295)), undefined);
});

test('the page is 431, says how much is too much, and shows nothing of the token', () => {
  const request = requestWith({ accept: 'application/json' });
  const change = setting({ authorization: `Bearer ${'hunter2'.repeat(10_000)}` });
  const excess = excessOf(request, change);
  assert.ok(excess);
  const answer = tooLargePage(request, change, excess);
  assert.equal(answer.status, 431);
  assert.match(
    JSON.parse(answer.body).message,
    /: 70088 bytes in 2 fields. The limit is 61312 bytes in 295 fields/,
  );
  assert.match(answer.note?.reason ?? '', /authorization 70007/);
  assert.doesNotMatch(JSON.stringify(answer), /hunter2/);
});

test('the headers of a check have the sizes that they came with', () => {
  const type = findType('envoy.service.auth.v3.CheckRequest');
  assert.ok(type);
  const values = { ':path': '/', 'x-a': 'ü', cookie: 'a=1', 'x-b': '' };
  const headers = Object.entries(values).map(([key, text]) => ({
    key,
    raw_value: Buffer.from(text),
  }));
  const http = { id: '1', path: '/', header_map: { headers: [...headers, headers[1]] } };
  const message = type.fromObject({ attributes: { request: { http } } });
  const decoded = decodeCheck(Buffer.from(type.encode(message).finish()));
  assert.deepEqual(decoded && headerSizes(decoded.headers), { bytes: 5 + 9 + 3 + 5, fields: 4 });
});
