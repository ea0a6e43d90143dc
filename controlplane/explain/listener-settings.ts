import type { Compiled } from '#controlplane/compile/compiled.ts';
import { EXTERNALS_HEADER } from '#controlplane/compile/gateways/rule-externals.ts';
import { ONE_HOST } from '#controlplane/compile/listeners/one-host.ts';
import { isJsonObject, type JsonObject, objectsIn } from '#protos/json.ts';
import { LISTENER } from '#protos/type-url.ts';
import { managersOf } from './asked-listener.ts';
import { EXT_AUTHZ_FILTER } from './route-configuration.ts';

/** Fields of Envoy's `HttpConnectionManager` that change a request before it is routed. */
export type ListenerSettings = {
  readonly use_remote_address: boolean;
  readonly xff_num_trusted_hops: number;
  readonly rejectsEscapedSlashes: boolean;
  readonly rejectsUnderscores: boolean;
  /** Whether a request must name one host. */
  readonly wantsOneHost: boolean;
  /** Names of headers that are removed from client requests, in lower case. */
  readonly removedHeaders: ReadonlySet<string>;
  /** Whether FilterPolicies apply. */
  readonly runsFilters: boolean;
  /** Whether rate limits apply. */
  readonly asksForLimits: boolean;
  /** What it tells routes of its filters (EXTERNALS_HEADER). */
  readonly externals?: string;
};

/** Returns the settings of a connection manager. */
export function managerSettings(manager: JsonObject): ListenerSettings {
  const { common_http_protocol_options: common } = manager;
  const externals = earlyHeader(manager, EXTERNALS_HEADER);
  return {
    use_remote_address: manager.use_remote_address === true,
    xff_num_trusted_hops: Number(manager.xff_num_trusted_hops ?? 0),
    rejectsEscapedSlashes: manager.path_with_escaped_slashes_action === 'REJECT_REQUEST',
    rejectsUnderscores:
      isJsonObject(common) && common.headers_with_underscores_action === 'REJECT_REQUEST',
    wantsOneHost: hasFilter(manager, ONE_HOST),
    removedHeaders: removedHeaders(manager),
    runsFilters: hasFilter(manager, EXT_AUTHZ_FILTER),
    asksForLimits: hasFilter(manager, 'envoy.filters.http.ratelimit'),
    ...(externals === undefined ? {} : { externals }),
  };
}

/**
 * Returns the settings of the node group's first listener without TLS.
 * @returns undefined when there is none
 */
export function listenerSettings({ resources }: Compiled): ListenerSettings | undefined {
  const listeners = resources.get(LISTENER) ?? [];
  const [manager] = listeners.flatMap(({ json }) => managersOf(json, false));
  return manager && managerSettings(manager);
}

function hasFilter({ http_filters }: JsonObject, filter: string): boolean {
  return objectsIn(http_filters).some(({ name }) => name === filter);
}

/**
 * Returns the headers that the listener removes. Source: Envoy's page of `HttpConnectionManager`,
 * `early_header_mutation_extensions` and `forward_client_cert_details`.
 */
function removedHeaders(manager: JsonObject): ReadonlySet<string> {
  const { forward_client_cert_details } = manager;
  const certificate =
    forward_client_cert_details === 'ALWAYS_FORWARD_ONLY' ? [] : ['x-forwarded-client-cert'];
  const removed = earlyMutations(manager).flatMap(({ remove }) =>
    typeof remove === 'string' ? remove.toLowerCase() : [],
  );
  return new Set([...certificate, ...removed]);
}

/**
 * Returns the value of a header that the listener sets before any route.
 * @returns undefined when it sets none of this name
 */
export function earlyHeader(manager: JsonObject, name: string): string | undefined {
  const headers = earlyMutations(manager).flatMap(({ append }) =>
    isJsonObject(append) ? append.header : [],
  );
  const found = headers.filter(isJsonObject).find(({ key }) => key === name);
  return found === undefined ? undefined : String(found.value);
}

function earlyMutations({
  early_header_mutation_extensions: extensions,
}: JsonObject): readonly JsonObject[] {
  return objectsIn(extensions).flatMap(({ typed_config }) =>
    isJsonObject(typed_config) ? objectsIn(typed_config.mutations) : [],
  );
}
