/** DER of the identifier 1.3.6.1.5.5.7.1.24, TLS feature. */
const TLS_FEATURE = Buffer.from([0x06, 0x08, 0x2b, 0x06, 0x01, 0x05, 0x05, 0x07, 0x01, 0x18]);
const CRITICAL = Buffer.from([0x01, 0x01, 0xff]);
/** OCTET STRING { SEQUENCE { INTEGER 5 } }, which is status_request and nothing else. */
const STATUS_REQUEST = Buffer.from([0x04, 0x05, 0x30, 0x03, 0x02, 0x01, 0x05]);

/** Whether a certificate (DER) needs an OCSP response, as Envoy reads it. See RFC 7633, 4. */
export function mustStaple(der: Buffer): boolean {
  const at = der.indexOf(TLS_FEATURE);
  if (at < 0) return false;
  const after = der.subarray(at + TLS_FEATURE.length);
  const value = startsWith(after, CRITICAL) ? after.subarray(CRITICAL.length) : after;
  return startsWith(value, STATUS_REQUEST);
}

function startsWith(bytes: Buffer, start: Buffer): boolean {
  return bytes.subarray(0, start.length).equals(start);
}
