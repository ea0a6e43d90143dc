import assert from 'node:assert/strict';
import { test } from 'node:test';
import { GRPC_FAILURES } from '#controlplane/compile/listeners/sampled-requests-log.ts';
import { grpcStatusOf } from './grpc-status.ts';

test('the statuses from 500 are those that proxies log as failed', () => {
  const known = Array.from({ length: 100 }, (_, code) => grpcStatusOf(`${code}`) ?? []).flat();
  assert.equal(known.length, 17);
  const failed = known.flatMap(({ grpcStatus, status }) => (status >= 500 ? [grpcStatus] : []));
  assert.deepEqual(failed, GRPC_FAILURES);
});

for (const text of ['', '17', '-1', '0x1', '1e1', '014', ' 1', 'constructor'])
  test(`"${text}" is no status of gRPC`, () => assert.equal(grpcStatusOf(text), undefined));
