import type { Http2Server, ServerHttp2Stream } from 'node:http2';
import { constants } from 'node:http2';
import type { Server } from '@grpc/grpc-js';

type OnStream = (stream: ServerHttp2Stream, ...rest: readonly unknown[]) => void;

/**
 * Stops errors that grpc-js throws at the start of a call from ending the process. It answers an
 * unknown method, or a wrong content type, without checking that the call still exists. Node throws
 * when the peer has cancelled it in the same read.
 */
export function guardCalls(server: Server): void {
  for (const http2Server of http2ServersOf(server)) {
    for (const listener of http2Server.listeners('stream') as OnStream[]) {
      http2Server.off('stream', listener);
      http2Server.on('stream', (stream: ServerHttp2Stream, ...rest) =>
        begin(listener, stream, rest),
      );
    }
  }
}

function begin(listener: OnStream, stream: ServerHttp2Stream, rest: readonly unknown[]): void {
  // A connection that breaks fails each of its streams. Node throws an error that has no listener.
  stream.on('error', () => {});
  if (stream.destroyed || stream.closed) return;
  try {
    listener(stream, ...rest);
  } catch {
    stream.close(constants.NGHTTP2_INTERNAL_ERROR);
  }
}

/** They are private, but nothing else leads to them. */
function http2ServersOf(server: Server): readonly Http2Server[] {
  const { http2Servers } = server as unknown as {
    readonly http2Servers: ReadonlyMap<Http2Server, unknown>;
  };
  return [...http2Servers.keys()];
}
