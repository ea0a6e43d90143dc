import type { Http2Server, IncomingHttpHeaders, ServerHttp2Stream } from 'node:http2';
import { constants } from 'node:http2';
import { type Server, status } from '@grpc/grpc-js';
import { thirdOfHeap } from './third-of-heap.ts';
import { COMPRESSED } from './unary/message-reader.ts';
import { UnfinishedMessages } from './unfinished-messages.ts';
import { UntakenResponses } from './untaken-responses.ts';

type OnStream = (
  stream: ServerHttp2Stream,
  headers: IncomingHttpHeaders,
  ...rest: readonly unknown[]
) => void;

/** What follows each call, and ends those that keep too much. */
type Bound = { watch(stream: ServerHttp2Stream): void };

/**
 * Stops errors that grpc-js throws at the start of a call from ending the process. It answers an
 * unknown method, or a wrong content type, without checking that the call still exists. Node throws
 * when the peer has cancelled it in the same read.
 *
 * Refuses compressed calls, too. grpc-js inflates all messages of a read at once, each up to the
 * longest that there may be, so that 4 KB can take 4 MiB of memory. Envoy compresses no calls.
 *
 * Bounds what all calls together keep of messages that do not end, and of responses that are not
 * taken.
 */
export function guardCalls(server: Server): void {
  const bounds = [new UnfinishedMessages(thirdOfHeap()), new UntakenResponses(thirdOfHeap())];
  for (const http2Server of http2ServersOf(server)) {
    for (const listener of http2Server.listeners('stream') as OnStream[]) {
      http2Server.off('stream', listener);
      http2Server.on('stream', (...given: Parameters<OnStream>) => begin(listener, given, bounds));
    }
  }
}

function begin(listener: OnStream, given: Parameters<OnStream>, bounds: readonly Bound[]): void {
  const [stream, { 'grpc-encoding': encoding = 'identity' }] = given;
  // A connection that breaks fails each of its streams. Node throws an error that has no listener.
  stream.on('error', () => {});
  if (stream.destroyed || stream.closed) return;
  try {
    if (encoding === 'identity') {
      listener(...given);
      for (const bound of bounds) bound.watch(stream);
    } else refuseCompressed(stream);
  } catch {
    stream.close(constants.NGHTTP2_INTERNAL_ERROR);
  }
}

/** A gRPC client does not read a date. Node reads this option, which its types lack. */
const TRAILERS_ONLY = { endStream: true, sendDate: false };

/**
 * Ends a call with a status and no response. The unread rest of the request is not wanted any more.
 * Source: gRPC over HTTP2, "Trailers-Only".
 */
function refuseCompressed(stream: ServerHttp2Stream): void {
  const headers = {
    ':status': 200,
    'content-type': 'application/grpc',
    'grpc-accept-encoding': 'identity',
    'grpc-status': String(status[COMPRESSED.failed]),
    'grpc-message': COMPRESSED.message,
  };
  stream.respond(headers, TRAILERS_ONLY);
  if (!stream.readableEnded) stream.close(constants.NGHTTP2_NO_ERROR);
}

/** They are private, but nothing else leads to them. */
function http2ServersOf(server: Server): readonly Http2Server[] {
  const { http2Servers } = server as unknown as {
    readonly http2Servers: ReadonlyMap<Http2Server, unknown>;
  };
  return [...http2Servers.keys()];
}
