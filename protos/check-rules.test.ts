import assert from 'node:assert/strict';
import { test } from 'node:test';
import type protobuf from 'protobufjs';
import { checkRules } from './check-rules.ts';
import { encodeAny } from './encode.ts';
import { EncodeError } from './encode-error.ts';
import type { JsonObject } from './json.ts';
import { everyType, findType } from './root.ts';

const CORE = 'envoy.config.core.v3';
const ROUTE = 'envoy.config.route.v3';
const HCM = 'envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager';
const TYPES = 'type.googleapis.com/';
const PATH = { prefix: '/' };

function check(typeName: string, json: JsonObject): void {
  checkRules(findType(typeName) as protobuf.Type, json, '');
}

const refused: readonly [type: string, json: JsonObject, path: string, message: RegExp][] = [
  ['envoy.config.cluster.v3.Cluster', {}, '.name', /must have at least 1 characters/],
  ['envoy.config.cluster.v3.Cluster', { name: null }, '.name', /must have at least 1 characters/],
  [
    'envoy.config.cluster.v3.Cluster',
    { name: 'a', connect_timeout: '0s' },
    '.connect_timeout',
    /must be more than 0s/,
  ],
  [
    'envoy.config.cluster.v3.Cluster',
    { name: 'a', dns_refresh_rate: '0.001s' },
    '.dns_refresh_rate',
    /must be more than 0\.001s/,
  ],
  [`${ROUTE}.Route`, { route: { cluster: 'a' } }, '.match', /missing/],
  [
    `${ROUTE}.Route`,
    { match: {}, route: { cluster: 'a' } },
    '.match',
    /one of prefix, path, .* must be set/,
  ],
  [`${ROUTE}.Route`, { match: PATH }, '', /one of route, redirect, .* must be set/],
  [
    `${ROUTE}.Route`,
    { match: PATH, route: { cluster: '' } },
    '.route.cluster',
    /at least 1 characters/,
  ],
  [
    `${ROUTE}.Route`,
    { match: { path_separated_prefix: '/a/' }, route: { cluster: 'a' } },
    '.match.path_separated_prefix',
    /must match \^/,
  ],
  [
    `${ROUTE}.Route`,
    { match: PATH, direct_response: { status: 199 } },
    '.direct_response.status',
    /must be at least 200/,
  ],
  [
    `${ROUTE}.Route`,
    { match: PATH, direct_response: { status: 600 } },
    '.direct_response.status',
    /must be less than 600/,
  ],
  [
    `${ROUTE}.Route`,
    { match: PATH, direct_response: {} },
    '.direct_response.status',
    /must be at least 200/,
  ],
  [`${ROUTE}.VirtualHost`, { name: 'a' }, '.domains', /must have at least 1 items/],
  [`${ROUTE}.VirtualHost`, { name: 'a', domains: [] }, '.domains', /must have at least 1 items/],
  [
    `${ROUTE}.VirtualHost`,
    { name: 'a', domains: ['*'], request_headers_to_remove: ['a', 'b\n'] },
    '.request_headers_to_remove',
    /item 1 must be an HTTP_HEADER_NAME/,
  ],
  [
    `${ROUTE}.VirtualHost`,
    { name: 'a', domains: ['*'], routes: [{ match: PATH }] },
    '.routes[0]',
    /must be set/,
  ],
  [`${CORE}.HeaderValue`, { key: 'a'.repeat(16_385) }, '.key', /at most 16384 bytes/],
  [`${CORE}.HeaderValue`, { key: 'a\r' }, '.key', /must be an HTTP_HEADER_NAME/],
  [`${CORE}.HeaderValue`, { key: 'a', value: 'b\0' }, '.value', /must be an HTTP_HEADER_VALUE/],
  [
    `${CORE}.SocketAddress`,
    { address: '127.0.0.1', port_value: 65_536 },
    '.port_value',
    /at most 65535/,
  ],
  [`${CORE}.SocketAddress`, { port_value: 80 }, '.address', /at least 1 characters/],
  [
    `${CORE}.HealthCheck.HttpHealthCheck`,
    { path: '/', method: 'CONNECT' },
    '.method',
    /another word/,
  ],
  [
    `${CORE}.HealthCheck.HttpHealthCheck`,
    { path: '/', host: 'a\x7f' },
    '.host',
    /must be an HTTP_HEADER_VALUE/,
  ],
  ['envoy.type.v3.HttpStatus', {}, '.code', /another word/],
  [
    `${CORE}.ApiConfigSource`,
    { transport_api_version: 'V3', request_timeout: '0s' },
    '.request_timeout',
    /must be more than 0s/,
  ],
  [HCM, { route_config: {} }, '.stat_prefix', /at least 1 characters/],
  [HCM, { stat_prefix: 'a' }, '', /one of rds, route_config, scoped_routes must be set/],
  [
    HCM,
    {
      stat_prefix: 'a',
      route_config: {},
      http_filters: [{ name: 'a', typed_config: { '@type': `${TYPES}${CORE}.HeaderValue` } }],
    },
    '.http_filters[0].typed_config.key',
    /at least 1 characters/,
  ],
  [
    'envoy.config.cluster.v3.Cluster',
    {
      name: 'a',
      typed_extension_protocol_options: { x: { '@type': `${TYPES}${CORE}.HeaderValue` } },
    },
    '.typed_extension_protocol_options.x.key',
    /at least 1 characters/,
  ],
];

