import { IDENTITY_HEADERS } from '#controlplane/compile/ext-authz/identity-headers.ts';
import { isJsonObject, objectsIn } from '#protos/json.ts';
import type { EnvoyRequest } from './envoy-request.ts';
import type { VirtualHost } from './route-configuration.ts';

/**
 * Returns the request as filters see it: without the headers that the virtual host removes. Only
 * Filters may set these.
 */
export function withoutIdentityHeaders(
  request: EnvoyRequest,
  virtualHost: VirtualHost,
): EnvoyRequest {
  const mutations = virtualHost.typed_per_filter_config?.[IDENTITY_HEADERS]?.mutations;
  if (!isJsonObject(mutations)) return request;
  const removed = new Set(objectsIn(mutations.request_mutations).map(({ remove }) => remove));
  return {
    ...request,
    headers: new Map([...request.headers].filter(([name]) => !removed.has(name))),
  };
}

/** The filters of a request, as far as it matters here. */
type Filters = {
  readonly decision: string;
  readonly chain?: readonly {
    readonly applies: string;
    readonly injects: readonly string[];
    readonly resource: string;
  }[];
};

/**
 * Returns the request as limits see it: with the headers that its filters may set. The values are
 * known only when the filters run, so a placeholder stands for each.
 */
export function withInjected(request: EnvoyRequest, filters: Filters | undefined): EnvoyRequest {
  if (filters?.decision !== 'chain') return request;
  const running = (filters.chain ?? []).filter(({ applies }) => applies !== 'no');
  const set = running.flatMap(({ injects, resource }) =>
    injects.map(name => [name, [`(set by ${resource})`]] as const),
  );
  return { ...request, headers: new Map([...request.headers, ...set]) };
}
