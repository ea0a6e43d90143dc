import { X509Certificate } from 'node:crypto';

/**
 * Each boundary is a line of its own. Otherwise OpenSSL rejects the whole text, for example of
 * files that were joined without a line break.
 */
const CERTIFICATE =
  /^-----BEGIN (?:X509 |TRUSTED )?CERTIFICATE-----[ \t]*\r?\n[^-]*^-----END (?:X509 |TRUSTED )?CERTIFICATE-----[ \t]*\r?$/gm;

/**
 * Parses the certificates in a PEM text, in its order. What stands between them is skipped, unless
 * it is a malformed block, for which OpenSSL and Envoy reject the whole text. `error` says in plain
 * words why there are none. See RFC 7468.
 */
export function parseCertificates(
  pem: string,
  most: { readonly bytes: number; readonly count: number },
): { readonly certificates: readonly X509Certificate[] } | { readonly error: string } {
  if (pem.length > most.bytes) return { error: `it has more than ${most.bytes} bytes` };
  const blocks = [...pem.matchAll(CERTIFICATE)];
  const begun = pem.split(/-----BEGIN [A-Z0-9 ]*CERTIFICATE-----/).length - 1;
  if (begun === 0)
    return { error: 'it holds no certificate in PEM ("-----BEGIN CERTIFICATE-----")' };
  if (begun !== blocks.length)
    return { error: 'a certificate in it is cut off, or shares a line with another' };
  if (blocks.length > most.count) return { error: `it holds more than ${most.count} certificates` };
  const certificates: X509Certificate[] = [];
  let from = 0;
  for (const [at, { 0: block, index }] of blocks.entries()) {
    const certificate = parseOne(block);
    if (certificate === undefined) return { error: `certificate ${at + 1} in it is malformed` };
    if (spoils(pem.slice(from, index), block))
      return { error: `something before certificate ${at + 1} in it is malformed` };
    certificates.push(certificate);
    from = index + block.length;
  }
  if (spoils(pem.slice(from), blocks[0]?.[0] ?? ''))
    return { error: 'something after its last certificate is malformed' };
  return { certificates };
}

/** Whether a certificate cannot be read behind a text. OpenSSL reads every block before it, too. */
function spoils(text: string, certificate: string): boolean {
  return text.includes('-----BEGIN ') && parseOne(`${text}\n${certificate}`) === undefined;
}

function parseOne(block: string): X509Certificate | undefined {
  try {
    const certificate = new X509Certificate(block);
    return isTimed(certificate) ? certificate : undefined;
  } catch {
    return undefined;
  }
}

/** OpenSSL reads the times of a certificate only when it is asked for them. */
function isTimed({ validFrom, validTo }: X509Certificate): boolean {
  return [validFrom, validTo].every(time => !Number.isNaN(Date.parse(time)));
}
