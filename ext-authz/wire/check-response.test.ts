import assert from 'node:assert/strict';
import { test } from 'node:test';
import { answerPage, seeOther } from '#ext-authz/http/answer-page.ts';
import { requestWith } from '#ext-authz/testing/requests.ts';
import { allowResponse, denyResponse } from './check-response.ts';

test('headers replace what is there, cookies are added to the answer, and nothing has the field append', () => {
  const response = allowResponse({
    set: new Map([['x-user', 'alice']]),
    remove: new Set(['x-gone']),
    responseHeaders: [['set-cookie', 'a=1']],
  });
  assert.deepEqual(response, {
    status: { code: 0 },
    ok_response: {
      headers: [{ header: { key: 'x-user', value: 'alice' }, append_action: 2 }],
      headers_to_remove: ['x-gone'],
      response_headers_to_add: [
        { header: { key: 'set-cookie', value: 'a=1' }, append_action: 0 },
        { header: { key: 'cache-control', value: 'no-store' }, append_action: 2 },
      ],
    },
  });
});

test('a name that is set is not removed', () => {
  const change = { set: new Map([['x-a', '1']]), remove: new Set(['x-a']), responseHeaders: [] };
  assert.deepEqual(allowResponse(change).ok_response?.headers_to_remove, []);
});

test('an answer has its status, body and every cookie', () => {
  const answer = answerPage(requestWith(), {
    status: 403,
    message: 'no',
    headers: [
      ['Set-Cookie', 'a=1'],
      ['Set-Cookie', 'b=2'],
    ],
  });
  const { status, denied_response } = denyResponse(requestWith(), answer);
  assert.notEqual(status.code, 0);
  assert.equal(denied_response?.status.code, 403);
  assert.equal(denied_response?.body, answer.body);
  const cookies = denied_response?.headers.filter(({ header }) => header.key === 'set-cookie');
  assert.deepEqual(
    cookies?.map(({ header, append_action }) => [header.value, append_action]),
    [
      ['a=1', 0],
      ['b=2', 0],
    ],
  );
});

for (const type of [
  'application/grpc',
  'application/grpc+proto',
  'Application/gRPC-Web',
  'application/grpc;x=1',
]) {
  test(`${type}: 401 instead of a redirect, one line, no cookies`, () => {
    const request = requestWith({ 'content-type': type });
    const redirect = denyResponse(
      request,
      seeOther('https://idp.test/', [['set-cookie', 'a=1']]),
    ).denied_response;
    assert.equal(redirect?.status.code, 401);
    assert.equal(redirect?.body, 'Unauthorized');
    const keys = redirect?.headers.map(({ header }) => header.key);
    assert.ok(!keys?.includes('set-cookie') && !keys?.includes('location'));
    const denied = denyResponse(
      request,
      answerPage(request, { status: 403, message: 'not\nyours\u2028' }),
    ).denied_response;
    assert.equal(denied?.status.code, 403);
    assert.equal(denied?.body, 'not yours ');
  });
}

test('application/grpcx is no gRPC', () => {
  const request = requestWith({ 'content-type': 'application/grpcx' });
  assert.equal(denyResponse(request, seeOther('/')).denied_response?.status.code, 303);
});

for (const [type, body, line] of [
  ['text/plain', 'no token\nfor you\n', 'no token for you'],
  ['application/json', '{"error": "no token"}\n', '{"error": "no token"}'],
  ['application/json', 'null', 'null'],
  ['text/HTML; charset=utf-8', '<p>no token</p>', 'Unauthorized'],
  ['text/plain', '\n', 'Unauthorized'],
] as const)
  test(`of the ${type} ${JSON.stringify(body)} a gRPC client gets "${line}"`, () => {
    const answer = { status: 401, headers: [['Content-Type', type]] as const, body };
    const request = requestWith({ 'content-type': 'application/grpc' });
    assert.equal(denyResponse(request, answer).denied_response?.body, line);
  });
