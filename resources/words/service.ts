import { type HostPort, parseHostPort } from './host.ts';
import { type Parsed, parsedString } from './parsed-string.ts';
import { inNamespace } from './service-namespace.ts';

/**
 * An upstream service. `host` is a DNS name (also `name` or `name.namespace`) or an address, IPv6
 * without brackets.
 */
export type Service = HostPort & {
  readonly scheme: 'http' | 'https';
  /** Whether the operator wrote the port. Else it is the scheme's. */
  readonly portGiven: boolean;
};

const FORM = '[http://|https://]name[.namespace][:port]';

/**
 * Parses `[http://|https://]name[.namespace][:port]`. Without a port it is 80, or 443 with https.
 */
export function parseService(text: string): Parsed<Service> {
  // Not quoted, because a password may stand before the "@".
  if (text.includes('@'))
    return { error: 'Cannot parse service: it may not have a user name or password ("@")' };
  // The slash of a URL without a path means nothing.
  const [, schemeText, rest] = /^(?:([^:/?#]*):\/\/)?(.*?)\/?$/s.exec(text) ?? [];
  const scheme = schemeText?.toLowerCase() ?? 'http';
  if (scheme !== 'http' && scheme !== 'https') {
    return fail(text, `the scheme "${schemeText}" is neither http nor https`);
  }
  if (rest === undefined || rest === '') return fail(text, `it names no host. Write ${FORM}`);
  if (/[/?#]/.test(rest)) return fail(text, 'it has a path. Use `rewrite` for paths');
  const target = parseHostPort(rest);
  if ('error' in target) return fail(text, target.error);
  const { host, port = scheme === 'https' ? 443 : 80 } = target.value;
  return { value: { scheme, host, port, portGiven: target.value.port !== undefined } };
}

function fail(text: string, reason: string): Parsed<never> {
  return { error: `Cannot parse service "${text}": ${reason}` };
}

/** Returns the service as a resource of this namespace means it. */
export function serviceIn(service: Service, namespace: string): Service {
  return { ...service, host: inNamespace(service.host, namespace) };
}

export const service = parsedString(FORM, parseService);
