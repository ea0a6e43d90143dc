import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Status } from '#controlplane/status/status.ts';
import { statusText } from './status.ts';

const resource = (kind: string, name: string, state = 'in force') => ({
  ...{ id: `${kind}/default/${name}`, state: state as 'in force', file: 'site.yaml', line: 1 },
});

const statusOf = (resources: Status['resources'], proxies: Status['proxies'] = []): Status => ({
  ...{ ready: true, resources, problems: [], proxies, certificates: [] },
});

const proxy = (number: number, standing: Status['proxies'][number]['standing'] = 'settled') => ({
  ...{ node: `edge-${number}`, group: 'edge', address: `192.0.2.${number}:1`, standing },
  types: [{ type: 'Cluster', sent: 'b', acked: standing === 'settled' ? 'b' : 'a' }],
});

const NONE =
  'no resource of this gateway is in the folders or namespaces that the control plane reads';

describe('the status in words', () => {
  test('says that nothing is read, as with the wrong folder', () => {
    assert.deepEqual(statusText(statusOf([])), `ready\n${NONE}\n`);
  });

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

  test('tells errors before warnings, as --watch does', () => {
    const problem = (severity: 'error' | 'warning', line: number) => ({
      ...{ severity, kind: 'Mapping', namespace: 'default', name: 'm', file: 'a.yaml', line },
      message: 'wrong',
    });
    const problems = [problem('warning', 1), problem('error', 2), problem('warning', 3)];
    const lines = statusText({ ...status, problems })
      .trimEnd()
      .split('\n')
      .slice(-3);
    assert.deepEqual(
      lines.map(line => /a\.yaml:(\d)/.exec(line)?.[1]),
      ['2', '1', '3'],
    );
  });

  test('has one line for many proxies of a group that are in sync, and all of each that is not', () => {
    const inSync = Array.from({ length: 41 }, (_, number) => proxy(number));
    const status = statusOf([], [...inSync, proxy(99, 'waiting')]);
    assert.deepEqual(statusText(status).trimEnd().split('\n'), [
      'ready',
      NONE,
      '41 of group edge are in sync, which --all lists',
      'edge-99 (edge) at 192.0.2.99:1',
      '  Cluster                 sent b, ACKed a',
    ]);
    assert.equal(statusText(status, true).trimEnd().split('\n').length, 2 + 2 * 42);
  });

  test('says of a proxy that came with all it is to have that it is in sync', () => {
    const types = [{ type: 'Cluster' }];
    const came = { ...proxy(1), types };
    const waits = { ...proxy(2, 'waiting'), types };
    assert.deepEqual(
      statusText(statusOf([], [came, waits]))
        .trimEnd()
        .split('\n')
        .slice(2),
      [
        'edge-1 (edge) at 192.0.2.1:1',
        '  Cluster                 in sync since it connected',
        'edge-2 (edge) at 192.0.2.2:1',
        '  Cluster                 sent nothing yet, ACKed nothing yet',
      ],
    );
  });

  test('has a line for each that is asked for, or when there are few', () => {
    assert.equal(statusText(status, true).trimEnd().split('\n').length, 44);
    const few = statusOf(many.slice(1));
    assert.equal(statusText(few).trimEnd().split('\n').length, 41);
  });
});
