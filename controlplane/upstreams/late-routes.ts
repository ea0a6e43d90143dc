import type { SampledRequest } from '#controlplane/figures/figures.ts';
import type { Evidence, Known } from './known.ts';
import { FORGOTTEN_MS, LEAST_LATE, NEARLY_ALL } from './upstream-failure.ts';

const MINUTE = 60_000;

const NONE: ReadonlyMap<string, number> = new Map();

/**
 * Returns the routes to a cluster whose newest requests nearly all got no answer in time, each with
 * when this was last seen. Routes with different bounds may share a cluster. Without requests
 * nothing has changed, so only answers in time end it, or the end of the route.
 */
export function lateRoutes(
  { definedAt, lateAt = NONE }: Known,
  { isInForce, requests }: Pick<Evidence, 'isInForce' | 'requests'>,
  now: number,
): ReadonlyMap<string, number> {
  if (requests.length === 0 && lateAt.size === 0) return NONE;
  const late = new Map(
    [...lateAt].filter(([route, at]) => now - at <= FORGOTTEN_MS && isInForce(route)),
  );
  const ended = requests.filter(
    request => request.at > definedAt && isInForce(request.route) && hasEnded(request),
  );
  for (const [route, all] of Map.groupBy(ended, ({ route }) => route)) {
    const newest = all.filter(({ at }) => at > now - MINUTE);
    if (newest.length === 0) continue;
    const isAllLate = weightOf(newest.filter(isLate)) >= NEARLY_ALL * weightOf(newest);
    if (isAllLate && all.filter(isLate).length >= LEAST_LATE) late.set(route, now);
    else late.delete(route);
  }
  return late;
}

/** Returns whether a request got its answer from a service, or none in time. */
function hasEnded(request: SampledRequest): boolean {
  return isLate(request) || (request.upstream !== '' && request.status !== 0);
}

/** `UT` is Envoy's flag for it. */
function isLate({ flags }: SampledRequest): boolean {
  return flags.includes('UT');
}

function weightOf(requests: readonly SampledRequest[]): number {
  return requests.reduce((sum, { weight }) => sum + weight, 0);
}
