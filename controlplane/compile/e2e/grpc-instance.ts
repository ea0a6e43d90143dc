import { once } from 'node:events';
import { createServer, type ServerHttp2Session } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';

export type GrpcInstance = {
  readonly address: string;
  /** The services that health checks have asked for. */
  readonly asked: readonly string[];
  /** Says from now on whether it serves. */
  serve(isServing: boolean): void;
  stop(): Promise<void>;
};

const CHECK = '/grpc.health.v1.Health/Check';

/** `grpc.health.v1.HealthCheckResponse.ServingStatus`. */
const SERVING = 1;
const NOT_SERVING = 2;

/** Starts an HTTP/2 server that answers health checks of gRPC, and its name to all else. */
export async function startGrpcInstance(name: string): Promise<GrpcInstance> {
  let isServing = true;
  const asked: string[] = [];
  const sessions = new Set<ServerHttp2Session>();
  const server = createServer();
  server.on('session', session => {
    sessions.add(session);
    session.once('close', () => sessions.delete(session));
  });
  server.on('stream', async (stream, { ':path': path }) => {
    stream.on('error', () => {});
    if (path !== CHECK) {
      stream.respond({ ':status': 200 });
      return void stream.end(name);
    }
    const message = await buffer(stream);
    // A frame's five bytes, then the tag and the length of the field `service`.
    asked.push(message.subarray(7).toString());
    stream.respond(
      { ':status': 200, 'content-type': 'application/grpc' },
      { waitForTrailers: true },
    );
    stream.once('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }));
    stream.end(Buffer.from([0, 0, 0, 0, 2, 8, isServing ? SERVING : NOT_SERVING]));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return {
    address: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    serve: serves => {
      isServing = serves;
    },
    stop: async () => {
      server.close();
      for (const session of sessions) session.destroy();
      await once(server, 'close');
    },
  };
}
