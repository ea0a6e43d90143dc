import type {
  MappingFigures,
  Rates,
  SampledRequest,
  UpstreamFigures,
} from '#controlplane/figures/figures.ts';
import type { Drained } from '#controlplane/orders/drained-store.ts';
import type { InstanceRows } from './instances.ts';
import type { LimitLine } from './route.ts';
import type { RouteRow } from './routes.ts';

export type ServiceRow = {
  /** As Mappings write it. Backends of Gateways have `name:port`, or `name.namespace:port`. */
  readonly name: string;
  readonly routes: number;
  /** The fewest that a proxy sees. Absent when no proxy has told. */
  readonly members?: number;
  readonly healthy?: number;
  readonly word: 'healthy' | 'partly' | 'failing' | 'unknown';
  readonly failure?: { readonly at: number; readonly text: string; readonly upstream?: string };
  readonly rates?: Rates;
};

/** Returns each service that routes name, those in trouble first. */
export function serviceRows(
  rows: readonly RouteRow[],
  upstreams: readonly UpstreamFigures[],
  figuresOf: (id: string) => MappingFigures | undefined,
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
      const seen = [...new Set(routes.flatMap(({ id }) => byOrigin.get(id) ?? []))];
      const figures = routes.flatMap(({ id }) => figuresOf(id) ?? []);
      const rates = sumOf(figures.map(each => each.last15Minutes));
      return {
        ...{ name, routes: routes.length },
        ...healthOf(seen, failsAlways(figures)),
        ...(rates === undefined ? {} : { rates }),
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
function failsAlways(figures: readonly MappingFigures[]): boolean {
  const minute = sumOf(figures.map(({ lastMinute }) => lastMinute));
  const newest =
    (minute?.requests ?? 0) >= 0.5 ? minute : sumOf(figures.map(each => each.last15Minutes));
  if (newest === undefined || newest.requests < 0.5) return false;
  return newest.requests - newest.serverErrors < 0.5;
}

function healthOf(
  seen: readonly UpstreamFigures[],
  isFailing: boolean,
): Omit<ServiceRow, 'name' | 'routes' | 'rates'> {
  if (seen.length === 0) return { word: isFailing ? 'failing' : 'unknown' };
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

/** Percentiles of several cannot be summed, so the worst stands for all. */
export function sumOf(all: readonly Rates[]): Rates | undefined {
  if (all.length === 0) return undefined;
  const sum = (pick: (rates: Rates) => number) =>
    all.reduce((total, each) => total + pick(each), 0);
  const worst = (pick: (rates: Rates) => number | null) => {
    const values = all.flatMap(each => pick(each) ?? []);
    return values.length === 0 ? null : Math.max(...values);
  };
  return {
    rate: sum(({ rate }) => rate),
    requests: sum(({ requests }) => requests),
    clientErrors: sum(({ clientErrors }) => clientErrors),
    serverErrors: sum(({ serverErrors }) => serverErrors),
    p50: worst(({ p50 }) => p50),
    p99: worst(({ p99 }) => p99),
  };
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
