import { constants, type OutgoingHttpHeaders, type ServerHttp2Stream } from 'node:http2';
import { status } from '@grpc/grpc-js';
import { framed } from '#grpc/http2/grpc-blocks.ts';
import { encodeGrpcMessage } from './grpc-message.ts';
import type { Failure } from './method.ts';

const HEADERS = { ':status': 200, 'content-type': 'application/grpc' };
/** Sent with each refused call, since the encoding may have been the reason. */
const ENCODINGS = { 'grpc-accept-encoding': 'identity' };
const OK: OutgoingHttpHeaders = { 'grpc-status': '0' };
/**
 * A gRPC client does not read a date. Node reads this option, though its page names it for HTTP/1.1
 * alone.
 */
const WITH_TRAILERS = { waitForTrailers: true, sendDate: false };
const TRAILERS_ONLY = { endStream: true, sendDate: false };

/** Sends the one response of a successful call. Sends nothing when the caller has gone. */
export function respond(stream: ServerHttp2Stream, response: Uint8Array): void {
  if (isAnswered(stream)) return;
  respondInParts(stream);
  stream.end(framed(response));
}

/**
 * Begins a response of any number of messages, with status OK at the end. The caller of this writes
 * and ends it.
 */
export function respondInParts(stream: ServerHttp2Stream): void {
  stream.on('wantTrailers', sendOk);
  stream.respond(HEADERS, WITH_TRAILERS);
}

/**
 * Ends a call with a status and no response. Sends nothing when the call is answered or the caller
 * has gone. Source: gRPC over HTTP2, "Trailers-Only".
 */
export function refuse(stream: ServerHttp2Stream, { failed, message }: Failure): void {
  const grpcStatus = {
    'grpc-status': String(status[failed]),
    'grpc-message': encodeGrpcMessage(message),
  };
  end(stream, { ...HEADERS, ...ENCODINGS, ...grpcStatus });
}

/** Answers a request that is no gRPC call. */
export function refuseHttp(stream: ServerHttp2Stream, httpStatus: 405 | 415): void {
  end(stream, httpStatus === 405 ? { ':status': 405, allow: 'POST' } : { ':status': 415 });
}

/** Ends a stream. The unread rest of the request is not wanted any more. */
function end(stream: ServerHttp2Stream, headers: OutgoingHttpHeaders): void {
  if (isAnswered(stream)) return;
  stream.respond(headers, TRAILERS_ONLY);
  if (!stream.readableEnded) stream.close(constants.NGHTTP2_NO_ERROR);
}

function isAnswered(stream: ServerHttp2Stream): boolean {
  return stream.closed || stream.destroyed || stream.headersSent;
}

function sendOk(this: ServerHttp2Stream): void {
  this.sendTrailers(OK);
}
