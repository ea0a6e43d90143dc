import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { parseActivity } from './drain-envoy.ts';

describe('what an Envoy is doing', () => {
  test('is the sum over its listeners, without the admin interface that is being asked', () => {
    const stats = [
      'http.admin.downstream_cx_active: 1',
      'http.admin.downstream_rq_active: 1',
      'http.edge.downstream_cx_active: 3',
      'http.edge.downstream_rq_active: 2',
      'http.other.downstream_cx_active: 4',
      '',
    ];
    assert.deepEqual(parseActivity(stats.join('\n')), { connections: 7, requests: 2 });
  });
});
