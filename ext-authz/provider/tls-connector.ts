import { constants } from 'node:crypto';
import { TLSSocket } from 'node:tls';
import { buildConnector } from 'undici';
import { sharedLookup } from '#process/shared-lookup.ts';

/**
 * Whether the provider may ask for TLS renegotiation (docs/reference/kinds/filter.md). It exists in
 * TLS 1.2 only, and later versions have none.
 */
export type RenegotiateTLS = 'never' | 'onceAsClient' | 'freelyAsClient';

export type TlsSettings = {
  readonly insecureTLS: boolean;
  readonly renegotiateTLS: RenegotiateTLS;
  /** Authorities in PEM, in place of the usual ones. */
  readonly trustedCa: string | undefined;
};

const CONNECT_TIMEOUT_MS = 4_000;

/**
 * Connects to the provider over TCP or TLS (at least 1.2), HTTP/1.1 only. Certificates are checked
 * by `trustedCa`, else by Node's CA store and NODE_EXTRA_CA_CERTS, unless `insecureTLS`.
 */
export function tlsConnector({
  insecureTLS,
  renegotiateTLS,
  trustedCa,
}: TlsSettings): buildConnector.connector {
  const connect = buildConnector({
    allowH2: false,
    rejectUnauthorized: !insecureTLS,
    ...(trustedCa !== undefined && { ca: trustedCa }),
    secureOptions: renegotiateTLS === 'never' ? constants.SSL_OP_NO_RENEGOTIATION : 0,
    timeout: CONNECT_TIMEOUT_MS,
    lookup: sharedLookup,
  });
  return renegotiateTLS === 'onceAsClient' ? renegotiatingOnce(connect) : connect;
}

function renegotiatingOnce(connect: buildConnector.connector): buildConnector.connector {
  return (options, callback) =>
    connect(options, (...result) => {
      const [, socket] = result;
      if (socket instanceof TLSSocket) endAtSecondRenegotiation(socket);
      callback(...result);
    });
}

/**
 * Counts the handshakes, each of which ends with `secure`. `disableRenegotiation()` works on a
 * server's sockets only.
 */
function endAtSecondRenegotiation(socket: TLSSocket): void {
  let renegotiations = 0;
  socket.on('secure', () => {
    renegotiations += 1;
    if (renegotiations > 1) socket.destroy(new Error('the server renegotiated TLS a second time'));
  });
}
