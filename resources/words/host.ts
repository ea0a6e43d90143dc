import { domainToASCII } from 'node:url';
import { ipVersion } from './ip-address.ts';
import type { Parsed } from './parsed-string.ts';

export type HostPort = { readonly host: string; readonly port: number };

const LABEL = /^[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?$/i;

/**
 * Parses the name or address of a host. It is a DNS name (RFC 1123, and `_` as in container names,
 * 253 characters), an IPv4 address or an IPv6 address without brackets. The result is in lower
 * case, without the trailing dot. A name whose last label is a number is invalid, because a
 * resolver would take it for an address.
 */
export function parseHost(text: string): Parsed<string> {
  if (ipVersion(text) !== 0) return { value: text.toLowerCase() };
  const scheme = /^[a-z]+:\/\//i.exec(text)?.[0];
  if (scheme !== undefined)
    return { error: `"${text}" is not a host name: write it without "${scheme}"` };
  const name = text.replace(/\.$/, '').toLowerCase();
  const labels = name.split('.');
  if (/^\d+$/.test(labels.at(-1) ?? ''))
    return { error: `"${text}" is neither a host name nor an IP address` };
  if (name.length > 253)
    return { error: `the host name has ${name.length} characters, 253 are allowed` };
  const wrong = labels.find(label => !LABEL.test(label));
  if (wrong === undefined) return { value: name };
  return { error: `"${text}" is not a host name: ${describeLabel(wrong)}${sentForm(name)}` };
}

/** Returns how browsers send a host with letters beyond ASCII (RFC 5890), for an error. */
export function sentForm(host: string): string {
  const sent = /[\u{80}-\u{10ffff}]/u.test(host) ? domainToASCII(host) : '';
  return sent === '' ? '' : `. Browsers send it as "${sent}"`;
}

function describeLabel(label: string): string {
  if (label === '') return 'a part between its dots is empty';
  if (label.length > 63) return `a part has ${label.length} characters, 63 are allowed`;
  return `"${label}" may have letters, digits, "-" and "_" only, and no "-" at its ends`;
}

/** Parses a port, 1 to 65535, in decimal digits. */
function parsePort(text: string): Parsed<number> {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : 0;
  if (port >= 1 && port <= 65535) return { value: port };
  return { error: `the port "${text}" is not a number from 1 to 65535` };
}

/** Parses `host`, `host:port`, `[IPv6]` or `[IPv6]:port`. A bare IPv6 address has no port. */
export function parseHostPort(
  text: string,
): Parsed<{ readonly host: string; readonly port?: number }> {
  const { hostText, portText } = splitHostPort(text);
  if (text.startsWith('[') && ipVersion(hostText) !== 6)
    return { error: `"${text}" has no IPv6 address in its brackets` };
  const host = parseHost(hostText);
  if ('error' in host) return host;
  if (portText === undefined) return { value: { host: host.value } };
  const port = parsePort(portText);
  return 'error' in port ? port : { value: { host: host.value, port: port.value } };
}

/** Parses what a request's `Host` may be. Its letter case does not count. */
export function parseHostHeader(text: string): Parsed<string> {
  const parsed = parseHostPort(text);
  return 'error' in parsed ? parsed : { value: text.toLowerCase() };
}

function splitHostPort(text: string): { hostText: string; portText?: string } {
  const bracketed = /^\[([^\]]*)\](?::(.*))?$/s.exec(text);
  const plain = bracketed ?? (ipVersion(text) === 6 ? null : /^([^:]*):(.*)$/s.exec(text));
  const hostText = plain?.[1] ?? text;
  return plain?.[2] === undefined ? { hostText } : { hostText, portText: plain[2] };
}
