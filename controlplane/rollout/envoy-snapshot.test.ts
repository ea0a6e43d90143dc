import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Compiled } from '#controlplane/compile/compiled.ts';
import { encodeAny } from '#protos/encode.ts';
import type { JsonObject } from '#protos/json.ts';
import { CLUSTER, FILTER } from '#protos/type-url.ts';
import { snapshotEncoder } from './envoy-snapshot.ts';

function cluster(name: string): JsonObject {
  return { '@type': CLUSTER, name, connect_timeout: '1s' };
}

function compiled(...clusters: readonly JsonObject[]): Compiled {
  const resources = clusters.map(json => ({ name: String(json.name), json, origins: [] }));
  return { resources: new Map([[CLUSTER, resources]]), problems: [] };
}

test('the version of what holds secrets is nothing that others can compute', () => {
  const filter = { '@type': FILTER, jwt: { jwks_uri: 'https://login.example.com/keys' } };
  const version = (key: number, json: JsonObject) =>
    [...(snapshotEncoder(Buffer.alloc(32, key))(compiled(json)).values() ?? [])]
      .flatMap(resources => [...resources.values()])
      .map(({ version }) => version)[0];
  assert.equal(version(1, { ...filter }), version(1, { ...filter }));
  assert.notEqual(version(1, { ...filter }), version(2, { ...filter }));
  assert.equal(version(1, cluster('a')), version(2, cluster('a')));
});

describe('the bytes of a compiled configuration', () => {
  test('are those of each resource, by type and name', () => {
    const json = cluster('one');
    const resource = snapshotEncoder(Buffer.alloc(32))(compiled(json)).get(CLUSTER)?.get('one');
    assert.deepEqual(resource?.any, encodeAny(json));
  });

  test('are made once for what does not change', () => {
    const encode = snapshotEncoder(Buffer.alloc(32));
    const one = cluster('one');
    const before = encode(compiled(one, cluster('two'))).get(CLUSTER);
    const after = encode(compiled(one, { ...cluster('two'), connect_timeout: '2s' })).get(CLUSTER);
    assert.equal(after?.get('one'), before?.get('one'));
    assert.notEqual(after?.get('two')?.version, before?.get('two')?.version);
  });
});
