import http2 from 'node:http2';
import type { AddressInfo } from 'node:net';
import type { TLSSocket } from 'node:tls';
import type { TlsMaterial } from '#grpc/tls.ts';

/** What an upstream saw of its client. */
export type SeenPeer = {
  readonly hostname: string;
  /** Serial number of the client's certificate. */
  readonly serial: string;
  readonly sni: string | false;
  readonly version: string | null;
  readonly httpVersion: string;
};

/**
 * A real HTTPS server on the loopback interface, by HTTP/1.1 and HTTP/2. It lets in only clients
 * with a certificate of its authorities, and answers with what it saw of them.
 */
export type TlsUpstream = {
  readonly port: number;
  /** How many requests it got. */
  requests(): number;
  /** Sets the certificate of new connections, and the `ca` of their clients. */
  change(material: TlsMaterial): void;
  close(): Promise<void>;
};

/** Starts one that calls itself `hostname`. */
export async function startTlsUpstream(
  hostname: string,
  material: TlsMaterial,
): Promise<TlsUpstream> {
  let requests = 0;
  const server = http2.createSecureServer(
    { ...contextOf(material), requestCert: true, rejectUnauthorized: true, allowHTTP1: true },
    (incoming, outgoing) => {
      requests += 1;
      const socket = incoming.stream?.session?.socket ?? incoming.socket;
      outgoing.setHeader('content-type', 'application/json');
      outgoing.end(JSON.stringify(seenOf(socket as TLSSocket, hostname, incoming.httpVersion)));
    },
  );
  const sockets = new Set<TLSSocket>();
  server.on('secureConnection', socket => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  await new Promise<void>(resolve => {
    server.listen(0, '127.0.0.1', resolve);
  });
  return {
    port: (server.address() as AddressInfo).port,
    requests: () => requests,
    change: next => server.setSecureContext(contextOf(next)),
    close: () =>
      new Promise(resolve => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
}

function contextOf({ ca, certificate, key }: TlsMaterial) {
  return { ca, cert: certificate, key };
}

function seenOf(socket: TLSSocket, hostname: string, httpVersion: string): SeenPeer {
  const { serialNumber: serial } = socket.getPeerCertificate();
  return {
    hostname,
    serial,
    sni: (socket as TLSSocket & { servername: string | false }).servername,
    version: socket.getProtocol(),
    httpVersion,
  };
}
