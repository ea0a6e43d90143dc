import assert from 'node:assert/strict';
import { test } from 'node:test';
import { status } from '@grpc/grpc-js';
import { CLUSTER, LISTENER } from '#protos/type-url.ts';
import {
  type CheckedRequest,
  checkRequest,
  MAX_BYTES,
  MAX_ID_BYTES,
  MAX_NAME_BYTES,
  MAX_NAMES,
  MAX_TYPES,
  type StreamLoad,
} from './request-check.ts';
import { brought } from './testing/delta-driver.ts';

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
  ['a later request without node', {}, undefined, { types: 1, names: 1, bytes: 1 }, undefined],
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
  [
    'one type too many',
    {},
    undefined,
    { types: MAX_TYPES + 1, names: 0, bytes: 0 },
    status.RESOURCE_EXHAUSTED,
  ],
  [
    'as many names as there may be, repeated',
    { resource_names: names(MAX_NAMES) },
    undefined,
    { types: 1, names: MAX_NAMES, bytes: MAX_BYTES },
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
    { node, initial_resource_versions: brought(versions(MAX_NAMES + 1)) },
    undefined,
    undefined,
    status.RESOURCE_EXHAUSTED,
  ],
  [
    'too many names on the stream',
    {},
    undefined,
    { types: 1, names: MAX_NAMES + 1, bytes: 0 },
    status.RESOURCE_EXHAUSTED,
  ],
  [
    'too many bytes of names on the stream',
    {},
    undefined,
    { types: 1, names: 1, bytes: MAX_BYTES + 1 },
    status.RESOURCE_EXHAUSTED,
  ],
];

for (const [what, request, served, load, code] of CASES) {
  test(`${what} is ${code === undefined ? 'taken' : status[code]}`, () => {
    assert.equal(
      checkRequest({ node: null, type_url: CLUSTER, ...request }, served, load)?.code,
      code,
    );
  });
}

const long = (bytes: number) => 'ä'.repeat(bytes / 2);

const TEXTS: readonly (readonly [what: string, most: number, request: (text: string) => object])[] =
  [
    ['a name', MAX_NAME_BYTES, text => ({ resource_names: ['a', text] })],
    ['a subscribed name', MAX_NAME_BYTES, text => ({ resource_names_subscribe: ['a', text] })],
    ['an unsubscribed name', MAX_NAME_BYTES, text => ({ resource_names_unsubscribe: ['a', text] })],
    [
      'a brought name',
      MAX_NAME_BYTES,
      text => ({ initial_resource_versions: brought({ [text]: '1' }) }),
    ],
    [
      'a brought version',
      MAX_NAME_BYTES,
      text => ({ initial_resource_versions: brought({ a: text }) }),
    ],
    ['node.id', MAX_ID_BYTES, text => ({ node: { id: text, cluster: 'edge' } })],
    ['node.cluster', MAX_ID_BYTES, text => ({ node: { id: 'n', cluster: text } })],
    ['type_url', MAX_ID_BYTES, text => ({ type_url: text })],
  ];

for (const [what, most, request] of TEXTS) {
  test(`${what} may have ${most} bytes, and no more`, () => {
    const check = (text: string) =>
      checkRequest({ node, type_url: CLUSTER, ...request(text) }, undefined, undefined);
    assert.equal(check(long(most)), undefined);
    assert.equal(check(`${long(most)}x`)?.code, status.INVALID_ARGUMENT);
    assert.ok(
      (check(long(1_000_000))?.details.length ?? 0) < 200,
      'what is too long is not repeated',
    );
  });
}

for (const [what, , request] of TEXTS.slice(0, 4)) {
  test(`${what} that is empty is rejected`, () => {
    const refusal = checkRequest({ node, type_url: CLUSTER, ...request('') }, undefined, undefined);
    assert.equal(refusal?.code, status.INVALID_ARGUMENT);
  });
}
