import type { MethodDefinition, ServiceDefinition } from '@grpc/grpc-js';
import type protobuf from 'protobufjs';
import { decodeBytes } from '#protos/decode-bytes.ts';
import { findService } from '#protos/root.ts';

/**
 * Returns the grpc-js definition of a service of the loaded API. The service is named in full, such
 * as `envoy.service.discovery.v3.AggregatedDiscoveryService`. Handlers are keyed by method name.
 */
export function serviceDefinition(serviceName: string): ServiceDefinition {
  const methods = findService(serviceName).methodsArray.map(method => [
    method.name,
    methodDefinition(serviceName, method),
  ]);
  return Object.fromEntries(methods) as ServiceDefinition;
}

function methodDefinition(
  serviceName: string,
  method: protobuf.Method,
): MethodDefinition<object, object> {
  method.resolve();
  const { resolvedRequestType: request, resolvedResponseType: response } = method;
  if (request === null || response === null)
    throw new Error(`${serviceName}.${method.name} is not resolved`);
  return {
    path: `/${serviceName}/${method.name}`,
    originalName: method.name,
    requestStream: method.requestStream ?? false,
    responseStream: method.responseStream ?? false,
    requestSerialize: value => serialize(request, value),
    requestDeserialize: bytes => decodeBytes(request, bytes),
    responseSerialize: value => serialize(response, value),
    responseDeserialize: bytes => decodeBytes(response, bytes),
  };
}

/** What is encoded already goes as it is. */
function serialize(type: protobuf.Type, value: object): Buffer {
  if (Buffer.isBuffer(value)) return value;
  const bytes = type.encode(value).finish();
  return Buffer.isBuffer(bytes)
    ? bytes
    : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
