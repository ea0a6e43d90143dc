import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Status } from '#controlplane/status/status.ts';
import { statusText } from './status.ts';

const resource = (kind: string, name: string, state = 'in force') => ({
  ...{ id: `${kind}/default/${name}`, state: state as 'in force', file: 'site.yaml', line: 1 },
});

const statusOf = (resources: Status['resources']): Status => ({
  ...{ ready: true, resources, problems: [], proxies: [], certificates: [] },
});

describe('the status in words', () => {
  const many = Array.from({ length: 41 }, (_, number) => resource('Mapping', `m${number}`));
  const status = statusOf([
    resource('Host', 'a'),
    ...many,
    resource('Mapping', 'broken', 'rejected'),
  ]);

  test('has one line for many of a kind that are in force, and one for each that is not', () => {
    assert.deepEqual(statusText(status).trimEnd().split('\n'), [
      'ready',
      'in force        Host/default/a  site.yaml:1',
      'in force        41 of kind Mapping, which --all lists',
      'rejected        Mapping/default/broken  site.yaml:1',
    ]);
  });

  test('has a line for each that is asked for, or when there are few', () => {
    assert.equal(statusText(status, true).trimEnd().split('\n').length, 44);
    const few = statusOf(many.slice(1));
    assert.equal(statusText(few).trimEnd().split('\n').length, 41);
  });
});
