import type { Parsed } from './parsed-string.ts';

const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const PSEUDO_HEADERS: readonly string[] = [':authority', ':method', ':path', ':scheme'];
const STANDARD_METHODS: readonly string[] = [
  'CONNECT',
  'DELETE',
  'GET',
  'HEAD',
  'OPTIONS',
  'PATCH',
  'POST',
  'PUT',
  'TRACE',
];

/**
 * Parses a header's name as Envoy compares it. It is a token (RFC 9110 section 5.6.2) in lower
 * case, or one of HTTP/2's request pseudo-headers. `Host` is read as `:authority`, its name on the
 * wire.
 */
export function parseHeaderName(text: string): Parsed<string> {
  const name = text.toLowerCase();
  if (name === 'host') return { value: ':authority' };
  if (TOKEN.test(text) || PSEUDO_HEADERS.includes(name)) return { value: name };
  if (name.startsWith(':')) {
    return {
      error: `"${text}" is no header of a request. Of those with ":" there are ${PSEUDO_HEADERS.join(', ')}`,
    };
  }
  return parseToken(text, 'a header name');
}

/** Parses a token (RFC 9110 section 5.6.2) as it is written. `what` is what it should be. */
export function parseToken(text: string, what: string): Parsed<string> {
  if (TOKEN.test(text)) return { value: text };
  return { error: `"${text}" is not ${what}: letters, digits and !#$%&'*+-.^_\`|~ only` };
}

/**
 * Parses a request method, which is a token. Methods are case-sensitive (RFC 9110 section 9.1).
 * `get` means the standard `GET`.
 */
export function parseMethod(text: string): Parsed<string> {
  const upper = text.toUpperCase();
  return STANDARD_METHODS.includes(upper) ? { value: upper } : parseToken(text, 'a request method');
}

/**
 * Protocols that would carry requests past Filters and limits. They are tunnels (RFC 9110 section
 * 9.3.6, RFC 9298, RFC 9484 and others), TLS (RFC 2817) and HTTP of any version.
 */
const CARRIER = /^(?:connect(?:-.*)?|tls|https?|h2c?)$/;

/**
 * Parses a protocol to which a request may switch. It is a name, and perhaps a version (RFC 9110
 * section 7.8), in lower case since case does not count. Envoy compares it with the whole field
 * `Upgrade`. It would take `CONNECT` for that method.
 */
export function parseUpgrade(text: string): Parsed<string> {
  const protocol = text.toLowerCase();
  const [name = '', ...version] = protocol.split('/');
  if (version.length > 1 || ![name, ...version].every(part => TOKEN.test(part)))
    return { error: `"${text}" is not a protocol: a name as \`websocket\`, or name/version` };
  if (CARRIER.test(name))
    return {
      error: `"${text}" is not served: Filters and limits would not see the requests inside`,
    };
  return { value: protocol };
}
