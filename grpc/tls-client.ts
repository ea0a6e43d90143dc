import type { PeerCertificate } from 'node:tls';
import { type ChannelCredentials, experimental } from '@grpc/grpc-js';
import type { TlsSource } from './tls.ts';

/**
 * Checks that a server is the one that was meant. Its certificate is already known to be valid now,
 * and issued by one of the authorities.
 * @returns why the server is another one, or undefined when it is the right one
 */
export type CheckServer = (host: string, certificate: PeerCertificate) => Error | undefined;

/**
 * Returns gRPC's credentials for mutual TLS. Each new connection uses the newest certificate and
 * checks against the newest authorities. Open connections stay as they are. The source is watched
 * for as long as a channel uses them.
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

/** Calls each listener at once, and after each change. */
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
