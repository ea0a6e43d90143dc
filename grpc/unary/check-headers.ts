import type { IncomingHttpHeaders } from 'node:http2';
import { MAX_HEADER_BYTES } from './connections.ts';
import { parseGrpcTimeout } from './grpc-timeout.ts';
import { type Failure, failure, type UnaryCall } from './method.ts';

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

/** What a table counts for a field besides its bytes. Source: RFC 9113, section 6.5.2. */
const FIELD_BYTES = 32;

/**
 * Returns the size of a list of names and values in turn, before compression. Source: RFC 9113,
 * section 10.5.1.
 */
export function headerBytes(raw: readonly string[]): number {
  let bytes = (raw.length / 2) * FIELD_BYTES;
  for (const text of raw) bytes += text.length;
  return bytes;
}

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

/** Reads what the headers of a call tell its method, or why the call is refused. */
export function readCall(headers: IncomingHttpHeaders): UnaryCall | Failure {
  const timeout = headers['grpc-timeout'];
  const timeoutMs = timeout === undefined ? undefined : readTimeout(first(timeout));
  return typeof timeoutMs === 'object' ? timeoutMs : new CallOfHeaders(headers, timeoutMs);
}

/** Reads the header `grpc-timeout` in ms, or why the call is refused. */
export function readTimeout(text: string): number | Failure {
  const timeoutMs = parseGrpcTimeout(text);
  if (timeoutMs === undefined) return BAD_TIMEOUT;
  return timeoutMs === 0 ? EXPIRED : timeoutMs;
}

class CallOfHeaders implements UnaryCall {
  readonly timeoutMs: number | undefined;
  readonly #headers: IncomingHttpHeaders;

  constructor(headers: IncomingHttpHeaders, timeoutMs: number | undefined) {
    this.#headers = headers;
    this.timeoutMs = timeoutMs;
  }

  metadata(name: string): string {
    return first(this.#headers[name]);
  }
}

function first(value: string | readonly string[] | undefined): string {
  return typeof value === 'string' ? value : (value?.[0] ?? '');
}
