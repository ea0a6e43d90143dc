import * as z from 'zod';
import { checkedString, type Parsed } from '#resources/words/parsed-string.ts';
import { suggest } from '#resources/words/suggest.ts';

export const TLS_VERSIONS = ['v1.0', 'v1.1', 'v1.2', 'v1.3'] as const;
export type TlsVersion = (typeof TLS_VERSIONS)[number];

/** A version of TLS. Versions before 1.2 can be written, and are not served (RFC 8996). */
export const tlsVersion = z.enum(TLS_VERSIONS);

/**
 * BoringSSL's suites for TLS 1.2, by OpenSSL's names. See Envoy's page of
 * `TlsParameters.cipher_suites`.
 */
const CIPHER_SUITES: readonly string[] = [
  'ECDHE-ECDSA-AES128-GCM-SHA256',
  'ECDHE-RSA-AES128-GCM-SHA256',
  'ECDHE-ECDSA-AES256-GCM-SHA384',
  'ECDHE-RSA-AES256-GCM-SHA384',
  'ECDHE-ECDSA-CHACHA20-POLY1305',
  'ECDHE-RSA-CHACHA20-POLY1305',
  'ECDHE-ECDSA-AES128-SHA',
  'ECDHE-RSA-AES128-SHA',
  'ECDHE-ECDSA-AES256-SHA',
  'ECDHE-RSA-AES256-SHA',
  'AES128-GCM-SHA256',
  'AES256-GCM-SHA384',
  'AES128-SHA',
  'AES256-SHA',
];

/** Parses one suite, or several of equal rank as in `[A|B]`. */
function parseCipherSuite(text: string): Parsed<string> {
  const names = /^\[.*\]$/.test(text) ? text.slice(1, -1).split('|') : [text];
  const unknown = names.find(name => !CIPHER_SUITES.includes(name));
  if (unknown === undefined) return { value: text };
  if (unknown.startsWith('TLS_')) {
    return {
      error: `"${unknown.slice(0, 80)}": TLS 1.3 has suites of its own that cannot be chosen. Name those of TLS 1.2, by OpenSSL's names`,
    };
  }
  return {
    error: `unknown cipher suite "${unknown.slice(0, 80)}"${suggest(unknown, CIPHER_SUITES) || '.'} There are ${CIPHER_SUITES.join(', ')}`,
  };
}

export const cipherSuites = z
  .array(checkedString('a cipher suite', parseCipherSuite))
  .min(1)
  .meta({ form: 'a list of cipher suites' });

/** Whether a suite lacks forward secrecy, or has a mode with known attacks. */
export function isWeakSuite(suite: string): boolean {
  return suite
    .replace(/^\[|\]$/g, '')
    .split('|')
    .some(name => !name.startsWith('ECDHE-') || name.endsWith('-SHA'));
}

export const ecdhCurves = z
  .array(z.enum(['X25519MLKEM768', 'X25519', 'P-256', 'P-384', 'P-521']))
  .min(1);

const PROTOCOLS = ['h2', 'http/1.1'] as const;
const protocol = z.enum(PROTOCOLS);

/** A list, or one text with commas as Ambassador has it. */
export const alpnProtocols = z
  .union([
    z.array(protocol).min(1),
    z
      .string()
      .transform(text => text.split(',').map(word => word.trim()))
      .pipe(z.array(protocol).min(1)),
  ])
  .meta({ form: '`h2, http/1.1`, or a list of these' });
