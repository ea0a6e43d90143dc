/**
 * Fields of one connection, or that frame a message (RFC 9110 sections 7.6.1 and 8.6, RFC 9112).
 * They belong to the proxies.
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

/** Fields with credentials. Their values are in no page, no log and no trace. */
export const SECRET_HEADERS: readonly string[] = [
  'authorization',
  'cookie',
  'proxy-authorization',
  'set-cookie',
  ...CREDENTIAL_HEADERS,
];

/** What the gateway's own parts tell each other. Clients and services see none of it. */
export const INTERNAL_HEADERS: readonly string[] = ['x-gateway-retriable', 'x-gateway-tls-host'];

/** A failed call might seem successful with one of these beside that of the upstream. */
export const GRPC_HEADERS: readonly string[] = [
  'grpc-message',
  'grpc-status',
  'grpc-status-details-bin',
];

/**
 * Whether a name in lower case is one of these. One that ends in `*` stands for all with that
 * prefix. `_` for `-` is rejected too, because applications may treat them alike (CGI does, RFC
 * 3875 section 4.1.18).
 */
export function isReserved(name: string, reserved: readonly string[]): boolean {
  const plain = name.replaceAll('_', '-');
  return reserved.some(rule =>
    rule.endsWith('*') ? plain.startsWith(rule.slice(0, -1)) : plain === rule,
  );
}
