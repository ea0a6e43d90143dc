import { X509Certificate } from 'node:crypto';
import type { ServerDuplexStream } from '@grpc/grpc-js';

/** The client at the other end of a connection. */
export type Peer = {
  /** `host:port`. */
  readonly address: string;
  /** The certificate that it presented by mutual TLS. Undefined on a plain connection. */
  readonly certificate: X509Certificate | undefined;
};

/** Returns who is at the other end of a call. */
export function peerOf(call: Pick<ServerDuplexStream<unknown, unknown>, PeerMethods>): Peer {
  const { sslPeerCertificate } = call.getAuthContext();
  const certificate = sslPeerCertificate && new X509Certificate(sslPeerCertificate.raw);
  return { address: call.getPeer(), certificate };
}

type PeerMethods = 'getAuthContext' | 'getPeer';
