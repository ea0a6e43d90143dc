import assert from 'node:assert/strict';
import { test } from 'node:test';
import { unresolvedFindings } from './unresolved-names.ts';

test('a service whose names have no address is told with the names and the file', () => {
  const names = ['a.invalid', 'b.invalid', 'c', 'd', 'e', 'f'];
  const services = new Map([
    ['typo', ['nosuch.invalid']],
    ['many', names],
  ]);
  assert.deepEqual(
    unresolvedFindings('services.yaml', services).map(({ resource, message }) => [
      resource,
      message,
    ]),
    [
      [
        'instances/typo',
        'DNS has no address for "nosuch.invalid" of "typo" in the instances file services.yaml',
      ],
      [
        'instances/many',
        'DNS has no address for "a.invalid", "b.invalid", "c", "d", "e", … of "many" in the instances file services.yaml',
      ],
    ],
  );
});

test('of very many the first are told', () => {
  const services = new Map(Array.from({ length: 500 }, (_, at) => [`s${at}`, ['x']]));
  assert.equal(unresolvedFindings('f', services).length, 100);
});
