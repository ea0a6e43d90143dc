import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { encodeAny } from '#protos/encode.ts';
import type { JsonObject } from '#protos/json.ts';
import { CLUSTER } from '#protos/type-url.ts';
import type { Compiled } from './compile/compiled.ts';
import { snapshotEncoder } from './envoy-snapshot.ts';

function cluster(name: string): JsonObject {
  return { '@type': CLUSTER, name, connect_timeout: '1s' };
}

function compiled(...clusters: readonly JsonObject[]): Compiled {
  const resources = clusters.map(json => ({ name: String(json.name), json, origins: [] }));
  return { resources: new Map([[CLUSTER, resources]]), problems: [] };
}

describe('the bytes of a compiled configuration', () => {
  test('are those of each resource, by type and name', () => {
    const json = cluster('one');
    const resource = snapshotEncoder()(compiled(json)).get(CLUSTER)?.get('one');
    assert.deepEqual(resource?.any, encodeAny(json));
  });

  test('are made once for what does not change', () => {
    const encode = snapshotEncoder();
    const one = cluster('one');
    const before = encode(compiled(one, cluster('two'))).get(CLUSTER);
    const after = encode(compiled(one, { ...cluster('two'), connect_timeout: '2s' })).get(CLUSTER);
    assert.equal(after?.get('one'), before?.get('one'));
    assert.notEqual(after?.get('two')?.version, before?.get('two')?.version);
  });
});
