import assert from 'node:assert/strict';
import { test } from 'node:test';
import { status } from '@grpc/grpc-js';
import { CLUSTER, LISTENER } from '#protos/type-url.ts';
import { type CheckedRequest, checkRequest, MAX_NAMES, MAX_TYPES, type StreamLoad } from './request-check.ts';

const node = { id: 'n', cluster: 'edge' };
const names = (count: number) => Array.from({ length: count }, (_, i) => `n${i}`);
const versions = (count: number) => Object.fromEntries(names(count).map(name => [name, '1']));

type Case = readonly [
  what: string,
  request: Partial<CheckedRequest>,
  served: string | undefined,
  load: StreamLoad | undefined,
  code: status | undefined,
];

const CASES: readonly Case[] = [
  ['a first request with node and type', { node }, undefined, undefined, undefined],
  ['a first request without node', {}, undefined, undefined, status.INVALID_ARGUMENT],
  [
    'a first request without node id',
    { node: { id: '', cluster: 'c' } },
    undefined,
    undefined,
    status.INVALID_ARGUMENT,
  ],
  ['a later request without node', {}, undefined, { types: 1, names: 1 }, undefined],
  [
    'an aggregated request without type',
    { node, type_url: '' },
    undefined,
    undefined,
    status.INVALID_ARGUMENT,
  ],
  ['a per-type request without type', { node, type_url: '' }, CLUSTER, undefined, undefined],
  ['a per-type request of its type', { node }, CLUSTER, undefined, undefined],
  ['a per-type request of another type', { node }, LISTENER, undefined, status.INVALID_ARGUMENT],
  ['one type too many', {}, undefined, { types: MAX_TYPES + 1, names: 0 }, status.RESOURCE_EXHAUSTED],
  [
    'as many names as there may be, repeated',
    { resource_names: names(MAX_NAMES) },
    undefined,
    { types: 1, names: MAX_NAMES },
    undefined,
  ],
  [
    'too many names',
    { node, resource_names: names(MAX_NAMES + 1) },
    undefined,
    undefined,
    status.RESOURCE_EXHAUSTED,
  ],
  [
    'too many names to subscribe',
    { node, resource_names_subscribe: names(MAX_NAMES + 1) },
    undefined,
    undefined,
    status.RESOURCE_EXHAUSTED,
  ],
  [
    'too many names to unsubscribe',
    { node, resource_names_unsubscribe: names(MAX_NAMES + 1) },
    undefined,
    undefined,
    status.RESOURCE_EXHAUSTED,
  ],
  [
    'too many versions',
    { node, initial_resource_versions: versions(MAX_NAMES + 1) },
    undefined,
    undefined,
    status.RESOURCE_EXHAUSTED,
  ],
  [
    'too many names on the stream',
    {},
    undefined,
    { types: 1, names: MAX_NAMES + 1 },
    status.RESOURCE_EXHAUSTED,
  ],
];

for (const [what, request, served, load, code] of CASES) {
  test(`${what} is ${code === undefined ? 'taken' : status[code]}`, () => {
    assert.equal(checkRequest({ node: null, type_url: CLUSTER, ...request }, served, load)?.code, code);
  });
}
