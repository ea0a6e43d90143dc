import { EDGE } from '#controlplane/compile/node-groups.ts';
import type { SampledRequest } from '#controlplane/figures/figures.ts';
import type { ResourceState } from '#controlplane/status/resource-state.ts';
import type { ResourceStatus } from '#controlplane/status/status.ts';
import type { Problem } from '#resources/problem.ts';
import type { Resource } from '#resources/resource.ts';
import type { ResourceSet } from '#resources/resource-set.ts';
import { type ProblemRow, problemId, problemRows } from './problems.ts';
import type { RouteRow } from './route-row.ts';

export type FilterRow = {
  readonly id: string;
  readonly type: string;
  /** Where its tokens come from. */
  readonly issuer: string;
  /** For how many ms proxies may repeat its decisions (`decisionCache`). */
  readonly repeatsMs?: number;
  readonly state: ResourceState;
  /** What its service says of the provider. */
  readonly problems: readonly ProblemRow[];
  readonly file: string;
  readonly line: number;
};

export type Security = {
  readonly filters: readonly FilterRow[];
  /** Resources that are closed or out of service, so that what they cover answers 500. */
  readonly closed: readonly ResourceStatus[];
  /** Routes of clients' requests that no Filter decides about, by what they are. */
  readonly open: { readonly none: number; readonly part: number; readonly bypass: number };
  /** Requests that Filters have rejected, of those that were sampled, the newest first. */
  readonly rejected: readonly SampledRequest[];
};

const MOST = 50;

export type SecurityFacts = {
  readonly resources: ResourceSet;
  readonly states: readonly ResourceStatus[];
  readonly problems: readonly Problem[];
  readonly rows: readonly RouteRow[];
  readonly requests: readonly SampledRequest[];
};

export function security({ problems, requests, resources, rows, states }: SecurityFacts): Security {
  const found = Map.groupBy(problems, problemId);
  const written = new Map(states.map(each => [each.id, each]));
  const reached = rows.filter(row => row.instead === undefined && isReached(row));
  const count = (word: RouteRow['covered']) =>
    reached.filter(({ covered }) => covered === word).length;
  return {
    filters: resources.filters.map(filter => {
      const { file, line, state } = written.get(filter.id) ?? {
        ...filter.source,
        state: 'in force' as const,
      };
      return {
        ...filterRow(filter),
        state,
        file,
        line,
        problems: problemRows(found.get(filter.id) ?? []),
      };
    }),
    closed: states
      .filter(({ state }) => state === 'closed' || state === 'out of service')
      .slice(0, MOST),
    open: { none: count('none'), part: count('part'), bypass: count('bypass') },
    rejected: requests.filter(isRejected).slice(0, MOST),
  };
}

/** Whether clients reach a route: at the edge, or at a listener of a Gateway. */
function isReached({ id, listeners, nodeGroup }: RouteRow): boolean {
  return id.startsWith('Mapping/') ? nodeGroup === EDGE : listeners.length > 0;
}

function filterRow({ id, spec }: Resource<'Filter'>) {
  const { JWT, OAuth2 } = spec;
  if (OAuth2 !== undefined) {
    const { authorizationURL, decisionCache, grantType } = OAuth2;
    const repeats = decisionCache === undefined ? {} : { repeatsMs: decisionCache };
    return { id, type: `OAuth2 ${grantType}`, issuer: String(authorizationURL), ...repeats };
  }
  return { id, type: 'JWT', issuer: String(JWT?.issuer ?? JWT?.jwksURI ?? '') };
}

/** Envoy marks what ext-authz denied. A redirect to a login is no rejection. */
function isRejected({ details, flags, status }: SampledRequest): boolean {
  return (
    (status === 401 || status === 403) && (flags.includes('UAEX') || details.includes('ext_authz'))
  );
}
