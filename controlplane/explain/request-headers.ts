import { forwardedHeaders } from '#controlplane/compile/forwarded-headers.ts';
import { EXTERNALS_HEADER } from '#controlplane/compile/gateways/rule-externals.ts';
import { HOST_HEADER } from '#controlplane/compile/tls/host-header.ts';
import { clientAddress } from './client-address.ts';
import type { ClientRequest } from './client-request.ts';
import { isDropped } from './dropped-headers.ts';
import type { ListenerSettings } from './listener-settings.ts';
import { withoutTrailingDot } from './request-host.ts';

/** Values by name in lower case, with pseudo-headers. Repeated fields keep their order. */
export type Headers = ReadonlyMap<string, readonly [string, ...string[]]>;

/** Stands for a value that Envoy generates for each request. */
const NEW_REQUEST_ID = '(a new id for each request)';

/** Envoy joins repeated fields of these names when it reads them. [measured on Envoy 1.40] */
const JOINED: ReadonlySet<string> = new Set([
  'accept',
  'accept-encoding',
  'authorization',
  'cache-control',
  'content-type',
  'expect',
  'grpc-timeout',
  'origin',
  'referer',
  'user-agent',
  'via',
  'x-forwarded-for',
  'x-forwarded-host',
  'x-forwarded-port',
  'x-forwarded-proto',
  'x-request-id',
]);

/**
 * Returns the headers as routes and filters see them: after what the listener removes, joins and
 * sets. `target` is path and query, normalised. `tlsMark` is the mark of the Host whose TLS the
 * request uses, and is absent without TLS. For a client on a loopback address Envoy fills
 * X-Forwarded-For with an address of its own machine. Here it is the client's.
 */
export function requestHeaders(
  request: ClientRequest,
  target: string,
  settings: ListenerSettings,
  tlsMark?: string,
): Headers {
  const headers = new Map<string, [string, ...string[]]>();
  for (const { name, value } of request.headers) {
    if (isDropped(name, settings)) continue;
    const earlier = headers.get(name);
    if (earlier === undefined) headers.set(name, [value]);
    else if (JOINED.has(name)) headers.set(name, [`${earlier[0]},${value}`]);
    else earlier.push(value);
  }
  if (settings.use_remote_address) setAtTheEdge(headers, request, settings);
  setMissing(headers, 'x-forwarded-proto', tlsMark === undefined ? 'http' : 'https');
  if (tlsMark !== undefined) headers.set(HOST_HEADER, [tlsMark]);
  if (settings.externals !== undefined) headers.set(EXTERNALS_HEADER, [settings.externals]);
  setMissing(headers, 'x-request-id', NEW_REQUEST_ID);
  headers.set(':method', [request.method]);
  headers.set(':authority', [withoutTrailingDot(request.authority)]);
  headers.set(':path', [target]);
  if (settings.runsFilters) setForwarded(headers, settings, tlsMark !== undefined);
  headers.set(':scheme', [headers.get('x-forwarded-proto')?.[0] === 'https' ? 'https' : 'http']);
  return headers;
}

/** Returns the headers that the edge sets. Source: Envoy's page "HTTP header manipulation". */
function setAtTheEdge(
  headers: Map<string, [string, ...string[]]>,
  request: ClientRequest,
  settings: ListenerSettings,
): void {
  const { from } = request;
  const forwardedFor = headers.get('x-forwarded-for')?.[0];
  headers.set('x-forwarded-for', [forwardedFor === undefined ? from : `${forwardedFor},${from}`]);
  headers.set('x-envoy-external-address', [clientAddress(request, settings)]);
  headers.set('x-request-id', [NEW_REQUEST_ID]);
  if (settings.xff_num_trusted_hops === 0) headers.delete('x-forwarded-proto');
}

/**
 * Sets headers as the gateway's `forwardedHeaders` does. Only services see the port that a client
 * writes.
 */
function setForwarded(
  headers: Map<string, [string, ...string[]]>,
  settings: ListenerSettings,
  hasTls: boolean,
): void {
  for (const { append_action, key } of forwardedHeaders(settings, hasTls)) {
    const value =
      key === 'x-forwarded-host' ? headers.get(':authority')?.[0] : hasTls ? '443' : '80';
    if (value !== undefined && (append_action !== 'ADD_IF_ABSENT' || !headers.has(key)))
      headers.set(key, [value]);
  }
}

function setMissing(
  headers: Map<string, [string, ...string[]]>,
  name: string,
  value: string,
): void {
  if (!headers.has(name)) headers.set(name, [value]);
}
