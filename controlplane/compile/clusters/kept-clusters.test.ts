import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CLUSTER } from '#protos/type-url.ts';
import { collect } from '#resources/parse/collect.ts';
import { createParser } from '#resources/parse/parse.ts';
import { DEFAULT_PARSE_OPTIONS } from '#resources/parse/parse-options.ts';
import { toResourceSet } from '#resources/resource-set.ts';
import { compile } from '../compile.ts';
import { Memo } from '../memo.ts';

const ADDRESS = { host: '127.0.0.1', port: 0 };

function compiler() {
  const parse = createParser(DEFAULT_PARSE_OPTIONS);
  const memo = new Memo();
  const options = { edge: ADDRESS, sds: ADDRESS, rateLimit: ADDRESS, extAuthz: ADDRESS, memo };
  return (...services: readonly string[]) => {
    const text = services.map(mapping).join('---\n');
    const { resources } = collect(parse(new Map([['mappings.yaml', { text }]])));
    const { resources: made } = compile(toResourceSet(resources.values(), []), 'edge', options);
    return new Map((made.get(CLUSTER) ?? []).map(cluster => [cluster.name, cluster]));
  };
}

function mapping(service: string, at: number): string {
  return `apiVersion: gateway.internal/v2
kind: Mapping
metadata: {name: m${at}}
spec: {prefix: /m${at}/, service: "${service}"}
`;
}

test('a Mapping that moves to another service leaves the clusters of others the very same', () => {
  const clusters = compiler();
  const before = clusters('shop.example.com', 'api.example.com:81', 'plain');
  const after = clusters('shop.example.com', 'api.example.com:82', 'plain');
  assert.notEqual(after.get('api.example.com:82'), undefined);
  for (const name of ['shop.example.com', 'plain'])
    assert.equal(after.get(name), before.get(name), name);
});

test('a cluster that one more Mapping uses has both as its origins', () => {
  const clusters = compiler();
  const before = clusters('shop.example.com', 'plain');
  const after = clusters('shop.example.com', 'shop.example.com');
  assert.deepEqual(before.get('shop.example.com')?.origins, ['Mapping/default/m0']);
  assert.deepEqual(after.get('shop.example.com')?.origins, [
    'Mapping/default/m0',
    'Mapping/default/m1',
  ]);
});
