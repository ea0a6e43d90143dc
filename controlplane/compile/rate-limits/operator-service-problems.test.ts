import assert from 'node:assert/strict';
import { test } from 'node:test';
import { stringify } from 'yaml';
import { resourceSetOf } from '../testing/resource-set-of.ts';
import { operatorServiceProblems } from './operator-service-problems.ts';

const document = (kind: string, name: string, spec: object) =>
  `---\n${stringify({ apiVersion: 'getambassador.io/v2', kind, metadata: { name }, spec })}`;

const BUILT_IN = { host: '127.0.0.1', port: 18002 };
const LIMIT = document('RateLimit', 'shop', {
  domain: 'ambassador',
  limits: [{ pattern: [], rate: 5, unit: 'minute' }],
});

function messagesOf(...documents: readonly string[]): readonly string[] {
  const { resources } = resourceSetOf(documents.join(''));
  return operatorServiceProblems(resources, [], BUILT_IN).map(({ message }) => message);
}
const service = (address: string) => document('RateLimitService', 'own', { service: address });

test('RateLimits beside a service that does not count them have a warning', () => {
  assert.match(messagesOf(service('127.0.0.1:8500'), LIMIT).join(), /^RateLimits have no effect/);
});

test('a service without RateLimits has none, as the built-in service and no service', () => {
  for (const documents of [
    [service('127.0.0.1:8500')],
    [service('127.0.0.1:18002'), LIMIT],
    [LIMIT],
  ])
    assert.deepEqual(messagesOf(...documents), []);
});
