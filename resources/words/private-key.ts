import { createPrivateKey, type JsonWebKey, type KeyObject } from 'node:crypto';
import type { SecretValue } from './secret-value.ts';

/** A private key, with what a JWK says of it (RFC 7517 sections 4.2, 4.4 and 4.5). */
export type PrivateKey = {
  readonly key: KeyObject;
  readonly kid?: string;
  readonly alg?: string;
  readonly use?: string;
};

/**
 * Reads a private key in PEM or as a JWK.
 * @returns undefined when the secret is neither
 */
export function readPrivateKey(secret: SecretValue): PrivateKey | undefined {
  const text = Buffer.from(secret.reveal()).toString('utf8');
  try {
    return text.trimStart().startsWith('{')
      ? readJwk(JSON.parse(text))
      : { key: createPrivateKey({ key: text, format: 'pem' }) };
  } catch {
    return undefined;
  }
}

function readJwk(jwk: JsonWebKey): PrivateKey {
  const key = createPrivateKey({ key: jwk, format: 'jwk' });
  return { key, ...textOf(jwk, 'kid'), ...textOf(jwk, 'alg'), ...textOf(jwk, 'use') };
}

function textOf(jwk: JsonWebKey, name: 'kid' | 'alg' | 'use'): { readonly [name: string]: string } {
  const value = jwk[name];
  return typeof value === 'string' && value !== '' ? { [name]: value } : {};
}