for (const [type, json, path, message] of refused) {
  test(`${type} ${JSON.stringify(json).slice(0, 100)} is refused`, () => {
    assert.throws(
      () => check(type, json),
      (error: unknown) =>
        error instanceof EncodeError && error.path === path && message.test(error.message),
    );
  });
}

const accepted: readonly [type: string, json: JsonObject][] = [
  [
    'envoy.config.cluster.v3.Cluster',
    { name: 'a', connect_timeout: '0.000000001s', alt_stat_name: '' },
  ],
  [
    `${ROUTE}.Route`,
    { match: { path_separated_prefix: '/a' }, route: { cluster: 'a', timeout: '0s' } },
  ],
  [`${ROUTE}.Route`, { match: PATH, direct_response: { status: 599 } }],
  [`${ROUTE}.VirtualHost`, { name: 'ü', domains: ['*'], request_headers_to_remove: ['any thing'] }],
  [`${CORE}.HeaderValue`, { key: 'a'.repeat(16_384), value: '\t' }],
  [`${ROUTE}.WeightedCluster.ClusterWeight`, { name: 'a', weight: 1 }],
  [`${CORE}.RuntimeFractionalPercent`, { default_value: { numerator: 100 } }],
  [`${CORE}.RuntimePercent`, { default_value: { value: 100 } }],
  [
    'envoy.extensions.filters.http.ratelimit.v3.RateLimit',
    {
      domain: 'a',
      rate_limit_service: {
        transport_api_version: 'V3',
        grpc_service: { envoy_grpc: { cluster_name: 'a' } },
      },
    },
  ],
];

for (const [type, json] of accepted) {
  test(`${type} ${JSON.stringify(json).slice(0, 100)} is accepted`, () => check(type, json));
}

test('what is put into an Any is checked, with the path that was given', () => {
  const json = { '@type': `${TYPES}${ROUTE}.VirtualHost`, name: 'a' };
  assert.throws(() => encodeAny(json, 'virtual_hosts[2]'), { path: 'virtual_hosts[2].domains' });
});

test('a route that was refused is refused again', () => {
  const route = { match: PATH };
  for (let i = 0; i < 2; i++)
    assert.throws(() =>
      check(`${ROUTE}.VirtualHost`, { name: 'a', domains: ['*'], routes: [route] }),
    );
});

test('every rule of the loaded Envoy API is known', () => {
  for (const type of everyType()) {
    try {
      check(type.fullName.slice(1), {});
    } catch (error) {
      assert.ok(error instanceof EncodeError, `${type.fullName}: ${error}`);
    }
  }
});
