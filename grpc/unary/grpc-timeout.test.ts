import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseGrpcTimeout } from './grpc-timeout.ts';

for (const [text, ms] of [
  ['1H', 3_600_000],
  ['2M', 120_000],
  ['3S', 3_000],
  ['20m', 20],
  ['500u', 0.5],
  ['1000000n', 1],
  ['0m', 0],
  ['99999999H', 99_999_999 * 3_600_000],
] as const)
  test(`${text} is ${ms} ms`, () => assert.equal(parseGrpcTimeout(text), ms));

for (const text of [
  '',
  'm',
  '1',
  '100000000m',
  '-1m',
  '+1m',
  '1.5S',
  '1 m',
  '1s',
  '1mm',
  '0x1m',
  '1m\n',
  '१m',
])
  test(`${JSON.stringify(text)} is no timeout`, () =>
    assert.equal(parseGrpcTimeout(text), undefined));
