import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseStatName } from './stat-name.ts';

const upstream = (cluster: string, what: string) => ({ of: 'upstream', cluster, what });
const answers = (mapping: string, ...what: number[]) => ({ of: 'mapping', mapping, what });
const REQUESTS = 'route.requests.envoy_route';
const TIME = 'route.request_time.envoy_route';
const STATUS = 'envoy_response_code';
const ACTIONS = 'overload.envoy.overload_actions';
const overload = (action: string) => ({ of: 'overload', what: `${ACTIONS}.${action}.active` });

for (const [name, stat] of [
  ['http.edge.downstream_rq_completed', { of: 'group', what: [0] }],
  ['http.edge.downstream_rq_4xx', { of: 'group', what: [1] }],
  ['http.edge.downstream_rq_5xx', { of: 'group', what: [2] }],
  ['http.edge.downstream_rq_time', { of: 'group', what: 'latency' }],
  ['http.edge.downstream_rq_active', undefined],
  ['http.admin.downstream_rq_completed', undefined],
  ['http.edge.rds.edge.update_success', undefined],
  [`${REQUESTS}.Mapping/a/b.${STATUS}.200`, answers('Mapping/a/b', 0)],
  [`${REQUESTS}.Mapping/a/b.c.${STATUS}.503`, answers('Mapping/a/b.c', 0, 2)],
  [`${REQUESTS}.Mapping/a/${STATUS}.1.${STATUS}.404`, answers(`Mapping/a/${STATUS}.1`, 0, 1)],
  [`${REQUESTS}.Mapping/a/b.${STATUS}.599`, answers('Mapping/a/b', 0, 2)],
  [`${REQUESTS}.Mapping/a/b.${STATUS}.999`, answers('Mapping/a/b', 0)],
  [`${REQUESTS}.HTTPRoute/a/b.${STATUS}.200`, answers('HTTPRoute/a/b', 0)],
  [`${REQUESTS}.GRPCRoute/a/b.route.c.${STATUS}.200`, answers('GRPCRoute/a/b.route.c', 0)],
  [`${REQUESTS}.Mapping/a/b.${STATUS}.`, undefined],
  [`${REQUESTS}.Mapping/a/b.${STATUS}.2xx`, undefined],
  [`${REQUESTS}.Mapping/a/b.${STATUS}.-1`, undefined],
  [`${REQUESTS}.Mapping/a/b.${STATUS}.1e9`, undefined],
  [`${REQUESTS}.Mapping/a/b.200`, undefined],
  [`${REQUESTS}.-.${STATUS}.404`, undefined],
  [`${REQUESTS}.`, undefined],
  [`${TIME}.Mapping/a/b.c`, { of: 'mapping', mapping: 'Mapping/a/b.c', what: 'latency' }],
  [`${TIME}.-`, undefined],
  ['route.requests', undefined],
  ['vhost.*.vcluster.other.upstream_rq_completed', undefined],
  ['cluster.shop.upstream_rq_total', upstream('shop', 'requests')],
  ['cluster.shop.upstream_rq_2xx', upstream('shop', 'answers')],
  ['cluster.shop.upstream_rq_4xx', upstream('shop', 'answers')],
  ['cluster.shop.upstream_rq_404', undefined],
  ['cluster.shop.upstream_rq_per_try_timeout', upstream('shop', 'late')],
  ['cluster.ext-authz.upstream_rq_timeout', upstream('ext-authz', 'timeouts')],
  [
    'cluster.log-service.outlier_detection.ejections_detected_consecutive_5xx',
    upstream('log-service', 'failedCalls'),
  ],
  ['cluster.log-service.upstream_rq_max_duration_reached', upstream('log-service', 'timeouts')],
  [
    'cluster.shop.prod_8080~a/b.upstream_cx_connect_fail',
    upstream('shop.prod_8080~a/b', 'connectFailures'),
  ],
  ['cluster.shop.ssl.fail_verify_san', upstream('shop', 'tlsFailures')],
  ['cluster.shop.ssl.handshake', undefined],
  ['cluster.a.ssl.ssl.connection_error', upstream('a.ssl', 'tlsFailures')],
  ['cluster.shop.membership_healthy', upstream('shop', 'healthy')],
  ['cluster.shop.external.upstream_rq_5xx', upstream('shop.external', 'serverErrors')],
  [`${ACTIONS}.stop_accepting_requests.active`, overload('stop_accepting_requests')],
  [`${ACTIONS}.stop_accepting_connections.active`, overload('stop_accepting_connections')],
  ['listener.0.0.0.0_8080.downstream_global_cx_overflow', { of: 'overflow' }],
  ['listener.0.0.0.0_8080.downstream_cx_overflow', undefined],
  [`${ACTIONS}.shrink_heap.active`, undefined],
  [`${ACTIONS}.stop_accepting_requests.scale_percent`, undefined],
  ['cluster.upstream_rq_total', undefined],
  ['cluster..upstream_rq_total', undefined],
  ['cluster.', undefined],
  ['', undefined],
  ['server.live', undefined],
] as const) {
  test(`the statistic "${name}" is ${stat === undefined ? 'no figure' : JSON.stringify(stat)}`, () => {
    assert.deepEqual(parseStatName(name, 'edge'), stat);
  });
}
