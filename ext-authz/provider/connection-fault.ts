/** Why there was no answer of a provider, for its operator. */
export type ConnectionFault = {
  readonly text: string;
  /** Whether it stays until the operator changes something. */
  readonly lasting: boolean;
};

/**
 * Returns why undici had no answer, by the code of Node, OpenSSL or undici, such as ECONNREFUSED or
 * CERT_HAS_EXPIRED. Their own texts are never shown. Some codes say little to an operator, and
 * have a sentence beside them.
 */
export function connectionFault(error: unknown, trustedCa: string | undefined): ConnectionFault {
  const code = codeOf(error);
  if (code === undefined) return { text: '', lasting: false };
  const hint = UNKNOWN_AUTHORITY.has(code)
    ? trustedCa === undefined
      ? TRUST
      : OTHER_CA
    : HINTS.get(code);
  const text = ` (${code})${hint === undefined ? '' : `. ${hint}`}`;
  return { text, lasting: hint !== undefined || LASTING.has(code) };
}

/** The name does not exist, or the certificate is not valid now. */
const LASTING: ReadonlySet<string> = new Set([
  ...['ENOTFOUND', 'CERT_HAS_EXPIRED', 'CERT_NOT_YET_VALID'],
]);

/** OpenSSL's codes for a certificate that no known authority has signed. */
const UNKNOWN_AUTHORITY: ReadonlySet<string> = new Set([
  ...['DEPTH_ZERO_SELF_SIGNED_CERT', 'SELF_SIGNED_CERT_IN_CHAIN', 'UNABLE_TO_GET_ISSUER_CERT'],
  ...['UNABLE_TO_GET_ISSUER_CERT_LOCALLY', 'UNABLE_TO_VERIFY_LEAF_SIGNATURE'],
]);
const TRUST =
  'The authority of its certificate is unknown. Name it in `caSecret`, or start ext-authz with NODE_EXTRA_CA_CERTS, a file with that authority';
const OTHER_CA = 'No authority of `caSecret` has signed its certificate';

const VERSIONS = 'The gateway speaks TLS 1.2 and 1.3';
const NO_CLIENT_CERTIFICATE =
  'The provider wants a client certificate, which the gateway does not have';
const NOT_HTTP = 'NOT_HTTP_1_1';
const BAD_PORT = 'BAD_PORT';

const HINTS: ReadonlyMap<string, string> = new Map([
  ['ERR_SSL_WRONG_VERSION_NUMBER', 'Its port does not speak TLS'],
  ['ERR_TLS_CERT_ALTNAME_INVALID', 'Its certificate is for other names'],
  ['INVALID_PURPOSE', 'Its certificate is not one for servers'],
  ['UNSPECIFIED', 'Its certificate is not accepted, for example because a key is weak'],
  ['ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION', VERSIONS],
  ['ERR_SSL_UNSUPPORTED_PROTOCOL', VERSIONS],
  ['ERR_SSL_TLSV1_ALERT_NO_APPLICATION_PROTOCOL', 'The gateway speaks HTTP/1.1'],
  ['ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED', NO_CLIENT_CERTIFICATE],
  [
    'ERR_SSL_SSL/TLS_ALERT_HANDSHAKE_FAILURE',
    `It has no cipher of the gateway's. Or: ${NO_CLIENT_CERTIFICATE}`,
  ],
  [NOT_HTTP, 'What its port speaks is not HTTP/1.1'],
  [BAD_PORT, 'The standard of fetch forbids its port, which is for another protocol'],
]);

/** Two errors have no code, and are named here. */
function codeOf(error: unknown): string | undefined {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  if (!(cause instanceof Error)) return undefined;
  if (cause.name === 'HTTPParserError') return NOT_HTTP;
  if (cause.message === 'bad port') return BAD_PORT;
  const code = 'code' in cause ? cause.code : undefined;
  return typeof code === 'string' && /^[\w/]{1,64}$/.test(code) ? code : undefined;
}
