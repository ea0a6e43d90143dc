import type { KeyObject, X509Certificate } from 'node:crypto';
import { checkLeaf, type Purpose } from './check-leaf.ts';
import { errorFinding, type Finding, warningFinding } from './finding.ts';
import { parseCertificates } from './pem.ts';
import { parsePrivateKey } from './private-key.ts';
import { publicKeyOf } from './public-key.ts';

const MOST = { bytes: 128 * 1024, count: 16 };
const LEAST_RSA_BITS = 2048;
/** The curves that Envoy's BoringSSL accepts, by OpenSSL's names. */
const CURVES: ReadonlySet<string> = new Set(['prime256v1', 'secp384r1', 'secp521r1']);

/**
 * Checks a certificate chain and its key, both PEM, at `now` (milliseconds since the epoch). An
 * error means that Envoy would reject the pair, or that every peer would reject what it serves.
 * That is checked for `purpose`, or for either role. No finding holds any of the key. An empty
 * result means that all is well.
 * What Envoy 1.40 accepts is measured. See Envoy's page on TLS, and RFC 8446, 4.4.2, for the order
 * of the chain.
 */
export function checkKeyPair(
  chainPem: string,
  keyPem: string,
  now: number,
  purpose?: Purpose,
): readonly Finding[] {
  const parsed = parsePair(chainPem, keyPem);
  if ('malformed' in parsed) return parsed.malformed;
  return [
    ...checkCertificates(parsed, now),
    ...checkOrder(parsed.certificates),
    ...checkLeaf(parsed.certificates, purpose),
    ...checkStrayKey(chainPem),
  ];
}

/**
 * Checks an authority's own certificate and key in the same way. They sign certificates and are
 * shown to no peer.
 */
export function checkAuthorityPair(
  chainPem: string,
  keyPem: string,
  now: number,
): readonly Finding[] {
  const parsed = parsePair(chainPem, keyPem);
  return 'malformed' in parsed ? parsed.malformed : checkCertificates(parsed, now);
}

type Pair = { readonly certificates: readonly X509Certificate[]; readonly key: KeyObject };

function parsePair(
  chainPem: string,
  keyPem: string,
): Pair | { readonly malformed: readonly Finding[] } {
  const chain = parseCertificates(chainPem, MOST);
  const key = parsePrivateKey(keyPem);
  if (!('error' in chain) && !('error' in key)) return { ...chain, ...key };
  return {
    malformed: [
      ...('error' in chain
        ? [errorFinding(`the certificate chain cannot be used: ${chain.error}`)]
        : []),
      ...('error' in key ? [errorFinding(`the private key cannot be used: ${key.error}`)] : []),
    ],
  };
}

function checkCertificates({ certificates, key }: Pair, now: number): readonly Finding[] {
  return [
    ...checkFit(certificates, key),
    ...checkKind(key),
    ...checkCurve(certificates),
    ...checkTimes(certificates, now),
  ];
}

function checkFit(chain: readonly X509Certificate[], key: KeyObject): readonly Finding[] {
  const at = chain.findIndex(certificate => certificate.checkPrivateKey(key));
  if (at === 0) return [];
  if (at < 0) return [errorFinding('the private key does not fit the certificate')];
  return [
    errorFinding(`the private key fits certificate ${at + 1} of the chain: put that one first`),
  ];
}

function checkKind(key: KeyObject): readonly Finding[] {
  const { modulusLength = 0, namedCurve = '' } = key.asymmetricKeyDetails ?? {};
  if (key.asymmetricKeyType === 'rsa') {
    if (modulusLength >= LEAST_RSA_BITS) return [];
    return [errorFinding(`the RSA key has ${modulusLength} bits: want ${LEAST_RSA_BITS} or more`)];
  }
  if (key.asymmetricKeyType === 'ec' && CURVES.has(namedCurve)) return [];
  if (key.asymmetricKeyType === 'ed25519') {
    return [warningFinding('the key is of kind ed25519, which Envoy accepts, but browsers do not')];
  }
  const kind = `${key.asymmetricKeyType} ${namedCurve}`.trim();
  return [
    errorFinding(
      `the key is of kind ${kind}, which Envoy does not accept: want RSA, or ECDSA with P-256, P-384 or P-521`,
    ),
  ];
}

