import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseJsonBody } from './parse-json-body.ts';

const json = { 'content-type': 'application/json' };
const bytes = (text: string) => Buffer.from(text);

for (const type of [
  'application/json',
  'Application/JSON ; charset=UTF-8',
  'application/json;charset="utf-8"',
]) {
  test(`a body of type ${type} is read`, () => {
    assert.deepEqual(parseJsonBody({ 'content-type': type }, bytes('{"a":1}')), { a: 1 });
  });
}

for (const [name, headers] of [
  ['no type', {}],
  ['a text', { 'content-type': 'text/plain' }],
  ['another JSON type', { 'content-type': 'application/merge-patch+json' }],
  ['another charset', { 'content-type': 'application/json; charset=latin1' }],
  ['a content coding', { ...json, 'content-encoding': 'gzip' }],
] as const) {
  test(`${name} is refused with 415`, () => {
    assert.throws(() => parseJsonBody(headers, bytes('{}')), { name: 'HttpError', status: 415 });
  });
}

for (const [name, body, message] of [
  ['an empty body', bytes(''), /is empty/],
  ['half an object', bytes('{"password":"s3cret"'), /^the body is not valid JSON$/],
  ['binary garbage', Buffer.from([0xff, 0xfe, 0x00]), /not valid UTF-8/],
  ['an array', bytes('[]'), /must be a JSON object/],
  ['null', bytes('null'), /must be a JSON object/],
  ['a string', bytes('"a"'), /must be a JSON object/],
  ['8,000 nested arrays', bytes('['.repeat(8000) + ']'.repeat(8000)), /must be a JSON object/],
] as const) {
  test(`${name} is refused with 400`, () => {
    assert.throws(() => parseJsonBody(json, body), { name: 'HttpError', status: 400, message });
  });
}
