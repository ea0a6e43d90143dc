import assert from 'node:assert/strict';
import { test } from 'node:test';
import { encodeAny } from '#protos/encode.ts';
import type { JsonObject } from '#protos/json.ts';
import { CLUSTER, LISTENER, ROUTE_CONFIGURATION } from '#protos/type-url.ts';
import { snapshotOf, type XdsResource, xdsResource } from '../snapshot.ts';
import { missingReferences } from './references.ts';

const HCM =
  'type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager';

function resource(name: string, json: JsonObject): XdsResource {
  return xdsResource(name, encodeAny({ name, ...json }));
}

function routesTo(...actions: readonly JsonObject[]): JsonObject {
  const routes = actions.map(route => ({ match: { prefix: '/' }, route }));
  return { virtual_hosts: [{ name: 'all', domains: ['*'], routes }] };
}

function listener(http: JsonObject): XdsResource {
  const typed_config = { '@type': HCM, stat_prefix: 'edge', ...http };
  const filter_chains = [{ filters: [{ name: 'http', typed_config }] }];
  return resource('in', { '@type': LISTENER, filter_chains });
}

const rds = { rds: { route_config_name: 'edge', config_source: { ads: {} } } };
const a = resource('a', { '@type': CLUSTER, connect_timeout: '1s' });
const route = (...actions: readonly JsonObject[]) =>
  resource('edge', { '@type': ROUTE_CONFIGURATION, ...routesTo(...actions) });

const CASES: readonly [
  what: string,
  resources: readonly XdsResource[],
  missing: readonly string[],
][] = [
  ['nothing', [], []],
  ['all that is named', [listener(rds), route({ cluster: 'a' }), a], []],
  ['a cluster of the bootstrap', [route({ cluster: 'sds' })], []],
  [
    'a route without its cluster',
    [route({ cluster: 'b' }), a],
    ['route configuration edge names cluster b, which is missing'],
  ],
  [
    'a weighted cluster and a mirror that are missing',
    [
      route(
        {
          weighted_clusters: {
            clusters: [
              { name: 'a', weight: 1 },
              { name: 'b', weight: 1 },
            ],
          },
        },
        { cluster: 'a', request_mirror_policies: [{ cluster: 'c' }] },
      ),
      a,
    ],
    [
      'route configuration edge names cluster b, which is missing',
      'route configuration edge names cluster c, which is missing',
    ],
  ],
  [
    'a listener without its routes',
    [listener(rds), a],
    ['listener in names route configuration edge, which is missing'],
  ],
  [
    'routes inside a listener',
    [listener({ route_config: { name: 'own', ...routesTo({ cluster: 'b' }) } })],
    ['listener in names cluster b, which is missing'],
  ],
];

for (const [what, resources, missing] of CASES) {
  test(`references of ${what}`, () => {
    assert.deepEqual(missingReferences(snapshotOf(resources), new Set(['sds'])), missing);
  });
}
