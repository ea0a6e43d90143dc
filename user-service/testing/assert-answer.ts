import assert from 'node:assert/strict';
import type { ServiceAnswer } from './service-process.ts';

/** Asserts that the answer has this status and exactly this body. */
export function assertAnswer(
  answer: ServiceAnswer,
  status: number,
  body: ServiceAnswer['body'],
): void {
  assert.equal(answer.status, status);
  assert.deepEqual(answer.body, body);
}

/** Asserts that the answer is a failure in the form that all have, and that its `error` matches. */
export function assertFailure(
  { status, body, headers }: ServiceAnswer,
  expected: number,
  error: RegExp,
): void {
  assert.equal(status, expected);
  assert.deepEqual(Object.keys(body).sort(), ['error', 'hostname', 'ok', 'resolvedname']);
  assert.equal(body.ok, false);
  assert.match(String(body.error), error);
  assert.match(String(headers['content-type']), /^application\/json/);
}
