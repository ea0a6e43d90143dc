import assert from 'node:assert/strict';
import { test } from 'node:test';
import { requestWith } from '#ext-authz/testing/requests.ts';
import { canLogIn } from './navigation.ts';

const HTML = 'text/html,application/xhtml+xml,*/*;q=0.8';
const JSON_ONLY = 'application/json';

const TABLE: readonly [what: string, headers: Record<string, string>, isSent: boolean][] = [
  ['a browser that navigates', { 'sec-fetch-mode': 'navigate', accept: HTML }, true],
  ['a navigation, whatever it accepts', { 'sec-fetch-mode': 'navigate', accept: JSON_ONLY }, true],
  ['a form', { 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' }, true],
  ['a frame', { 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'iframe' }, true],
  ['a page fetched ahead', { 'sec-fetch-mode': 'navigate', 'sec-purpose': 'prefetch' }, false],
  ['a page fetched ahead by an old browser', { purpose: 'prefetch', accept: HTML }, false],
  ['fetch()', { 'sec-fetch-mode': 'cors', 'sec-fetch-dest': 'empty', accept: '*/*' }, false],
  ['fetch() of the same origin', { 'sec-fetch-mode': 'same-origin', accept: '*/*' }, false],
  ['fetch() that asks for HTML', { 'sec-fetch-mode': 'cors', accept: 'text/html' }, false],
  ['an image', { 'sec-fetch-mode': 'no-cors', 'sec-fetch-dest': 'image' }, false],
  ['an unknown mode', { 'sec-fetch-mode': 'x', accept: HTML }, false],
  ['curl', { accept: '*/*' }, true],
  ['a program without Accept', {}, true],
  ['an old browser', { accept: HTML }, true],
  ['a program that wants JSON', { accept: JSON_ONLY }, false],
  ['a script of an http page', { accept: 'application/json, text/plain, */*' }, false],
  ['jQuery', { 'x-requested-with': 'XMLHttpRequest', accept: '*/*' }, false],
  [
    'a web view, which names its app',
    { 'x-requested-with': 'com.example.app', accept: HTML },
    true,
  ],
  ['server-sent events', { accept: 'text/event-stream' }, false],
  ['a WebSocket', { upgrade: 'WebSocket', 'sec-fetch-mode': 'websocket' }, false],
  ['a WebSocket of a program', { upgrade: 'websocket' }, false],
  ['gRPC', { 'content-type': 'application/grpc+proto', te: 'trailers' }, false],
  ['gRPC-Web of a program', { 'content-type': 'application/grpc-web', accept: '*/*' }, false],
];

for (const [what, headers, isSent] of TABLE) {
  test(`${what} is ${isSent ? 'sent to log in' : 'answered 401'}`, () => {
    assert.equal(canLogIn(requestWith(headers)), isSent);
  });
}
