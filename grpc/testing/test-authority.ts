import '#certificates/reflect-metadata.ts';
import { randomBytes, webcrypto } from 'node:crypto';
import { isIP } from 'node:net';
import {
  BasicConstraintsExtension,
  PemConverter,
  SubjectAlternativeNameExtension,
  X509CertificateGenerator,
} from '@peculiar/x509';
import type { TlsMaterial, TlsServerOptions } from '../tls.ts';

export type TestAuthority = {
  /** Its own certificate, PEM. */
  readonly ca: string;
  /**
   * Issues a certificate with these URIs, DNS names and addresses, valid from a minute ago for
   * `seconds`. Default: an hour. A negative number makes an expired one.
   */
  issue(names: string | readonly string[], seconds?: number): Promise<TlsMaterial>;
};

const CURVE = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
const MINUTE_MS = 60_000;

/** Creates an authority that signs whatever a test needs, also what ours would not. */
export async function testAuthority(): Promise<TestAuthority> {
  const keys = await webcrypto.subtle.generateKey(CURVE, true, ['sign', 'verify']);
  const valid = {
    notBefore: new Date(Date.now() - 60 * MINUTE_MS),
    notAfter: new Date(Date.now() + 60 * MINUTE_MS),
  };
  const name = `CN=test ${randomBytes(4).toString('hex')}`;
  const own = await X509CertificateGenerator.createSelfSigned({
    ...valid,
    name,
    serialNumber: serial(),
    keys,
    signingAlgorithm: CURVE,
    extensions: [new BasicConstraintsExtension(true, 0, true)],
  });
  const ca = own.toString('pem');
  const issue = async (wanted: string | readonly string[], seconds = 3_600) => {
    const pair = await webcrypto.subtle.generateKey(CURVE, true, ['sign', 'verify']);
    const names = [wanted].flat().map(toName);
    const certificate = await X509CertificateGenerator.create({
      notBefore: new Date(Date.now() - MINUTE_MS),
      notAfter: new Date(Date.now() + seconds * 1_000),
      serialNumber: serial(),
      issuer: name,
      publicKey: pair.publicKey,
      signingKey: keys.privateKey,
      signingAlgorithm: CURVE,
      extensions: names.length === 0 ? [] : [new SubjectAlternativeNameExtension(names, true)],
    });
    const pkcs8 = await webcrypto.subtle.exportKey('pkcs8', pair.privateKey);
    return {
      certificate: certificate.toString('pem'),
      key: PemConverter.encode(pkcs8, 'PRIVATE KEY'),
      ca,
    };
  };
  return { ca, issue };
}

function toName(value: string) {
  if (isIP(value) !== 0) return { type: 'ip', value } as const;
  return { type: value.includes('://') ? 'url' : 'dns', value } as const;
}

/** Returns a server's side of mutual TLS whose certificate a test can change. */
export function changingTls(first: TlsMaterial, allows: TlsServerOptions['allows'] = () => true) {
  const watchers = new Set<() => void>();
  const refused: string[] = [];
  let current = first;
  const options: TlsServerOptions = {
    current: () => current,
    onChange: changed => {
      watchers.add(changed);
      return () => watchers.delete(changed);
    },
    allows,
    onRefused: (_address, reason) => refused.push(reason),
  };
  const change = (material: TlsMaterial) => {
    current = material;
    for (const changed of watchers) changed();
  };
  return { options, change, refused, watchers };
}

function serial(): string {
  return `01${randomBytes(15).toString('hex')}`;
}
