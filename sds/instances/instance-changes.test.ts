import assert from 'node:assert/strict';
import { test } from 'node:test';
import { instanceChanges } from './instance-changes.ts';

const one = { address: '10.0.0.1', port: 80 };
const two = { address: '::1', port: 80 };

test('only services that have changed are told of, with what came and went', () => {
  const before = new Map([
    ['same', [one]],
    ['moved', [one]],
    ['gone', [two]],
  ]);
  const after = new Map([
    ['same', [one]],
    ['moved', [two]],
    ['new', []],
  ]);
  assert.deepEqual(instanceChanges(before, after), [
    { service: 'gone', added: [], removed: ['[::1]:80'], instances: 0 },
    { service: 'moved', added: ['[::1]:80'], removed: ['10.0.0.1:80'], instances: 1 },
    { service: 'new', added: [], removed: [], instances: 0 },
  ]);
});

test('names that share an array are told of once', () => {
  const [was, is] = [[one], [two]];
  const names = ['users.default', 'users', 'users:http'];
  const changes = instanceChanges(
    new Map(names.map(name => [name, was])),
    new Map(names.map(name => [name, is])),
  );
  assert.deepEqual(
    changes.map(({ service }) => service),
    ['users'],
  );
});