const SEQUENCE = 0x30;
/** DER of the identifier 1.2.840.10045.2.1. */
const EC_PUBLIC_KEY = Buffer.from('06072a8648ce3d0201', 'hex');

/**
 * OpenSSL names a written-out curve (ECParameters) by the one that it equals. Envoy does not. RFC
 * 5480, 2.1.1, allows only named curves.
 */
function checkCurve([leaf]: readonly X509Certificate[]): readonly Finding[] {
  const key = leaf && publicKeyOf(leaf);
  if (key?.asymmetricKeyType !== 'ec') return [];
  const der = key.export({ type: 'spki', format: 'der' });
  // SEQUENCE { SEQUENCE { OBJECT IDENTIFIER ecPublicKey, parameters } … }
  const algorithm = der.indexOf(EC_PUBLIC_KEY);
  if (algorithm < 0 || der[algorithm + EC_PUBLIC_KEY.length] !== SEQUENCE) return [];
  return [
    errorFinding(
      'the certificate writes its curve out, which Envoy does not accept: have one issued for a key of a named curve (openssl: -pkeyopt ec_param_enc:named_curve)',
    ),
  ];
}

function checkTimes(chain: readonly X509Certificate[], now: number): readonly Finding[] {
  return chain.flatMap((certificate, at) => {
    const found = timeProblem(certificate, now);
    if (found === undefined) return at === 0 ? checkEnd(certificate, now) : [];
    if (at === 0) return [errorFinding(`the certificate ${found}`)];
    return [warningFinding(`certificate ${at + 1} of the chain ${found}`)];
  });
}

/**
 * A certificate needs a successor a sixth of its life before its end, and at most this long, in ms.
 * Automatic renewal happens at a third or half.
 */
const LAST_PART = 6;
const MOST_LAST_MS = 14 * 86_400_000;

function checkEnd(
  { validFromDate, validToDate }: X509Certificate,
  now: number,
): readonly Finding[] {
  const lastMs = Math.min(
    (validToDate.getTime() - validFromDate.getTime()) / LAST_PART,
    MOST_LAST_MS,
  );
  if (now < validToDate.getTime() - lastMs) return [];
  return [
    warningFinding(
      `the certificate ends at ${toIso(validToDate)}: it should have been renewed by now`,
    ),
  ];
}

/** @returns why a certificate is not valid at `now`, or undefined when it is */
export function timeProblem(certificate: X509Certificate, now: number): string | undefined {
  const { validFromDate, validToDate } = certificate;
  if (now < validFromDate.getTime()) return `is not valid before ${toIso(validFromDate)}`;
  return now > validToDate.getTime() ? `expired at ${toIso(validToDate)}` : undefined;
}

/** Returns a time as findings say it. */
export function toIso(date: Date): string {
  return `${date.toISOString().slice(0, 19)}Z`;
}

function checkOrder(chain: readonly X509Certificate[]): readonly Finding[] {
  const at = chain.findIndex((certificate, index) => {
    const next = chain[index + 1];
    return next !== undefined && !certificate.checkIssued(next);
  });
  if (at < 0) return [];
  return [
    warningFinding(
      `certificate ${at + 1} of the chain is not issued by certificate ${at + 2}: each must be followed by its issuer`,
    ),
  ];
}

function checkStrayKey(chainPem: string): readonly Finding[] {
  if (!/-----BEGIN [A-Z ]*PRIVATE KEY-----/.test(chainPem)) return [];
  return [
    warningFinding('the certificate chain also holds a private key: keep it in the key alone'),
  ];
}
