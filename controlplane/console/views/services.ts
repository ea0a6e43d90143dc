import type { Rates, SampledRequest, UpstreamFigures } from '#controlplane/figures/figures.ts';
import type { InstanceRow } from './instances.ts';
import type { LimitLine } from './route.ts';
import type { RouteRow } from './routes.ts';

export type ServiceRow = {
  /** As Mappings write it. */
  readonly name: string;
  readonly routes: number;
  /** The fewest that a proxy sees. Absent when no proxy has told. */
  readonly members?: number;
  readonly healthy?: number;
  readonly word: 'healthy' | 'partly' | 'failing' | 'unknown';
  readonly failure?: { readonly at: number; readonly text: string; readonly upstream?: string };
  readonly rates?: Rates;
};

/** Returns each service that Mappings name, those in trouble first. */
export function serviceRows(
  rows: readonly RouteRow[],
  upstreams: readonly UpstreamFigures[],
  ratesOf: (id: string) => Rates | undefined,
): readonly ServiceRow[] {
  const byOrigin = new Map<string, UpstreamFigures[]>();
  for (const upstream of upstreams)
    for (const origin of upstream.origins)
      byOrigin.set(origin, [...(byOrigin.get(origin) ?? []), upstream]);
  const services = Map.groupBy(
    rows.filter(({ instead }) => instead !== 'redirect'),
    ({ service }) => service,
  );
  return [...services]
    .map(([name, routes]) => {
      const seen = [...new Set(routes.flatMap(({ id }) => byOrigin.get(id) ?? []))];
      const rates = sumOf(routes.flatMap(({ id }) => ratesOf(id) ?? []));
      return {
        ...{ name, routes: routes.length },
        ...healthOf(seen),
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

function healthOf(seen: readonly UpstreamFigures[]): Omit<ServiceRow, 'name' | 'routes' | 'rates'> {
  if (seen.length === 0) return { word: 'unknown' };
  const members = Math.min(...seen.map(each => each.members));
  const healthy = Math.min(...seen.map(each => each.healthy));
  const [last] = seen.flatMap(({ lastFailure }) => lastFailure ?? []).sort((a, b) => b.at - a.at);
  const trouble = seen.some(({ lastMinute }) => failures(lastMinute) > 0);
  const word = healthy === 0 ? 'failing' : healthy < members || trouble ? 'partly' : 'healthy';
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

/** All about one service, for its developer. */
export type ServiceScreen = {
  readonly row: ServiceRow;
  readonly instances: readonly InstanceRow[];
  readonly routes: readonly RouteRow[];
  /** Where the edge listens. */
  readonly edge: { readonly host: string; readonly port: number };
  readonly limits: readonly LimitLine[];
  readonly upstreams: readonly UpstreamFigures[];
  readonly requests: readonly SampledRequest[];
};
