import type { KeyObject } from 'node:crypto';
import { type PrivateKey, readPrivateKey } from '#resources/words/private-key.ts';
import type { SecretValue } from '#resources/words/secret-value.ts';
import {
  PUBLIC_KEY_ALGORITHMS,
  SHARED_SECRET_ALGORITHMS,
} from '#resources/words/signature-algorithms.ts';

/** How a client assertion is signed (docs/reference/kinds/filter.md, RFC 7518 section 3.1). */
export const SIGNING_METHODS = [...PUBLIC_KEY_ALGORITHMS, ...SHARED_SECRET_ALGORITHMS] as const;

export type SigningMethod = (typeof SIGNING_METHODS)[number];

/** RFC 7518 sections 3.3 and 3.5 */
const LEAST_RSA_BITS = 2048;

const CURVES: ReadonlyMap<string, { readonly openssl: string; readonly name: string }> = new Map([
  ['ES256', { openssl: 'prime256v1', name: 'P-256' }],
  ['ES384', { openssl: 'secp384r1', name: 'P-384' }],
  ['ES512', { openssl: 'secp521r1', name: 'P-521' }],
]);

/**
 * Checks whether a client secret can sign by this method. Nothing of the secret is in the answer.
 * @returns why it cannot, or undefined
 */
export function signingFault(secret: SecretValue, method: SigningMethod): string | undefined {
  if (method.startsWith('HS')) return undefined;
  const curve = CURVES.get(method);
  const wanted =
    curve === undefined ? 'an RSA private key' : `an elliptic-curve private key on ${curve.name}`;
  const read = readPrivateKey(secret);
  if (read === undefined)
    return `${method} needs ${wanted} in PEM, without a passphrase, or as a JWK, and this is none`;
  const { key } = read;
  return (
    (curve === undefined ? rsaFault(key, method) : curveFault(key, method, curve)) ??
    jwkFault(read, method)
  );
}

function jwkFault(
  { alg = '', use = 'sig' }: PrivateKey,
  method: SigningMethod,
): string | undefined {
  if (use !== 'sig')
    return `${method} needs a key for signatures, and \`use\` of this JWK is another`;
  return alg === '' || alg === method ? undefined : `\`alg\` of this JWK is not ${method}`;
}

function rsaFault(
  { asymmetricKeyType, asymmetricKeyDetails }: KeyObject,
  method: string,
): string | undefined {
  if (asymmetricKeyType !== 'rsa')
    return `${method} needs an RSA private key, and this is one of type ${asymmetricKeyType}`;
  const bits = asymmetricKeyDetails?.modulusLength ?? 0;
  return bits < LEAST_RSA_BITS
    ? `${method} needs an RSA key of ${LEAST_RSA_BITS} bits, and this has ${bits}`
    : undefined;
}

function curveFault(
  { asymmetricKeyType, asymmetricKeyDetails }: KeyObject,
  method: string,
  { openssl, name }: { readonly openssl: string; readonly name: string },
): string | undefined {
  if (asymmetricKeyType !== 'ec')
    return `${method} needs an elliptic-curve private key, and this is one of type ${asymmetricKeyType}`;
  const curve = asymmetricKeyDetails?.namedCurve;
  return curve === openssl
    ? undefined
    : `${method} needs a key on ${name}, and this is on ${curve}`;
}
