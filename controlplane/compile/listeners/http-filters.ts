import type { JsonObject } from '#protos/json.ts';
import type { ModuleConfig } from '#resources/kinds/module/module.ts';
import type { HostPort } from '#resources/words/host.ts';
import { withDecisionCache } from '../ext-authz/decision-cache-filters.ts';
import { extAuthzFilter } from '../ext-authz/ext-authz-filter.ts';
import { IDENTITY_HEADERS_FILTER } from '../ext-authz/identity-headers.ts';
import { TOKEN_FILTERS } from '../ext-authz/token-filters.ts';
import { extension } from '../extension.ts';
import { PORT_READER } from '../forwarded-headers.ts';
import { type RateLimitFilter, rateLimitFilters } from '../rate-limits/rate-limit-filter.ts';
import { CORS_FILTER } from '../routes/cors-filter.ts';
import { ERROR_BODIES_FILTER } from '../routes/error-bodies-filter.ts';
import { TRY_FILTERS } from '../routes/late-tries.ts';
import { HSTS } from '../tls/hsts.ts';
import { GRPC_STATS_FILTER } from './grpc-stats.ts';
import { ONE_HOST_FILTER } from './one-host.ts';

/** The services that the edge asks about requests. */
export type Deciders = {
  /** The address of the Filter service. */
  readonly extAuthz: HostPort;
  /** Whether a Filter lets proxies repeat its decisions. */
  readonly decisionCache: boolean;
  /** Whether a route is for calls of gRPC, which are counted then. */
  readonly grpc: boolean;
  readonly rateLimit: RateLimitFilter;
  readonly config: Pick<ModuleConfig, 'use_remote_address' | 'xff_num_trusted_hops'>;
  /** Filters after which the route is chosen again. Default: none. */
  readonly beforeRoute?: readonly JsonObject[];
  /** Filters that run once ours let a request pass. Default: none. */
  readonly behindFilters?: readonly JsonObject[];
};

/** Whether trusted hops report the client's address, which the connection does not have then. */
export function tellsClient({ config }: Pick<Deciders, 'config'>): boolean {
  return !config.use_remote_address || config.xff_num_trusted_hops !== 0;
}

/**
 * Returns the HTTP filters, in the order of requests. Labels can use the headers that Filters set.
 * Answers pass the first one last. `undefined` is for proxies other than the edge, which ask no
 * service.
 */
export function httpFilters(
  deciders: Deciders | undefined,
  errorBodies: boolean,
  tls = false,
): readonly JsonObject[] {
  const first = errorBodies ? [ERROR_BODIES_FILTER] : [];
  if (deciders === undefined) return [...first, CORS_FILTER, ROUTER];
  const { beforeRoute = [], behindFilters = [], decisionCache, grpc } = deciders;
  const extAuthz = extAuthzFilter(deciders.extAuthz, tellsClient(deciders));
  return [
    ...first,
    ONE_HOST_FILTER,
    PORT_READER,
    ...(tls ? [HSTS] : []),
    ...(grpc ? [GRPC_STATS_FILTER] : []),
    ...(beforeRoute.length === 0
      ? [CORS_FILTER, IDENTITY_HEADERS_FILTER]
      : [IDENTITY_HEADERS_FILTER, ...beforeRoute, CORS_FILTER]),
    ...TOKEN_FILTERS,
    ...(decisionCache ? withDecisionCache(extAuthz) : [extAuthz]),
    ...behindFilters,
    ...rateLimitFilters(deciders.rateLimit),
    { ...ROUTER, typed_config: extension(ROUTER_CONFIG, TRY_FILTERS) },
  ];
}

const ROUTER_CONFIG = 'filters.http.router.v3.Router';

export const ROUTER: JsonObject = {
  name: 'envoy.filters.http.router',
  typed_config: extension(ROUTER_CONFIG),
};
