import { clientAddress } from './client-address.ts';
import type { ClientRequest } from './client-request.ts';
import type { ListenerSettings } from './listener-settings.ts';
import { normalisePath } from './normalise-path.ts';
import { type Headers, requestHeaders } from './request-headers.ts';

/** A request as routes and filters see it. */
export type EnvoyRequest = {
  /** Without query. */
  readonly path: string;
  readonly headers: Headers;
  readonly remoteAddress: string;
};

/** An answer that Envoy gives without looking for a route. */
export type Refusal = { readonly status: number; readonly reason: string };

/** What the listener makes of a request. */
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
  return {
    path,
    headers: requestHeaders(request, path + query, settings, tlsMark),
    remoteAddress: clientAddress(request, settings),
  };
}

function refusalOf(request: ClientRequest, path: string, settings: ListenerSettings): Refusal | undefined {
  const { headers, method } = request;
  if (method === 'CONNECT') return { status: 404, reason: 'the gateway opens no tunnels (CONNECT)' };
  if (settings.rejectsEscapedSlashes && /%(?:2f|5c)/i.test(path)) {
    return {
      status: 400,
      reason:
        'its path has an escaped slash (%2F or %5C); `escaped_slashes` of the Module says what to do with them',
    };
  }
  const odd = settings.rejectsUnderscores && headers.find(({ name }) => name.includes('_'));
  if (odd) {
    return {
      status: 400,
      reason: `the name of its header ${odd.name} has a "_", which upstreams may take for "-"`,
    };
  }
  const upgrades = headers.some(({ name, value }) => name === 'connection' && /\bupgrade\b/i.test(value));
  if (settings.rejectsUpgrades && upgrades && headers.some(({ name }) => name === 'upgrade'))
    return { status: 403, reason: 'the gateway passes on no protocol upgrades (WebSocket)' };
  return undefined;
}
