import type {
  MappingFigures,
  Rates,
  SampledRequest,
  UpstreamCounts,
  UpstreamFigures,
} from '#controlplane/figures/figures.ts';
import type { Drained } from '#files/drained-store.ts';
import type { InstanceRows } from './instances.ts';
import type { LimitLine } from './route.ts';
import type { RouteRow } from './route-row.ts';

export type ServiceRow = {
  /** As Mappings write it. Backends of Gateways have `name:port`, or `name.namespace:port`. */
  readonly name: string;
  readonly routes: number;
  /** The fewest that a proxy sees. Absent when no proxy has told. */
  readonly members?: number;
  readonly healthy?: number;
  readonly word: 'healthy' | 'partly' | 'failing' | 'unknown';
  readonly failure?: { readonly at: number; readonly text: string; readonly upstream?: string };
  /** Of 15 minutes. Absent when it got nothing. */
  readonly rates?: ServiceRates;
};

export type ServiceRates = Pick<Rates, 'rate' | 'requests' | 'serverErrors' | 'p99'>;

export type ServiceFacts = {
  readonly upstreams: readonly UpstreamFigures[];
  figuresOf(id: string): MappingFigures | undefined;
  /** Returns the service of a cluster of Gateways. */
  serviceOf(cluster: string): string | undefined;
  /** How long requests were counted. */
  readonly seconds: number;
};

/** Returns each service that routes name, those in trouble first. */
export function serviceRows(
  rows: readonly RouteRow[],
  { figuresOf, seconds, serviceOf, upstreams }: ServiceFacts,
): readonly ServiceRow[] {
  const byOrigin = new Map<string, UpstreamFigures[]>();
  for (const upstream of upstreams)
    for (const origin of upstream.origins)
      byOrigin.set(origin, [...(byOrigin.get(origin) ?? []), upstream]);
  const users = rows
    .filter(({ instead }) => instead !== 'redirect')
    .flatMap(row => row.services.map(name => ({ name, row })));
  return [...Map.groupBy(users, ({ name }) => name)]
    .map(([name, used]) => {
      const routes = used.map(({ row }) => row);
      const behind = [...new Set(routes.flatMap(({ id }) => byOrigin.get(id) ?? []))];
      const seen = behind.filter(({ cluster }) => (serviceOf(cluster) ?? name) === name);
      const ended = endedOf(seen.map(({ last15Minutes }) => last15Minutes));
      const p99 = worstOf(routes, figuresOf);
      const rates = { rate: ended.requests / seconds, ...ended, p99 };
      return {
        ...{ name, routes: routes.length },
        ...healthOf(seen, failsAlways(seen)),
        ...(ended.requests > 0 && { rates }),
      };
    })
    .sort((a, b) => RANK[a.word] - RANK[b.word] || (a.name < b.name ? -1 : 1));
}

const RANK: Readonly<Record<ServiceRow['word'], number>> = {
  failing: 0,
  partly: 1,
  healthy: 2,
  unknown: 3,
};

/**
 * Returns whether each of the newest requests has failed: those of the last minute, or of 15 when
 * it has none. Numbers of requests are estimated to the fraction.
 */
function failsAlways(seen: readonly UpstreamFigures[]): boolean {
  const minute = endedOf(seen.map(({ lastMinute }) => lastMinute));
  const newest =
    minute.requests >= 0.5 ? minute : endedOf(seen.map(({ last15Minutes }) => last15Minutes));
  return newest.requests >= 0.5 && newest.requests - newest.serverErrors < 0.5;
}

/**
 * Returns how many requests have ended. Clusters tell services apart where Mappings share a route,
 * which counts all of its requests under the first.
 */
function endedOf(counts: readonly UpstreamCounts[]) {
  const sum = (what: 'answers' | 'serverErrors') =>
    counts.reduce((total, each) => total + each[what], 0);
  const serverErrors = sum('serverErrors');
  return { requests: sum('answers') + serverErrors, serverErrors };
}

/**
 * Percentiles of several routes cannot be summed, so the worst stands for all. A route with several
 * services does not tell which of them was slow.
 */
function worstOf(
  routes: readonly RouteRow[],
  figuresOf: (id: string) => MappingFigures | undefined,
): number | null {
  if (routes.some(({ services, share }) => share !== undefined || services.length > 1)) return null;
  const values = routes.flatMap(({ id }) => figuresOf(id)?.last15Minutes.p99 ?? []);
  return values.length === 0 ? null : Math.max(...values);
}

function healthOf(
  seen: readonly UpstreamFigures[],
  isFailing: boolean,
): Omit<ServiceRow, 'name' | 'routes' | 'rates'> {
  if (seen.length === 0) return { word: 'unknown' };
  const members = Math.min(...seen.map(each => each.members));
  const healthy = Math.min(...seen.map(each => each.healthy));
  const [last] = seen.flatMap(({ lastFailure }) => lastFailure ?? []).sort((a, b) => b.at - a.at);
  const trouble = seen.some(({ lastMinute }) => failures(lastMinute) > 0);
  const isPartly = healthy < members || trouble;
  const word = healthy === 0 || isFailing ? 'failing' : isPartly ? 'partly' : 'healthy';
  const { at, text, upstream } = last ?? {};
  return {
    ...{ members, healthy, word },
    ...(at === undefined || text === undefined
      ? {}
      : { failure: { at, text, ...(upstream === undefined ? {} : { upstream }) } }),
  };
}

function failures(counts: UpstreamFigures['lastMinute']): number {
  return counts.connectFailures + counts.tlsFailures + counts.noHealthy + counts.updateFailures;
}

/** What the list of services shows beside them. */
export type DrainedList = { readonly drained: readonly Drained[] };

/** All about one service, for its developer. */
export type ServiceScreen = {
  readonly row: ServiceRow;
  /** Also those that no request went to, as far as the discovery service can be asked. */
  readonly instances: InstanceRows;
  /** Why it cannot be asked. */
  readonly undiscovered?: string;
  readonly routes: readonly RouteRow[];
  /** Where the edge listens. */
  readonly edge: { readonly host: string; readonly port: number };
  readonly limits: readonly LimitLine[];
  readonly upstreams: readonly UpstreamFigures[];
  readonly requests: readonly SampledRequest[];
};
