import { CORS_NAME } from '#controlplane/compile/routes/cors-filter.ts';
import type { EnvoyRequest } from './envoy-request.ts';
import type { GatewayAnswer } from './explained-filters-answer.ts';
import type { RouteMatch } from './route-match.ts';

/**
 * Returns the gateway's answer to a preflight (Fetch Standard) where the Mapping has `cors`. It
 * comes before Filters and limits, whatever the origin. Source: Envoy's page "CORS".
 * @returns undefined when the request is not a preflight
 */
export function preflightAnswer(
  { route }: RouteMatch,
  { headers }: EnvoyRequest,
): GatewayAnswer | undefined {
  const [method, origin, asked] = [':method', 'origin', 'access-control-request-method'].map(
    name => headers.get(name)?.[0] ?? '',
  );
  const hasCors = Object.hasOwn(route.typed_per_filter_config ?? {}, CORS_NAME);
  if (!hasCors || method !== 'OPTIONS' || origin === '' || asked === '') return undefined;
  return { status: 200, reason: 'the gateway answers preflights to this route (`cors`)' };
}
