import type { X509Certificate } from 'node:crypto';
import { constants } from 'node:crypto';
import tls, { type TlsOptions } from 'node:tls';

/**
 * A certificate with its chain, its key, and the authorities that peers must have theirs from: PEM
 * texts.
 */
export type TlsMaterial = {
  readonly certificate: string;
  readonly key: string;
  readonly ca: string;
};

export type TlsSource = {
  /** What the next connection is made or met with. */
  current(): TlsMaterial;
  /** Calls back whenever `current` has changed, until the returned function is called. */
  onChange(changed: () => void): () => void;
};

/** Mutual TLS on a server's port: nothing else is answered there. */
export type TlsServerOptions = TlsSource & {
  /**
   * Whether a peer may talk at all, whose certificate is of one of the authorities and valid now.
   */
  allows(certificate: X509Certificate): boolean;
  /**
   * Hears of each connection that was refused, from `host:port` (`gone`: it has hung up meanwhile),
   * and why.
   */
  onRefused?(address: string, reason: string): void;
};

/** A connection is closed whose handshake takes longer, in ms. */
const HANDSHAKE_MS = 10_000;

/**
 * A server that asks each peer for a certificate. TLS 1.3 only. Sessions are not resumed: each
 * connection proves anew who it is, by a certificate that is valid then. Source: RFC 8446; Node's
 * page on TLS.
 */
export function createTlsServer(options: TlsServerOptions): tls.Server {
  const server = tls.createServer(tlsOptions(options.current()));
  const unwatch = options.onChange(() => server.setSecureContext(tlsOptions(options.current())));
  server.once('close', unwatch);
  return server;
}

function tlsOptions({ certificate, key, ca }: TlsMaterial): TlsOptions {
  return {
    cert: certificate,
    key,
    ca,
    requestCert: true,
    rejectUnauthorized: true,
    minVersion: 'TLSv1.3',
    maxVersion: 'TLSv1.3',
    ALPNProtocols: ['h2', 'http/1.1'],
    handshakeTimeout: HANDSHAKE_MS,
    secureOptions: constants.SSL_OP_NO_TICKET,
    noDelay: true,
  };
}
