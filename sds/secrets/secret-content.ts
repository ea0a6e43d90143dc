import { X509Certificate } from 'node:crypto';
import type { Purpose } from '#certificates/check-leaf.ts';
import { checkKeyPair } from '#certificates/check-pair.ts';
import { checkTrustedCa } from '#certificates/check-trusted-ca.ts';
import type { Finding } from '#certificates/finding.ts';
import { encodeAny } from '#protos/encode.ts';
import { SECRET } from '#protos/type-url.ts';
import { type XdsResource, xdsResource } from '#xds/snapshot.ts';

/** What a proxy is sent under a name, as PEM. */
export type SecretContent =
  | { readonly kind: 'key pair'; readonly certificate: string; readonly key: string }
  | { readonly kind: 'trusted ca'; readonly ca: string };

/** What everyone may know of a certificate. */
export type CertificateFacts = {
  readonly serial: string;
  /** Milliseconds since the epoch. */
  readonly notAfter: number;
};

/**
 * Returns what is wrong with the content. A certificate is checked for `purpose`. Content with an
 * error must not be sent.
 */
export function checkContent(
  content: SecretContent,
  now: number,
  purpose?: Purpose,
): readonly Finding[] {
  if (content.kind === 'trusted ca') return checkTrustedCa(content.ca, now);
  return checkKeyPair(content.certificate, content.key, now, purpose);
}

/** Returns the facts of the first certificate. The content must be checked. */
export function factsOf(content: SecretContent): CertificateFacts {
  const { serialNumber, validToDate } = new X509Certificate(
    content.kind === 'trusted ca' ? content.ca : content.certificate,
  );
  return { serial: serialNumber.toLowerCase(), notAfter: validToDate.getTime() };
}

/**
 * Returns an `envoy.extensions.transport_sockets.tls.v3.Secret`. Its version reveals nothing of its
 * content without the `versionKey`.
 */
export function secretResource(
  name: string,
  content: SecretContent,
  versionKey: Uint8Array,
): XdsResource {
  const what =
    content.kind === 'trusted ca'
      ? { validation_context: { trusted_ca: { inline_string: content.ca } } }
      : {
          tls_certificate: {
            certificate_chain: { inline_string: content.certificate },
            private_key: { inline_string: content.key },
          },
        };
  return xdsResource(name, encodeAny({ '@type': SECRET, name, ...what }), versionKey);
}
