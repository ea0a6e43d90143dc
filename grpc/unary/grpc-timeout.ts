const DIGITS_MAX = 8;

/**
 * Parses the header `grpc-timeout`, such as `20m` or `1S`, to milliseconds. Source: gRPC over
 * HTTP2, "Timeout".
 * @returns undefined when the text is no timeout
 */
export function parseGrpcTimeout(text: string): number | undefined {
  const digits = text.length - 1;
  const unit = unitMs(text.charCodeAt(digits));
  if (digits < 1 || digits > DIGITS_MAX || unit === undefined) return undefined;
  let value = 0;
  for (let at = 0; at < digits; at++) {
    const digit = text.charCodeAt(at) - 0x30;
    if (digit < 0 || digit > 9) return undefined;
    value = value * 10 + digit;
  }
  return value * unit;
}

function unitMs(character: number): number | undefined {
  switch (String.fromCharCode(character)) {
    case 'H':
      return 3_600_000;
    case 'M':
      return 60_000;
    case 'S':
      return 1_000;
    case 'm':
      return 1;
    case 'u':
      return 1e-3;
    case 'n':
      return 1e-6;
    default:
      return undefined;
  }
}
