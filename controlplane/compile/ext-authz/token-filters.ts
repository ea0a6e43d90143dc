import { isJsonObject, type Json, type JsonObject } from '#protos/json.ts';
import { ONE_READING } from '#resources/match/canonical-path.ts';
import { CREDENTIAL_HEADERS } from '#resources/words/reserved-headers.ts';
import { CONTROL_PLANE_CLUSTER } from '../clusters/reserved-clusters.ts';
import { extension } from '../extension.ts';
import { GATEWAY_PATHS, SKIP } from './ext-authz-filter.ts';
import { headerKey, JWT_METADATA } from './token-check.ts';
import type { TokenHeader } from './token-headers.ts';
import type { TokenProvider } from './token-way.ts';

/** The name of the filter that verifies, and of its configuration. */
export const TOKENS = 'gateway.tokens';
/** The filters around it. */
const CHOICE = 'gateway.token_choice';
const CHECK = 'gateway.token_check';
const NOTE = 'gateway.token_note';

/** Names the provider of a request to the filter that verifies. */
const PROVIDER_HEADER = 'x-gateway-token-provider';
/** Says whether a verified token meets the Filter. */
const VERDICT_HEADER = 'x-gateway-token-verified';

/** No client can send them. */
export const TOKEN_HEADERS: readonly string[] = [PROVIDER_HEADER, VERDICT_HEADER];

const JWT_AUTHN = 'filters.http.jwt_authn.v3.JwtAuthentication';
const HEADER_MUTATION = 'filters.http.header_mutation.v3.HeaderMutation';
const HEADER_TO_METADATA = 'filters.http.header_to_metadata.v3.Config';

/**
 * Returns the filters that verify bearer tokens before the Filter service would be asked. Each is
 * off until a route turns it on. The one that verifies gets its configuration with the keys by
 * discovery, so that new keys drain no connection. Without one it verifies nothing.
 */
