import { MAX_HEADER_BYTES } from './answering.ts';
import { parseGrpcTimeout } from './grpc-timeout.ts';
import { type Failure, failure } from './method.ts';

/** Our messages are protobuf. What follows a semicolon says nothing about them. */
const CONTENT_TYPE = /^application\/grpc(\+proto)?\s*(;|$)/i;
const EXPIRED = failure('DEADLINE_EXCEEDED', 'the deadline of the call had passed when it came');
const BAD_TIMEOUT = failure(
  'INTERNAL',
  'grpc-timeout is not a number of at most 8 digits and one of HMSmun',
);
export const TOO_LONG: Failure = failure(
  'RESOURCE_EXHAUSTED',
  `the headers have more than ${MAX_HEADER_BYTES} bytes`,
);
export const UNKNOWN: Failure = failure('UNIMPLEMENTED', 'there is no such method here');

/**
 * Returns the HTTP status for a request that is no gRPC call. Source: gRPC over HTTP2, "Requests".
 * @returns undefined when it is a gRPC call
 */
export function httpRefusal(
  method: string | undefined,
  type: string | undefined,
): 405 | 415 | undefined {
  if (method !== 'POST') return 405;
  if (type === 'application/grpc') return undefined;
  return type !== undefined && CONTENT_TYPE.test(type) ? undefined : 415;
}

/** Reads the header `grpc-timeout` in ms, or why the call is refused. */
export function readTimeout(text: string): number | Failure {
  const timeoutMs = parseGrpcTimeout(text);
  if (timeoutMs === undefined) return BAD_TIMEOUT;
  return timeoutMs === 0 ? EXPIRED : timeoutMs;
}
