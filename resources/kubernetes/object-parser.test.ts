import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { KubernetesObject } from '#kubernetes/kubernetes-object.ts';
import { Parser } from '#resources/parse/parse.ts';
import { DEFAULT_PARSE_OPTIONS } from '#resources/parse/parse-options.ts';
import { objectParser } from './object-parser.ts';

const PLACE = 'Kubernetes mappings.gateway.internal';
const METADATA = { name: 'one', namespace: 'shop', uid: 'u', generation: 1, resourceVersion: '1' };
const SPEC = { prefix: '/a/', service: 'a' };

function objectOf(more: object = {}, metadata: object = {}): KubernetesObject {
  const merged = { ...METADATA, ...metadata };
  return {
    apiVersion: 'gateway.internal/v2',
    kind: 'Mapping',
    metadata: merged,
    spec: SPEC,
    ...more,
  };
}

const parser = () => objectParser(PLACE, new Parser(DEFAULT_PARSE_OPTIONS));

test('an object whose status or version changed is not parsed again; one that was edited or touched is', () => {
  const { parse, forget } = parser();
  const first = parse(objectOf());
  assert.equal(parse(objectOf({ status: { problems: [] } }, { resourceVersion: '2' })), first);
  for (const metadata of [
    { generation: 2 },
    { annotations: { a: 'b' } },
    { labels: { a: 'b' } },
    { uid: 'v' },
  ]) {
    const other = parse(objectOf({}, metadata));
    assert.notEqual(other, first);
    assert.equal(parse(objectOf({}, metadata)), other);
  }
  const last = parse(objectOf());
  forget('shop/one');
  assert.notEqual(parse(objectOf()), last);
});

test('an object that goes to another gateway has left, until it is back', () => {
  const { parse } = parser();
  const of = (generation: number, ...ids: string[]) =>
    parse(objectOf({ spec: { ...SPEC, gateway_id: ids } }, { generation })).left;
  assert.deepEqual([of(1, 'other'), of(2, 'default')], [undefined, undefined]);
  assert.deepEqual([of(3, 'other'), of(4, 'third'), of(5, 'default')], [true, true, undefined]);
});

test('what has no generation, as a Secret, is parsed for each version', () => {
  const { parse } = parser();
  const secret = (resourceVersion: string, data: object) =>
    objectOf(
      { apiVersion: 'v1', kind: 'Secret', spec: undefined, data },
      { generation: undefined, resourceVersion },
    );
  const first = parse(secret('1', { a: 'YQ==' }));
  assert.notEqual(parse(secret('2', { a: 'Yg==' })).resources[0]?.hash, first.resources[0]?.hash);
});

test('of the metadata only the name is kept, and of the status nothing', () => {
  const annotations = { 'kubectl.kubernetes.io/last-applied-configuration': 'tell-nobody' };
  const { resources } = parser().parse(
    objectOf({ status: { a: 1 } }, { annotations, managedFields: [] }),
  );
  assert.deepEqual(resources[0]?.document, {
    apiVersion: 'gateway.internal/v2',
    kind: 'Mapping',
    metadata: { name: 'one', namespace: 'shop' },
    spec: SPEC,
  });
});

test('an object that nobody can read to its end is rejected by name', () => {
  let deep: object = {};
  for (let depth = 0; depth < 100_000; depth += 1) deep = { a: deep };
  const OAuth2 = {
    clientAuthentication: { method: 'JWTAssertion', jwtAssertion: { otherClaims: deep } },
  };
  const { rejected, problems } = parser().parse(objectOf({ kind: 'Filter', spec: { OAuth2 } }));
  assert.deepEqual(
    rejected.map(({ id }) => id),
    ['Filter/shop/one'],
  );
  assert.deepEqual(
    problems.map(({ message }) => message),
    ['it is nested too deeply to be read'],
  );
});

test('an object for another gateway says nothing', () => {
  const { resources, rejected, problems } = parser().parse(
    objectOf({ spec: { ...SPEC, gateway_id: 'other' } }),
  );
  assert.deepEqual([resources, rejected, problems], [[], [], []]);
});
