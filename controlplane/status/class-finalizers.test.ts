import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DEFAULT_CONTROLLER } from '#controlplane/gateway-api/gateway-options.ts';
import { objectParser } from '#resources/kubernetes/object-parser.ts';
import { type ServedObject, toServedObject } from '#resources/kubernetes/served-object.ts';
import { Parser } from '#resources/parse/parse.ts';
import { DEFAULT_PARSE_OPTIONS } from '#resources/parse/parse-options.ts';
import { classFinalizers, GATEWAYS_EXIST } from './class-finalizers.ts';

const GROUP = 'gateway.networking.k8s.io';

function object(kind: string, name: string, spec: object, more: object = {}): ServedObject {
  const metadata = { name, uid: name, resourceVersion: '1', generation: 1, ...more };
  return toServedObject(
    { apiVersion: `${GROUP}/v1`, kind, metadata, spec },
    { group: GROUP, version: 'v1', plural: `${kind.toLowerCase()}s` },
    objectParser('api', new Parser(DEFAULT_PARSE_OPTIONS)).parse,
  );
}

const classWith = (finalizers: readonly string[], more: object = {}) =>
  object('GatewayClass', 'ours', { controllerName: DEFAULT_CONTROLLER }, { finalizers, ...more });
const gateway = (gatewayClassName: string, protocol = 'HTTP') =>
  object(
    'Gateway',
    'g',
    { gatewayClassName, listeners: [{ name: 'http', port: 80, protocol }] },
    { namespace: 'infra' },
  );

const written = (...objects: readonly ServedObject[]) =>
  classFinalizers(objects, DEFAULT_CONTROLLER).map(({ status }) => status);

const DELETED = { deletionTimestamp: '2026-01-01T00:00:00Z' };

test('a class has the finalizer as long as a Gateway uses it', () => {
  const added = [{ finalizers: ['a.test/b', GATEWAYS_EXIST] }];
  assert.deepEqual(written(classWith(['a.test/b']), gateway('ours')), added);
  assert.deepEqual(written(classWith(['a.test/b', GATEWAYS_EXIST]), gateway('ours')), []);
  assert.deepEqual(written(classWith([GATEWAYS_EXIST, 'a.test/b'], DELETED), gateway('other')), [
    { finalizers: ['a.test/b'] },
  ]);
  assert.deepEqual(written(classWith([])), []);
});

test('a Gateway that is rejected uses its class', () => {
  assert.deepEqual(written(classWith([]), gateway('ours', '?')), [
    { finalizers: [GATEWAYS_EXIST] },
  ]);
});

test('a class that is being deleted gets none, and that of another controller is left alone', () => {
  assert.deepEqual(written(classWith(['a.test/b'], DELETED), gateway('ours')), []);
  const theirs = object('GatewayClass', 'theirs', { controllerName: 'a.test/b' });
  assert.deepEqual(written(theirs, gateway('theirs')), []);
});
