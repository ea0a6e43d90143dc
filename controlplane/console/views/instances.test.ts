import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { SampledRequest } from '#controlplane/figures/figures.ts';
import { instanceRows } from './instances.ts';

function sent(upstream: string, failure = ''): SampledRequest {
  const request: Partial<SampledRequest> = { upstream, failure, status: 200, at: 5, details: '' };
  return request as SampledRequest;
}

function known(...ports: readonly number[]) {
  const instances = ports.map(port => ({
    address: '::1',
    port,
    healthy: port < 9,
    drained: false,
  }));
  return [{ service: 's', instances, more: false }];
}

test('an instance that no request went to is shown, and one that discovery does not know', () => {
  const requests = [sent('[::1]:1'), sent('[::1]:1', 'reset'), sent('10.0.0.1:80'), sent('')];
  const { rows, total } = instanceRows(requests, known(1, 2, 9), [{ address: '::1', port: 2 }]);
  const idle = { requests: 0, failed: 0 };
  assert.deepEqual(rows, [
    {
      address: '10.0.0.1',
      port: 80,
      discovered: false,
      drained: false,
      ...idle,
      requests: 1,
      at: 5,
    },
    {
      ...{ address: '::1', port: 1, discovered: true, healthy: true, drained: false },
      ...{ requests: 2, failed: 1, failure: 'reset', at: 5 },
    },
    { address: '::1', port: 2, discovered: true, healthy: true, drained: true, ...idle },
    { address: '::1', port: 9, discovered: true, healthy: false, drained: false, ...idle },
  ]);
  assert.equal(total, 4);
});

test('of very many the first are shown, and all are counted', () => {
  const many = Array.from({ length: 80 }, (_, port) => port + 1);
  const { rows, total } = instanceRows([], known(...many), []);
  assert.deepEqual([rows.length, total], [50, 80]);
});
