import { isJsonObject, type Json, type JsonObject } from '#protos/json.ts';
import { CONTROL_PLANE_CLUSTER } from '../clusters/reserved-clusters.ts';
import { extension } from '../extension.ts';
import { SKIP } from './ext-authz-filter.ts';
import { PROVIDER_STATE, tokenScript } from './token-script.ts';
import type { TokenProvider } from './token-way.ts';

/** The name of the filter that verifies, and of its configuration. */
export const TOKENS = 'gateway.tokens';
/** The name of the filter that stands before it and behind it, and of its configuration. */
export const KNOWN_TOKENS = 'gateway.known_tokens';

const JWT_AUTHN = 'filters.http.jwt_authn.v3.JwtAuthentication';
const LUA = 'filters.http.lua.v3.Lua';

/**
 * Returns the filters that verify bearer tokens before the Filter service would be asked. Each is
 * off until a route turns it on. Their configuration comes by discovery. So new keys drain no
 * connection, and a listener has no script for each of its hosts. Without it they do nothing.
 */
export const TOKEN_FILTERS: readonly JsonObject[] = [
  discovered(KNOWN_TOKENS, LUA),
  discovered(TOKENS, JWT_AUTHN),
  discovered(KNOWN_TOKENS, LUA),
];

function discovered(name: string, type: string): JsonObject {
  return {
    name,
    disabled: true,
    config_discovery: {
      config_source: {
        resource_api_version: 'V3',
        // There is none while no route verifies, and Envoy would warn of that.
        initial_fetch_timeout: '0s',
        api_config_source: {
          api_type: 'DELTA_GRPC',
          transport_api_version: 'V3',
          set_node_on_first_message_only: true,
          grpc_services: [
            {
              envoy_grpc: {
                cluster_name: CONTROL_PLANE_CLUSTER,
                retry_policy: { retry_back_off: { base_interval: '0.1s', max_interval: '0.5s' } },
              },
            },
          ],
        },
      },
      default_config: extension(type),
      apply_default_config_without_warming: true,
      type_urls: [`type.googleapis.com/envoy.extensions.${type}`],
    },
  };
}

/** The configuration of the filter that knows tokens. All of a proxy share one state a worker. */
export const TOKEN_MEMORY: JsonObject = extension(LUA, {
  source_codes: { [KNOWN_TOKENS]: { inline_string: tokenScript(SKIP) } },
  shared_vm_id: KNOWN_TOKENS,
  clear_route_cache: false,
});

/** Returns the part of a route whose tokens this provider verifies. */
export function verifiedBy({ name, terms }: TokenProvider): JsonObject {
  return {
    typed_per_filter_config: {
      [KNOWN_TOKENS]: extension('filters.http.lua.v3.LuaPerRoute', {
        name: KNOWN_TOKENS,
        filter_context: { name, terms },
      }),
      [TOKENS]: ENABLED,
    },
  };
}

/** Returns whether a route verifies tokens. */
export function isVerifying({ typed_per_filter_config: settings }: JsonObject): boolean {
  return isJsonObject(settings) && settings[TOKENS] !== undefined;
}

/** An empty configuration turns a filter on. */
const ENABLED: JsonObject = {
  '@type': 'type.googleapis.com/envoy.config.route.v3.FilterConfig',
  config: {},
};

/** Tokens of one worker whose signature need not be verified again. */
const REMEMBERED = 1_000;

/**
 * Returns the configuration of the filter that verifies. `keys` are those of each provider by its
 * name, as JSON. A provider without keys is left out, so its tokens go to the service.
 */
export function tokenVerifier(
  providers: readonly TokenProvider[],
  keys: ReadonlyMap<string, readonly string[]>,
): JsonObject {
  const known = providers.filter(({ name }) => (keys.get(name) ?? []).length > 0);
  const byName = (of: (name: string) => Json) =>
    Object.fromEntries(known.map(({ name }) => [name, of(name)]));
  return extension(JWT_AUTHN, {
    providers: byName(name => verifierOf(name, keys.get(name) ?? [])),
    filter_state_rules: {
      name: PROVIDER_STATE,
      requires: byName(name => ({
        requires_any: { requirements: [{ provider_name: name }, { allow_missing_or_failed: {} }] },
      })),
    },
  });
}

/** Envoy takes 60 s for 0 s of tolerance. The script tolerates nothing. */
function verifierOf(name: string, keys: readonly string[]): JsonObject {
  return {
    local_jwks: { inline_string: `{"keys":[${keys.join()}]}` },
    forward: true,
    from_headers: [{ name: 'authorization', value_prefix: 'Bearer ' }],
    payload_in_metadata: name,
    clock_skew_seconds: 1,
    jwt_cache_config: { jwt_cache_size: REMEMBERED },
  };
}
