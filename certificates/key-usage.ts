/** DER of the identifier 2.5.29.15, keyUsage. */
const KEY_USAGE = Buffer.from([0x06, 0x03, 0x55, 0x1d, 0x0f]);
const CRITICAL = [0x01, 0x01, 0xff];
const DIGITAL_SIGNATURE = 0x80;

/**
 * Whether a certificate (DER) may sign. That is the digitalSignature bit of its keyUsage. See RFC
 * 5280, 4.2.1.3. Node reads only the extended usages. The library that reads all extensions costs
 * 80 ms and 18 MB at every start.
 * @returns undefined when it has no keyUsage, and so may do all
 */
export function maySign(der: Buffer): boolean | undefined {
  const at = der.indexOf(KEY_USAGE);
  if (at < 0) return undefined;
  let next = at + KEY_USAGE.length;
  if (CRITICAL.every((byte, index) => der[next + index] === byte)) next += CRITICAL.length;
  // OCTET STRING { BIT STRING { unused bits, bits } }
  const [octets, , bits, length = 0, , first = 0] = der.subarray(next, next + 6);
  if (octets !== 0x04 || bits !== 0x03 || length < 2) return undefined;
  return (first & DIGITAL_SIGNATURE) !== 0;
}
