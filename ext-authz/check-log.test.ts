import assert from 'node:assert/strict';
import { test } from 'node:test';
import pino from 'pino';
import type { HttpRequest } from '#ext-authz/http/http-request.ts';
import { checkLog } from './check-log.ts';

test('what a client writes of itself is cut before it is logged, and its query is left out', () => {
  const lines: string[] = [];
  const log = checkLog(pino({}, { write: line => lines.push(line) }));
  const long = 'x'.repeat(60_000);
  const request: HttpRequest = {
    method: long,
    scheme: 'http',
    authority: long,
    target: `/${long}?code=secret`,
    headers: { get: () => undefined } as unknown as HttpRequest['headers'],
    body: Buffer.alloc(0),
    clientAddress: '::1',
    id: long,
  };
  log.answered(request, {
    outcome: 'denied',
    status: 403,
    rule: 'r',
    filter: 'f',
    note: undefined,
  } as never);
  log.filterFailed(request, 'f', 'internal', new Error('a mistake'));
  log.checkFailed(request, 'internal', new Error('a mistake'), undefined);
  assert.equal(lines.length, 3);
  for (const line of lines) {
    assert.ok(line.length < 4_000, `${line.length} characters`);
    assert.doesNotMatch(line, /secret/);
  }
});
