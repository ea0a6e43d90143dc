import type { Message } from '#protos/decode-bytes.ts';
import { failure, type UnaryMethod } from './method.ts';
import { protobufCodec } from './protobuf-codec.ts';

export const HEALTH = 'grpc.health.v1.Health';

/** `grpc.health.v1.HealthCheckResponse.ServingStatus`. */
const SERVING = 1;
const NOT_SERVING = 2;

/**
 * Answers health `Check` of the server ('') and its services. Source: the GRPC Health Checking
 * Protocol.
 */
export function healthCheck(services: ReadonlySet<string>, isServing: () => boolean): UnaryMethod {
  const codec = protobufCodec(
    'grpc.health.v1.HealthCheckRequest',
    'grpc.health.v1.HealthCheckResponse',
  );
  const handle = ({ service }: Message) => {
    if (service !== '' && !services.has(String(service)))
      return failure('NOT_FOUND', 'there is no such service');
    return { status: isServing() ? SERVING : NOT_SERVING };
  };
  return { path: `/${HEALTH}/Check`, ...codec, handle };
}