export const TOKEN_FILTERS: readonly JsonObject[] = [
  { name: CHOICE, disabled: true, typed_config: extension(HEADER_MUTATION, { mutations: {} }) },
  {
    name: TOKENS,
    disabled: true,
    config_discovery: {
      config_source: {
        resource_api_version: 'V3',
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
      default_config: extension(JWT_AUTHN),
      apply_default_config_without_warming: true,
      type_urls: [`type.googleapis.com/envoy.extensions.${JWT_AUTHN}`],
    },
  },
  { name: CHECK, disabled: true, typed_config: extension(HEADER_MUTATION, { mutations: {} }) },
  { name: NOTE, disabled: true, typed_config: extension(HEADER_TO_METADATA) },
];

/** Returns the part of a route whose tokens this provider verifies. */
export function verifiedBy({ check, headers, name }: TokenProvider): JsonObject {
  return {
    typed_per_filter_config: {
      [CHOICE]: mutating(overwrite(PROVIDER_HEADER, name)),
      [TOKENS]: ENABLED,
      [CHECK]: mutating(
        { remove: PROVIDER_HEADER },
        { remove: VERDICT_HEADER },
        overwrite(VERDICT_HEADER, `%CEL(${check} ? 'true' : '')%`),
        ...headers.map(header => overwrite(header.name, formatOf(header, name))),
      ),
      [NOTE]: NOTING,
    },
  };
}

/**
 * It may be set without a verdict. Then the Filter service is asked, which takes away or replaces
 * what the rule's Filters may set. CEL would cost ten times as much.
 */
function formatOf(header: TokenHeader, name: string): string {
  return 'text' in header
    ? header.text
    : `%DYNAMIC_METADATA(${JWT_METADATA}:${name}:${header.claim})%`;
}

/** Returns the name of the provider that verifies the tokens of a route, if one does. */
export function providerOn({ typed_per_filter_config: settings }: JsonObject): string | undefined {
  const choice = isJsonObject(settings) ? settings[CHOICE] : undefined;
  const mutations = isJsonObject(choice) && isJsonObject(choice.mutations) ? choice.mutations : {};
  const [first] = Array.isArray(mutations.request_mutations) ? mutations.request_mutations : [];
  const append = isJsonObject(first) && isJsonObject(first.append) ? first.append : {};
  return isJsonObject(append.header) ? String(append.header.value) : undefined;
}

/** Returns a route without the filters that verify tokens, which decide nothing by themselves. */
export function withoutTokens(route: object & FilterSettings): object {
  const { typed_per_filter_config: settings = {}, ...rest } = route;
  const others = Object.entries(settings).filter(([name]) => !OWN.has(name));
  return { ...rest, typed_per_filter_config: Object.fromEntries(others) };
}

type FilterSettings = { readonly typed_per_filter_config?: Readonly<Record<string, JsonObject>> };

const OWN: ReadonlySet<string> = new Set([CHOICE, TOKENS, CHECK, NOTE]);

/** An empty configuration turns a filter on. */
const ENABLED: JsonObject = {
  '@type': 'type.googleapis.com/envoy.config.route.v3.FilterConfig',
  config: {},
};

const NOTING: JsonObject = extension(HEADER_TO_METADATA, {
  request_rules: [
    {
      header: VERDICT_HEADER,
      on_header_present: { metadata_namespace: SKIP.filter, key: SKIP.key },
      remove: true,
    },
  ],
});

function mutating(...request_mutations: readonly JsonObject[]): JsonObject {
  return extension('filters.http.header_mutation.v3.HeaderMutationPerRoute', {
    mutations: { request_mutations },
  });
}

function overwrite(key: string, value: string): JsonObject {
  return { append: { header: { key, value }, append_action: 'OVERWRITE_IF_EXISTS_OR_ADD' } };
}

/** Tokens of one worker that need not be verified again. */
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
  return extension(JWT_AUTHN, {
    providers: Object.fromEntries(
      known.map(({ name }) => [name, verifierOf(name, keys.get(name) ?? [])]),
    ),
    rules: known.map(({ name }) => ({
      match: {
        prefix: '/',
        headers: [{ name: PROVIDER_HEADER, string_match: { exact: name } }, ...SURE],
      },
      requires: {
        requires_any: { requirements: [{ provider_name: name }, { allow_missing_or_failed: {} }] },
      },
    })),
  });
}

/** Envoy takes 60 s for 0 s of tolerance. The check of a route tolerates nothing. */
function verifierOf(name: string, keys: readonly string[]): JsonObject {
  return {
    local_jwks: { inline_string: `{"keys":[${keys.join()}]}` },
    forward: true,
    from_headers: [{ name: 'authorization', value_prefix: 'Bearer ' }],
    payload_in_metadata: name,
    header_in_metadata: headerKey(name),
    clock_skew_seconds: 1,
    jwt_cache_config: { jwt_cache_size: REMEMBERED },
  };
}

/**
 * Requests of which Envoy and the Filter service read the same: one token in one field, a path in
 * one reading, a usual host, and nothing that the service would remove. All others go to it.
 */
const SURE: readonly Json[] = [
  matches('authorization', 'Bearer [A-Za-z0-9_-]+\\.[A-Za-z0-9_-]+\\.[A-Za-z0-9_-]+'),
  matches(':path', `/${ONE_READING}*(?:\\?.*)?`),
  { name: ':path', string_match: { prefix: GATEWAY_PATHS }, invert_match: true },
  matches(':authority', '(?i)(?:\\[[0-9a-f:.]{2,45}\\]|[a-z0-9._-]{1,253})(?::[0-9]{1,5})?'),
  matches(':method', '[A-Z]{1,20}'),
  matches(':scheme', 'https?'),
  {
    name: 'cookie',
    string_match: { contains: 'gateway_' },
    invert_match: true,
    treat_missing_header_as_empty: true,
  },
  ...CREDENTIAL_HEADERS.map(name => ({ name, present_match: true, invert_match: true })),
];

function matches(name: string, regex: string): Json {
  return { name, string_match: { safe_regex: { regex } } };
}
