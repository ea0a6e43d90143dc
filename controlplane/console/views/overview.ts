import type { MappingFigures } from '#controlplane/figures/figures.ts';
import type { Change } from '#controlplane/status/change-history.ts';
import type { ResourceState } from '#controlplane/status/resource-state.ts';
import type { Status } from '#controlplane/status/status.ts';
import { type ProblemRow, problemRows } from './problems.ts';
import { type ProxyCounts, proxyCounts } from './proxies.ts';
import type { Traffic } from './totals.ts';

/** What the first screen shows. */
export type Overview = {
  readonly ready: boolean;
  readonly reason?: string;
  readonly resources: number;
  /** Resources by state. States without any are left out. */
  readonly states: Readonly<Partial<Record<ResourceState, number>>>;
  readonly errors: number;
  readonly warnings: number;
  /** The first ones. */
  readonly problems: readonly ProblemRow[];
  readonly proxies: ProxyCounts;
  readonly changes: readonly Change[];
};

const MOST_PROBLEMS = 50;

export function overview(status: Status, changes: readonly Change[]): Overview {
  const { problems, proxies, ready, reason, resources } = status;
  const states: Partial<Record<ResourceState, number>> = {};
  for (const { state } of resources) states[state] = (states[state] ?? 0) + 1;
  const errors = problems.filter(({ severity }) => severity === 'error').length;
  return {
    ready,
    ...(reason === undefined ? {} : { reason }),
    resources: resources.length,
    states,
    errors,
    warnings: problems.length - errors,
    problems: problemRows(problems).slice(0, MOST_PROBLEMS),
    proxies: proxyCounts(proxies),
    changes,
  };
}

/** With its traffic. */
export type OverviewScreen = Overview & {
  /** Whose figures these are, where other control planes have more. */
  readonly note: string | undefined;
  readonly traffic: Traffic;
  readonly busiest: readonly (MappingFigures & { readonly id: string })[];
};
