import { parseHost } from './host.ts';
import { checkedString, type Parsed } from './parsed-string.ts';

/**
 * Parses the host of a request, without port. It is `*` for every host, `*.example.com` for every
 * host below it, or one host exactly. It is in lower case, as Envoy compares it.
 */
export function parseDomain(text: string): Parsed<string> {
  if (text === '*') return { value: text };
  const name = text.startsWith('*.') ? text.slice(2) : text;
  if (/^[^:]*:\d+$|^\[.*\]/.test(name))
    return fail(
      text,
      'it may not have a port or brackets. Ports are ignored when hosts are compared',
    );
  if (name.includes('*'))
    return fail(text, 'a "*" must be alone or the whole first part, as in "*.example.com"');
  const host = parseHost(name);
  if ('error' in host) return fail(text, host.error);
  return { value: name === text ? host.value : `*.${host.value}` };
}

function fail(text: string, reason: string): Parsed<never> {
  return { error: `Cannot parse host "${text}": ${reason}` };
}

export const domain = checkedString('a host, "*.example.com" or "*"', parseDomain);
