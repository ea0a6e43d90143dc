import { once } from 'node:events';
import http2 from 'node:http2';
import type { AddressInfo } from 'node:net';

/**
 * A service that answers each call of gRPC with a message, and the status that its path ends with.
 */
export type GrpcStatuses = { readonly port: number; stop(): void };

/** Starts one on a free port. */
export async function startGrpcStatuses(): Promise<GrpcStatuses> {
  const service = http2.createServer().on('stream', (stream, { ':path': path = '' }) => {
    const answer = { ':status': 200, 'content-type': 'application/grpc' };
    stream.respond(answer, { waitForTrailers: true });
    stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': /\d+$/.exec(path)?.[0] }));
    stream.end('message');
  });
  await once(service.listen(0, '127.0.0.1'), 'listening');
  const { port } = service.address() as AddressInfo;
  return { port, stop: () => void service.close() };
}

/** What makes a request a call of gRPC. */
export const GRPC_CALL = { method: 'POST', headers: { 'content-type': 'application/grpc' } };
