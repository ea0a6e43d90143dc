/** What `absl::SimpleAtoi` takes for a port: it need not be one. */
const PORT = /^[+]?\d+$/;
const LARGEST = 2 ** 32 - 1;

/**
 * The host of a request as the listener leaves it (`strip_trailing_host_dot`, then `strip_any_host_port`); its case stays.
 * Source: measured on Envoy 1.40.
 */
export function requestHost(authority: string): string {
  return withoutPort(withoutTrailingDot(authority));
}

/** The dot at the very end, or else the last one when it stands before the port. */
function withoutTrailingDot(host: string): string {
  const dot = host.lastIndexOf('.');
  if (dot === -1) return host;
  if (dot === host.length - 1) return host.slice(0, -1);
  return host.charAt(dot + 1) === ':' ? host.slice(0, dot) + host.slice(dot + 1) : host;
}

function withoutPort(host: string): string {
  const colon = host.lastIndexOf(':');
  if (colon === -1 || host.lastIndexOf(']') > colon) return host;
  const port = host.slice(colon + 1);
  return PORT.test(port) && Number(port) <= LARGEST ? host.slice(0, colon) : host;
}
