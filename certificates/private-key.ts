import { createPrivateKey, type KeyObject } from 'node:crypto';

const MOST_BYTES = 32 * 1024;

/**
 * Parses the private key in a PEM text, without a passphrase. `error` says in plain words why there
 * is none, and holds nothing of the text. See RFC 7468.
 */
export function parsePrivateKey(
  pem: string,
): { readonly key: KeyObject } | { readonly error: string } {
  if (pem.length > MOST_BYTES) return { error: `it has more than ${MOST_BYTES} bytes` };
  if (!/-----BEGIN [A-Z ]*PRIVATE KEY-----/.test(pem)) {
    return { error: 'it holds no private key in PEM ("-----BEGIN PRIVATE KEY-----")' };
  }
  // OpenSSL finds it behind a byte order mark, Envoy does not.
  if (!/^-----BEGIN [A-Z ]*PRIVATE KEY-----/m.test(pem)) {
    return { error: 'something comes before it on its first line, such as a byte order mark' };
  }
  if (/-----BEGIN ENCRYPTED PRIVATE KEY-----|^Proc-Type: *4,ENCRYPTED/m.test(pem)) {
    return { error: 'it is encrypted: give it without a passphrase' };
  }
  try {
    return { key: createPrivateKey(pem) };
  } catch {
    // OpenSSL's message says no more, and may quote parts of the key.
    return { error: 'it is malformed' };
  }
}
