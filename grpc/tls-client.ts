import type { PeerCertificate } from 'node:tls';
import { type ChannelCredentials, experimental } from '@grpc/grpc-js';
import type { TlsSource } from './tls.ts';

/**
 * Why a server is not the one that was meant; undefined: it is. Its certificate is of one of the
 * authorities, and valid now.
 */
export type CheckServer = (host: string, certificate: PeerCertificate) => Error | undefined;

/**
 * gRPC's credentials for mutual TLS: each new connection is made with the newest certificate and
 * judged by the newest authorities; connections that are open stay as they are. The source is
 * watched for as long as a channel uses them.
 */
export function tlsClientCredentials(
  source: TlsSource,
  checkServer: CheckServer,
): ChannelCredentials {
  const authorities = updates(source, ({ ca }) => ({ caCertificate: Buffer.from(ca) }));
  const identity = updates(source, ({ certificate, key }) => ({
    certificate: Buffer.from(certificate),
    privateKey: Buffer.from(key),
  }));
  const provider: experimental.CertificateProvider = {
    addCaCertificateListener: authorities.add,
    removeCaCertificateListener: authorities.remove,
    addIdentityCertificateListener: identity.add,
    removeIdentityCertificateListener: identity.remove,
  };
  return experimental.createCertificateProviderChannelCredentials(provider, provider, {
    checkServerIdentity: checkServer,
  });
}

/** Tells each listener at once, and after each change. */
function updates<T>(source: TlsSource, of: (material: ReturnType<TlsSource['current']>) => T) {
  const watched = new Map<(update: T) => void, () => void>();
  const add = (listener: (update: T) => void) => {
    const tell = () => listener(of(source.current()));
    watched.set(listener, source.onChange(tell));
    tell();
  };
  const remove = (listener: (update: T) => void) => {
    watched.get(listener)?.();
    watched.delete(listener);
  };
  return { add, remove };
}
