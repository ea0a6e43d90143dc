import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject } from '#protos/json.ts';
import { CLUSTER_LOAD_ASSIGNMENT } from '#protos/type-url.ts';
import type { Instances } from '../instances/instance.ts';
import { fetchEndpoints } from './fetch-endpoints.ts';

const instances: Instances = new Map([
  ['b', [{ address: '10.0.0.2', port: 80 }]],
  ['a', [{ address: '10.0.0.1', port: 80 }]],
]);

function fetched(request: object, from = instances): JsonObject {
  const answer = fetchEndpoints(request, from);
  assert.equal(answer.status, 200);
  return JSON.parse(JSON.stringify(answer.status === 200 && answer.body));
}

test('a named service is answered with its endpoints, and an unknown one with none', () => {
  const { version_info, ...rest } = fetched({
    resource_names: ['nobody', 'a'],
    type_url: CLUSTER_LOAD_ASSIGNMENT,
  });
  assert.match(String(version_info), /^[0-9a-f]{16}$/);
  assert.deepEqual(rest, {
    type_url: CLUSTER_LOAD_ASSIGNMENT,
    resources: [
      {
        '@type': CLUSTER_LOAD_ASSIGNMENT,
        cluster_name: 'a',
        endpoints: [
          {
            lb_endpoints: [
              {
                endpoint: { address: { socket_address: { address: '10.0.0.1', port_value: 80 } } },
              },
            ],
          },
        ],
      },
      { '@type': CLUSTER_LOAD_ASSIGNMENT, cluster_name: 'nobody', endpoints: [] },
    ],
  });
});

test('no names means all services; a name that is repeated counts once', () => {
  const names = (request: object) =>
    (fetched(request).resources as JsonObject[]).map(resource => resource.cluster_name);
  assert.deepEqual(names({}), ['a', 'b']);
  assert.deepEqual(names({ resourceNames: ['b', 'b'] }), ['b']);
});

test('a client that has the version gets 304, until an instance of what it asks for changes', () => {
  const request = { resource_names: ['a'] };
  const { version_info } = fetched(request);
  const again = { ...request, version_info };
  assert.deepEqual(fetchEndpoints(again, instances), { status: 304 });
  assert.deepEqual(fetchEndpoints(again, new Map([...instances, ['b', []]])), { status: 304 });
  assert.notEqual(fetched(again, new Map([...instances, ['a', []]])).version_info, version_info);
});

test('the same endpoints under very many names are refused', () => {
  const members = Array.from({ length: 1_000 }, (_, port) => ({ address: '10.0.0.1', port }));
  const ask = (most: number) =>
    fetchEndpoints(
      { resource_names: Array.from({ length: most }, (_, port) => `a:${port}`) },
      new Map([['a', members]]),
    );
  assert.equal(ask(100).status, 200);
  const refused = ask(101);
  assert.equal(refused.status, 400);
  assert.deepEqual('body' in refused && refused.body, {
    error: 'resource_names: they have more than 100000 endpoints. Ask for fewer',
  });
});

const BAD: readonly [request: unknown, error: RegExp][] = [
  [undefined, /a JSON object/],
  [[], /a JSON object/],
  [{ resource_names: 'a' }, /^resource_names: want an array/],
  [{ resource_names: [1] }, /^resource_names: want an array/],
  [{ type_url: 'type.googleapis.com/envoy.config.cluster.v3.Cluster' }, /^type_url: only/],
];

for (const [request, error] of BAD) {
  test(`${JSON.stringify(request)} is rejected`, () => {
    const answer = fetchEndpoints(request, instances);
    assert.equal(answer.status, 400);
    assert.match(answer.status === 400 ? answer.body.error : '', error);
  });
}
