import type { Message } from '#protos/service.ts';
import type { Parsed } from '#resources/parsed-string.ts';
import { headerText } from './header-text.ts';
import type { HttpRequest } from './http-request.ts';

const LONGEST_ID = 128;
const DEFAULT_PORT = { http: ':80', https: ':443' } as const;
/** What a URI allows in an authority (RFC 3986 section 3.2.2) without user names and percent-encoding. */
const AUTHORITY = /^(?:\[[0-9a-f:.]+\]|[a-z0-9._~!$&'()*+,;=-]+)(?::\d{1,5})?$/;
const METHOD = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,64}$/;

/**
 * The client's request in an `envoy.service.auth.v3.CheckRequest` (decoded, snake_case) of a filter with `encode_raw_headers`. What is no HTTP request
 * that we could judge is an error in plain words, without anything that the client sent.
 * `clientAddress` is Envoy's, when it is told apart from the message; else the connection's.
 */
export function parseCheckRequest(message: Message, clientAddress: string | undefined): Parsed<HttpRequest> {
  const attributes = at(message, 'attributes');
  const http = at(at(attributes, 'request'), 'http');
  if (http === undefined) return { error: 'it is no HTTP request' };
  const scheme = text(http.scheme);
  if (scheme !== 'http' && scheme !== 'https') return { error: 'its scheme is neither http nor https' };
  const authority = normalAuthority(text(http.host), scheme);
  if (authority === undefined) return { error: 'its host is malformed' };
  const method = text(http.method);
  if (!METHOD.test(method)) return { error: 'its method is malformed' };
  const target = text(http.path);
  if (!target.startsWith('/')) return { error: 'its path does not begin with "/"' };
  const headers = headersOf(at(http, 'header_map'));
  const address = clientAddress ?? connectionAddress(attributes);
  const id = requestId(headers.get('x-request-id')?.[0]);
  return {
    value: { method, scheme, authority, target, headers, body: bodyOf(http), clientAddress: address, id },
  };
}

/** Lower case, without the scheme's own port and without the dot at the end of the name. */
function normalAuthority(host: string, scheme: 'http' | 'https'): string | undefined {
  const lower = host.toLowerCase();
  const named = lower.endsWith(DEFAULT_PORT[scheme]) ? lower.slice(0, -DEFAULT_PORT[scheme].length) : lower;
  const authority = named.replace(/\.(?=:\d*$|$)/, '');
  return authority.length <= 512 && AUTHORITY.test(authority) ? authority : undefined;
}

/** Pseudo-headers have fields of their own in the message. */
function headersOf(map: Message | undefined): Map<string, string[]> {
  const headers = new Map<string, string[]>();
  for (const { key, raw_value, value } of list(map?.headers)) {
    if (typeof key !== 'string' || key === '' || key.startsWith(':')) continue;
    const name = key.toLowerCase();
    const field =
      raw_value instanceof Uint8Array && raw_value.length > 0 ? headerText(name, raw_value) : text(value);
    const fields = headers.get(name);
    if (fields === undefined) headers.set(name, [field]);
    else fields.push(field);
  }
  return headers;
}

/** A copy: the bytes of the message are used again. */
function bodyOf(http: Message): Uint8Array {
  if (http.raw_body instanceof Uint8Array && http.raw_body.length > 0) return Uint8Array.from(http.raw_body);
  return Buffer.from(text(http.body), 'utf8');
}

function connectionAddress(attributes: Message | undefined): string {
  return text(at(at(at(attributes, 'source'), 'address'), 'socket_address')?.address);
}

/** It stands in logs and pages; a client inside of the network can choose it. */
function requestId(id = ''): string {
  return /^[\x21-\x7e]*$/.test(id) ? id.slice(0, LONGEST_ID) : '';
}

function at(message: Message | undefined, field: string): Message | undefined {
  const value = message?.[field];
  return typeof value === 'object' && value !== null ? (value as Message) : undefined;
}

function list(value: unknown): readonly Message[] {
  return Array.isArray(value) ? value : [];
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
