import type { X509Certificate } from 'node:crypto';
import { constants } from 'node:crypto';
import tls, { type TlsOptions } from 'node:tls';

/**
 * A certificate with its chain, its key, and the authorities that peers' certificates must come
 * from, as PEM.
 */
export type TlsMaterial = {
  readonly certificate: string;
  readonly key: string;
  readonly ca: string;
};

export type TlsSource = {
  /** Returns what the next connection uses. */
  current(): TlsMaterial;
  /** Calls back whenever `current` has changed, until the returned function is called. */
  onChange(changed: () => void): () => void;
};

/** Mutual TLS on a server's port. Nothing else is answered there. */
export type TlsServerOptions = TlsSource & {
  /**
   * Tells whether a peer may talk at all. Its certificate is already known to be valid now, and
   * issued by one of the authorities.
   */
  allows(certificate: X509Certificate): boolean;
  /**
   * Hears of each refused connection, with its address and the reason. The address is `host:port`,
   * or `gone` when the peer has hung up meanwhile.
   */
  onRefused?(address: string, reason: string): void;
};

/**
 * Creates a server that asks each peer for a certificate, with TLS 1.3 only. Sessions are not
 * resumed. So each connection proves its identity again, by a certificate that is valid then. A
 * handshake that takes longer than `handshakeMs` is a `tlsClientError`, after which the listener
 * must close the connection. Source: RFC 8446, and Node's page on TLS.
 */
export function createTlsServer(options: TlsServerOptions, handshakeMs: number): tls.Server {
  const server = tls.createServer({
    ...tlsOptions(options.current()),
    handshakeTimeout: handshakeMs,
  });
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
    secureOptions: constants.SSL_OP_NO_TICKET,
    noDelay: true,
  };
}
