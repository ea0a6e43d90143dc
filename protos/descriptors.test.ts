import assert from 'node:assert/strict';
import { test } from 'node:test';
import protobuf from 'protobufjs';
import descriptor from 'protobufjs/ext/descriptor/index.js';
import { indexDescriptors, loadDescriptors } from './descriptors.ts';
import { everyType } from './root.ts';

const descriptors = loadDescriptors();
const file = [...descriptors.files.values()].map(({ bytes }) =>
  descriptor.FileDescriptorProto.decode(bytes),
);
// Added to Root by protobufjs/ext/descriptor, whose types do not say so.
const { fromDescriptor } = protobuf.Root as unknown as {
  fromDescriptor(set: object): protobuf.Root;
};
const declared = fromDescriptor({ file }).resolveAll();
const { root } = everyType()[0] as protobuf.Type;

/**
 * What a client needs of a message: each field's name, number and type, whether it is repeated, and
 * its oneof.
 */
function fieldsOf(type: protobuf.Type): string[] {
  return type.fieldsArray
    .filter(field => field.declaringField === null)
    .map(field => `${field.name} ${field.id} ${typeOf(field)} ${field.partOf?.name}`)
    .sort();
}

function typeOf(field: protobuf.Field): string {
  const value = field.resolvedType === null ? field.type : field.resolvedType.fullName;
  if (field instanceof protobuf.MapField) return `map ${field.keyType} ${value}`;
  if (field.resolvedType instanceof protobuf.Type && isMapEntry(field.resolvedType)) {
    return ['map', ...field.resolvedType.fieldsArray.map(typeOf)].join(' ');
  }
  return field.repeated ? `repeated ${value}` : value;
}

function isMapEntry(type: protobuf.Type): boolean {
  return type.name.endsWith('Entry') && Object.keys(type.fields).join() === 'key,value';
}

function declaredNames(namespace: protobuf.NamespaceBase): protobuf.ReflectionObject[] {
  return namespace.nestedArray.flatMap(nested => [
    nested,
    ...(nested instanceof protobuf.Namespace ? declaredNames(nested) : []),
  ]);
}

test('the descriptors have the messages, enums and services that we load', () => {
  let messages = 0;
  for (const theirs of declaredNames(declared)) {
    const ours = root.lookup(theirs.fullName.slice(1));
    if (theirs instanceof protobuf.Type && !isMapEntry(theirs)) {
      assert.ok(ours instanceof protobuf.Type, theirs.fullName);
      assert.deepEqual(fieldsOf(theirs), fieldsOf(ours), theirs.fullName);
      messages += 1;
    } else if (theirs instanceof protobuf.Enum) {
      assert.deepEqual(theirs.values, (ours as protobuf.Enum).values, theirs.fullName);
    } else if (theirs instanceof protobuf.Service) {
      assert.deepEqual(
        Object.keys(theirs.methods),
        Object.keys((ours as protobuf.Service).methods),
      );
    }
  }
  assert.ok(messages > 100);
});

for (const service of [
  'envoy.service.discovery.v3.AggregatedDiscoveryService',
  'envoy.service.listener.v3.ListenerDiscoveryService',
  'envoy.service.route.v3.RouteDiscoveryService',
  'envoy.service.cluster.v3.ClusterDiscoveryService',
  'envoy.service.endpoint.v3.EndpointDiscoveryService',
  'envoy.service.secret.v3.SecretDiscoveryService',
  'envoy.service.auth.v3.Authorization',
  'envoy.service.ratelimit.v3.RateLimitService',
  'grpc.health.v1.Health',
  'grpc.reflection.v1.ServerReflection',
  'grpc.reflection.v1alpha.ServerReflection',
]) {
  test(`${service} is described`, () => {
    const file = descriptors.symbols.get(service);
    assert.ok(file !== undefined);
    for (const method of root.lookupService(service).methodsArray) {
      assert.equal(descriptors.symbols.get(`${service}.${method.name}`), file);
    }
  });
}

test('every import of a file is there', () => {
  for (const file of descriptors.files.values()) {
    for (const name of file.imports)
      assert.ok(descriptors.files.has(name), `${file.name} imports ${name}`);
  }
});

test('nested messages, enums and extensions are found by their full names', () => {
  for (const [symbol, file] of [
    [
      'envoy.config.endpoint.v3.ClusterLoadAssignment.Policy',
      'envoy/config/endpoint/v3/endpoint.proto',
    ],
    ['envoy.config.core.v3.TrafficDirection', 'envoy/config/core/v3/base.proto'],
    ['envoy.config.core.v3.SocketAddress.Protocol', 'envoy/config/core/v3/address.proto'],
    ['udpa.annotations.sensitive', 'udpa/annotations/sensitive.proto'],
  ] as const) {
    assert.equal(descriptors.symbols.get(symbol)?.name, file);
  }
});

test('no files describe nothing', () => {
  assert.equal(indexDescriptors([]).files.size, 0);
});
