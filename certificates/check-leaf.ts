import type { X509Certificate } from 'node:crypto';
import { errorFinding, type Finding, warningFinding } from './finding.ts';
import { maySign } from './key-usage.ts';
import { mustStaple } from './must-staple.ts';
import { publicKeyOf } from './public-key.ts';

/** The role in which a certificate is shown. */
export type Purpose = 'server' | 'client';

const USAGES = { server: '1.3.6.1.5.5.7.3.1', client: '1.3.6.1.5.5.7.3.2' } as const;
const ANY_USAGE = '2.5.29.37.0';

/**
 * Checks the first certificate of a chain. An error means that Envoy rejects it. A warning means
 * that other peers reject it when it is shown for `purpose`. Without a `purpose` both roles are
 * checked.
 * What Envoy 1.40 accepts is measured. See also RFC 5280, 4.2.1.3 and 4.2.1.12, and RFC 7633.
 */
export function checkLeaf(
  [leaf]: readonly X509Certificate[],
  purpose?: Purpose,
): readonly Finding[] {
  return leaf === undefined
    ? []
    : [
        ...checkAuthority(leaf),
        ...checkUsage(leaf),
        ...checkPurpose(leaf, purpose),
        ...checkStaple(leaf),
      ];
}

function checkAuthority({ ca }: X509Certificate): readonly Finding[] {
  if (!ca) return [];
  return [
    warningFinding('the certificate is that of an authority (CA:TRUE), not of a server or client'),
  ];
}

function checkUsage(leaf: X509Certificate): readonly Finding[] {
  const lacks = 'its keyUsage lacks digitalSignature';
  if (maySign(leaf.raw) !== false) return [];
  const kind = publicKeyOf(leaf)?.asymmetricKeyType;
  if (kind === 'ec') {
    return [
      errorFinding(`${lacks}: Envoy does not accept it with an ECDSA key, which can only sign`),
    ];
  }
  if (kind !== 'rsa') return [];
  return [
    warningFinding(`${lacks}: TLS 1.3 needs it of an RSA key, and browsers and Envoy insist`),
  ];
}

/** Node calls the extended usages `keyUsage`. */
function checkPurpose(
  { keyUsage }: X509Certificate,
  purpose: Purpose | undefined,
): readonly Finding[] {
  const wanted = purpose === undefined ? Object.values(USAGES) : [USAGES[purpose]];
  if (keyUsage === undefined || [...wanted, ANY_USAGE].some(usage => keyUsage.includes(usage)))
    return [];
  const lacks = {
    server: 'lacks serverAuth, so clients',
    client: 'lacks clientAuth, so servers',
  } as const;
  const which =
    purpose === undefined ? 'has neither serverAuth nor clientAuth, so others' : lacks[purpose];
  return [warningFinding(`its extendedKeyUsage ${which} will refuse it`)];
}

function checkStaple({ raw }: X509Certificate): readonly Finding[] {
  if (!mustStaple(raw)) return [];
  return [
    errorFinding(
      'the certificate is to be served with an OCSP response ("must staple"), which the gateway has not: have one issued without',
    ),
  ];
}
