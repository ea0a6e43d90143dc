import assert from 'node:assert/strict';
import { test } from 'node:test';
import { everyType, findService, findType, messageType } from './root.ts';

for (const name of [
  'envoy.config.route.v3.Route',
  'envoy.config.core.v3.SocketAddress',
  'envoy.config.endpoint.v3.ClusterLoadAssignment.Policy.DropOverload',
  'google.protobuf.Any',
  'gateway.config.v1.Filter',
  'grpc.health.v1.HealthCheckRequest',
])
  test(`${name} is found, with all that it is made of`, () => {
    const type = messageType(name);
    assert.equal(type.fullName, `.${name}`);
    for (const field of type.fieldsArray) assert.ok(field.resolved, field.fullName);
    assert.equal(findType(name), type);
  });

for (const name of [
  '',
  '.',
  'envoy',
  'envoy.config.core.v3',
  '.envoy.config.core.v3.SocketAddress',
  'envoy.config.core.v3.SocketAddress.Protocol',
  'envoy.config.core.v3.SocketAddress.address',
  'envoy.service.auth.v3.Authorization',
  'gateway.config.v1.',
  'gateway.config.v1.filter',
  'gateway.config.v1.Filter.oauth2',
  '__proto__',
  'constructor',
  'a.'.repeat(1_000_000),
])
  test(`${JSON.stringify(name.slice(0, 60))} is no message type`, () => {
    assert.equal(findType(name), undefined);
  });

test('a service is found with the types of its methods', () => {
  const { Check } = findService('envoy.service.auth.v3.Authorization').methods;
  assert.equal(Check?.resolvedRequestType?.fullName, '.envoy.service.auth.v3.CheckRequest');
});

test('names that must exist are named when they do not', () => {
  assert.throws(() => messageType('test.None'), { message: 'no message type test.None' });
  assert.throws(() => findService('envoy.config.core.v3.Node'), {
    message: 'no service envoy.config.core.v3.Node',
  });
});

test('every type is there once', () => {
  const names = everyType().map(({ fullName }) => fullName);
  assert.equal(new Set(names).size, names.length);
  assert.ok(names.length > 500);
});
