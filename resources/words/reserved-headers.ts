/**
 * Fields of one connection, or that frame a message (RFC 9110 sections 7.6.1 and 8.6, RFC 9112):
 * the proxies' own.
 */
export const FRAMING_HEADERS: readonly string[] = [
  'connection',
  'content-length',
  'keep-alive',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
];

/**
 * Fields by which clients give credentials to an OAuth2 filter (docs/reference/kinds/filter.md).
 */
export const CREDENTIAL_HEADERS: readonly string[] = [
  'x-gateway-client-assertion',
  'x-gateway-client-id',
  'x-gateway-client-secret',
  'x-gateway-password',
  'x-gateway-username',
];

/** What the gateway's own parts tell each other; clients and services see none of it. */
export const INTERNAL_HEADERS: readonly string[] = ['x-gateway-retriable', 'x-gateway-tls-host'];

/** With one of these beside that of the upstream a failed call might seem to have succeeded. */
export const GRPC_HEADERS: readonly string[] = [
  'grpc-message',
  'grpc-status',
  'grpc-status-details-bin',
];

/**
 * Whether a name in lower case is one of these, of which one that ends in `*` stands for all that
 * begin so. Applications may take `_` for `-` (CGI does, RFC 3875 section 4.1.18), so it may not be
 * spelt so either.
 */
export function isReserved(name: string, reserved: readonly string[]): boolean {
  const plain = name.replaceAll('_', '-');
  return reserved.some(rule =>
    rule.endsWith('*') ? plain.startsWith(rule.slice(0, -1)) : plain === rule,
  );
}
