import type { MappingFigures, Series } from '#controlplane/figures/figures.ts';

/** Traffic as the screens draw it. */
export type Traffic = {
  /** Whether proxies are asked for figures. */
  readonly on: boolean;
  readonly series: Series;
  readonly lastMinute: SeriesTotals;
  readonly last15Minutes: SeriesTotals;
};

export type SeriesTotals = {
  /** Requests a second. */
  readonly rate: number;
  readonly requests: number;
  readonly clientErrors: number;
  readonly serverErrors: number;
};

const MINUTE_MS = 60_000;

/** Returns a series with its totals. */
export function trafficOf(on: boolean, series: Series): Traffic {
  const { requests, stepMs } = series;
  const steps = Math.max(1, Math.round(MINUTE_MS / stepMs));
  return {
    on,
    series,
    lastMinute: totals(series, Math.max(0, requests.length - steps)),
    last15Minutes: totals(series, 0),
  };
}

function totals(series: Series, from: number): SeriesTotals {
  const sum = (values: readonly number[]) =>
    values.slice(from).reduce((all, each) => all + each, 0);
  const seconds = ((series.requests.length - from) * series.stepMs) / 1000;
  const requests = sum(series.requests);
  return {
    rate: seconds === 0 ? 0 : requests / seconds,
    requests,
    clientErrors: sum(series.clientErrors),
    serverErrors: sum(series.serverErrors),
  };
}

/** Returns the Mappings that matter most: by failures, then by traffic. */
export function busiest(
  figures: ReadonlyMap<string, MappingFigures>,
  most: number,
): readonly (MappingFigures & { readonly id: string })[] {
  return [...figures]
    .map(([id, each]) => ({ id, ...each }))
    .sort(
      (a, b) =>
        b.last15Minutes.serverErrors - a.last15Minutes.serverErrors ||
        b.last15Minutes.requests - a.last15Minutes.requests,
    )
    .slice(0, most);
}
