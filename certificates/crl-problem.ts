/**
 * Matches as Envoy reads. Revocation lists may stand among the authorities, and a broken one spoils
 * all.
 */
const CRL = /^-----BEGIN X509 CRL-----[ \t]*\r?\n([^-]*)^-----END X509 CRL-----[ \t]*\r?$/gm;

const BEGIN = '-----BEGIN X509 CRL-----';

/**
 * Whether a PEM text has revocation lists. Node ignores them among its authorities, so it would
 * trust revoked certificates.
 */
export function hasCrl(pem: string): boolean {
  return pem.includes(BEGIN);
}

/**
 * Checks the outer form of the revocation lists in a PEM text. See RFC 7468, section 6.
 * @returns what is wrong, or undefined when nothing is
 */
export function crlProblem(pem: string): string | undefined {
  const begun = pem.split(BEGIN).length - 1;
  const bodies = bodiesIn(pem);
  if (begun !== bodies.length)
    return 'a revocation list in it is cut off, or shares a line with another';
  const broken = bodies.findIndex(body => !isDerSequence(body));
  return broken === -1 ? undefined : `revocation list ${broken + 1} in it is malformed`;
}

/** Returns the revocation lists in a PEM text in which nothing is wrong with them, as DER. */
export function crlsIn(pem: string): readonly Buffer[] {
  return bodiesIn(pem).map(body => Buffer.from(body, 'base64'));
}

/** Returns their base64. */
function bodiesIn(pem: string): readonly string[] {
  return [...pem.matchAll(CRL)].map(([, body = '']) => body.replace(/\s/g, ''));
}

/** Whether base64 holds exactly one complete DER SEQUENCE (X.690, section 8.1.3). */
function isDerSequence(base64: string): boolean {
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(base64) || base64.length % 4 !== 0) return false;
  const der = Buffer.from(base64, 'base64');
  const [tag, first = 0] = der;
  const lengthBytes = first < 0x80 ? 0 : first & 0x7f;
  if (tag !== 0x30 || first === 0x80 || lengthBytes > 4 || der.length < 2 + lengthBytes)
    return false;
  const length = lengthBytes === 0 ? first : der.readUIntBE(2, lengthBytes);
  return der.length === 2 + lengthBytes + length;
}
