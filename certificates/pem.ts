import { X509Certificate } from 'node:crypto';

/**
 * Each boundary is a line of its own. Otherwise OpenSSL rejects the whole text, for example of
 * files that were joined without a line break.
 */
const CERTIFICATE =
  /^-----BEGIN (?:X509 |TRUSTED )?CERTIFICATE-----[ \t]*\r?\n[^-]*^-----END (?:X509 |TRUSTED )?CERTIFICATE-----[ \t]*\r?$/gm;

/**
 * Parses the certificates in a PEM text, in its order. Text between them is skipped. `error` says
 * in plain words why there are none. See RFC 7468.
 */
export function parseCertificates(
  pem: string,
  most: { readonly bytes: number; readonly count: number },
): { readonly certificates: readonly X509Certificate[] } | { readonly error: string } {
  if (pem.length > most.bytes) return { error: `it has more than ${most.bytes} bytes` };
  const blocks = pem.match(CERTIFICATE) ?? [];
  const begun = pem.split(/-----BEGIN [A-Z0-9 ]*CERTIFICATE-----/).length - 1;
  if (begun === 0)
    return { error: 'it holds no certificate in PEM ("-----BEGIN CERTIFICATE-----")' };
  if (begun !== blocks.length)
    return { error: 'a certificate in it is cut off, or shares a line with another' };
  if (blocks.length > most.count) return { error: `it holds more than ${most.count} certificates` };
  const certificates: X509Certificate[] = [];
  for (const [at, block] of blocks.entries()) {
    const certificate = parseOne(block);
    if (certificate === undefined) return { error: `certificate ${at + 1} in it is malformed` };
    certificates.push(certificate);
  }
  return { certificates };
}

function parseOne(block: string): X509Certificate | undefined {
  try {
    return new X509Certificate(block);
  } catch {
    return undefined;
  }
}
