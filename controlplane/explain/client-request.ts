import { parseHeaderName, parseMethod } from '#resources/words/http-token.ts';
import { ipVersion } from '#resources/words/ip-address.ts';

/** A request as a client writes it. */
export type ClientRequest = {
  readonly method: string;
  /** Host and port, as in the `Host` header. */
  readonly authority: string;
  /** Path and query, in visible ASCII. */
  readonly target: string;
  /** In their order, without `Host`. A name may be repeated. */
  readonly headers: readonly ClientHeader[];
  /** IP address of the connection. */
  readonly from: string;
  /**
   * The server name of the TLS handshake, in lower case. `''`: the client sent none, since the
   * authority is an address. Absent: without TLS.
   */
  readonly serverName?: string;
};

/** `name` is in lower case. */
export type ClientHeader = { readonly name: string; readonly value: string };

export type RequestFlags = {
  readonly header?: readonly string[];
  readonly from: string;
};

/**
 * Parses the arguments of `gateway explain` into the request that curl would send. Throws an Error
 * that names the wrong part and what is wrong with it.
 */
export function parseClientRequest(
  method: string,
  url: string,
  { header = [], from }: RequestFlags,
): ClientRequest {
  const parsedMethod = parseMethod(method);
  if ('error' in parsedMethod) throw new Error(parsedMethod.error);
  const headers = header.map(parseHeader);
  const hosts = headers.filter(({ name }) => name === ':authority').map(({ value }) => value);
  if (hosts.length > 1)
    throw new Error('--header: a request has one Host, since Envoy answers 400 to several');
  const { authority, target } = parseUrl(url);
  const serverName = /^https:/i.test(url) ? toServerName(authority) : undefined;
  return {
    method: parsedMethod.value,
    authority: hosts[0] ?? authority,
    target,
    headers: headers.filter(({ name }) => name !== ':authority'),
    from: parseFrom(from),
    ...(serverName === undefined ? {} : { serverName }),
  };
}

/** Returns the server name for an authority (RFC 6066, section 3). */
function toServerName(authority: string): string {
  const host = authority.replace(/:\d*$/, '').replace(/^\[(.*)\]$/, '$1');
  return ipVersion(host) === 0 ? host.toLowerCase().replace(/\.$/, '') : '';
}

/** The host of a request whose URL is only a path. */
const DEFAULT_HOST = 'localhost';

const URL_FORM = /^(?:https?:\/\/([^/?#]*))?([^#]*)/is;

function parseUrl(url: string): Pick<ClientRequest, 'authority' | 'target'> {
  const [, host = DEFAULT_HOST, target = ''] = URL_FORM.exec(url) ?? [];
  const authority = host.slice(host.lastIndexOf('@') + 1);
  if (!/^[\x21-\x7e]+$/.test(authority)) {
    throw new Error(
      `the URL "${url}" has no host in ASCII: write for example http://localhost:8080/user`,
    );
  }
  const path = target.startsWith('?') || target === '' ? `/${target}` : target;
  if (!path.startsWith('/')) {
    throw new Error(
      `the URL "${url}" must begin with http://, https:// or "/", for example /user/health`,
    );
  }
  return { authority, target: toAscii(path) };
}

/** Percent-encodes the characters that a client never sends as they are. */
function toAscii(text: string): string {
  return text.toWellFormed().replace(/[^\x21-\x7e]/gu, char => encodeURIComponent(char));
}

function parseHeader(text: string): ClientHeader {
  const [, name = '', value = ''] = /^(:?[^:]*):(.*)$/s.exec(text) ?? [];
  if (name === '') throw new Error('--header must be "Name: value"');
  const parsed = parseHeaderName(name.trim());
  if ('error' in parsed) throw new Error(`--header: ${parsed.error}`);
  if (parsed.value.startsWith(':') && parsed.value !== ':authority')
    throw new Error(`--header: ${parsed.value} is set by the method and the URL`);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what no header value has (RFC 9110 section 5.5)
  if (/[\x00-\x08\x0a-\x1f\x7f]/.test(value))
    throw new Error(`--header: the value of ${name} has a control character`);
  return { name: parsed.value, value: value.replace(/^[ \t]+|[ \t]+$/g, '') };
}

function parseFrom(from: string): string {
  const address = from.replace(/^\[(.*)\]$/, '$1');
  if (ipVersion(address) !== 0) return address;
  throw new Error(`--from is "${from}": want the IP address of a client, for example 203.0.113.7`);
}
