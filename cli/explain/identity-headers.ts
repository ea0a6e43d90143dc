import { IDENTITY_HEADERS } from '#controlplane/compile/ext-authz/identity-headers.ts';
import { isJsonObject, objectsIn } from '#protos/json.ts';
import type { EnvoyRequest } from './envoy-request.ts';
import type { VirtualHost } from './route-configuration.ts';

/** Returns the request as filters see it: without what the virtual host removes, since only Filters may set it. */
export function withoutIdentityHeaders(request: EnvoyRequest, virtualHost: VirtualHost): EnvoyRequest {
  const mutations = virtualHost.typed_per_filter_config?.[IDENTITY_HEADERS]?.mutations;
  if (!isJsonObject(mutations)) return request;
  const removed = new Set(objectsIn(mutations.request_mutations).map(({ remove }) => remove));
  return { ...request, headers: new Map([...request.headers].filter(([name]) => !removed.has(name))) };
}
