import { clientAddress } from './client-address.ts';
import type { ClientRequest } from './client-request.ts';
import type { ListenerSettings } from './listener-settings.ts';
import { normalisePath } from './normalise-path.ts';
import { type Headers, requestHeaders } from './request-headers.ts';

/** A request as routes and filters see it. */
export type EnvoyRequest = {
  /** Without query. */
  readonly path: string;
  /** Parameters as they are sent. The first of several with one name counts. */
  readonly query: ReadonlyMap<string, string>;
  readonly headers: Headers;
  readonly remoteAddress: string;
  /** The protocol that the request wants to switch to, in lower case. */
  readonly upgrade?: string;
};

/** An answer that Envoy gives without looking for a route. */
export type Refusal = { readonly status: number; readonly reason: string };

/** Applies what the listener does to a request. */
export function toEnvoyRequest(
  request: ClientRequest,
  settings: ListenerSettings,
  tlsMark?: string,
): EnvoyRequest | Refusal {
  const [written = ''] = request.target.split('?', 1);
  const query = request.target.slice(written.length);
  const path = normalisePath(written);
  if (path === undefined) return { status: 400, reason: 'its path has %00' };
  const refusal = refusalOf(request, written, settings);
  if (refusal !== undefined) return refusal;
  const upgrade = upgradeOf(request);
  return {
    path,
    query: queryOf(query),
    headers: requestHeaders(request, path + query, settings, tlsMark),
    remoteAddress: clientAddress(request, settings),
    ...(upgrade === undefined ? {} : { upgrade }),
  };
}

/** Parses a query as Envoy does: nothing is decoded. */
function queryOf(query: string): ReadonlyMap<string, string> {
  const written = query.slice(1).split('&').reverse();
  return new Map(
    written.map(parameter => {
      const [name = '', ...value] = parameter.split('=');
      return [name, value.join('=')];
    }),
  );
}

function refusalOf(
  request: ClientRequest,
  path: string,
  settings: ListenerSettings,
): Refusal | undefined {
  const { headers, method } = request;
  if (method === 'CONNECT')
    return { status: 404, reason: 'the gateway opens no tunnels (CONNECT)' };
  if (settings.rejectsEscapedSlashes && /%(?:2f|5c)/i.test(path)) {
    return {
      status: 400,
      reason:
        'its path has an escaped slash (%2F or %5C), and `escaped_slashes` of the Module decides about them',
    };
  }
  const odd = settings.rejectsUnderscores && headers.find(({ name }) => name.includes('_'));
  if (odd) {
    return {
      status: 400,
      reason: `the name of its header ${odd.name} has a "_", which upstreams may take for "-"`,
    };
  }
  return undefined;
}

/**
 * Returns the requested protocol (RFC 9110, section 7.8). Envoy ignores an upgrade of HTTP/1.1 to
 * `h2c`.
 */
function upgradeOf({ headers }: ClientRequest): string | undefined {
  const valuesOf = (field: string) =>
    headers.filter(({ name }) => name === field).map(({ value }) => value);
  const options = valuesOf('connection').join().toLowerCase().split(',');
  const upgrade = valuesOf('upgrade').join().toLowerCase();
  if (upgrade === '' || upgrade === 'h2c') return undefined;
  return options.some(option => option.trim() === 'upgrade') ? upgrade : undefined;
}
