import type { ExplainedFilters } from './explained-filters.ts';
import type { ExplainedFilter } from './explained-filters-chain.ts';
import type { ExplainedEndpoint } from './explained-filters-endpoint.ts';

/** An answer of the gateway itself. `status` is absent when it depends on more than the request. */
export type GatewayAnswer = { readonly status?: number; readonly reason: string };

/**
 * Returns the answer that the filters certainly give.
 * @returns undefined when they may let the request pass
 */
export function answerOf(filters: ExplainedFilters | undefined): GatewayAnswer | undefined {
  switch (filters?.decision) {
    case 'malformed':
      return { status: 400, reason: `filters cannot judge it, since ${filters.reason}` };
    case 'endpoint':
      return ENDPOINT_ANSWERS[filters.endpoint];
    case 'ambiguous':
      return { status: 400, reason: 'its path can be read in two ways that match different rules' };
    case 'closed': {
      const { resource, field } = filters.rule;
      return { status: 500, reason: `${field} of ${resource} is closed` };
    }
    case 'chain':
      return refusedBy(filters.chain);
    default:
      return undefined;
  }
}

const ENDPOINT_ANSWERS: Readonly<Record<ExplainedEndpoint['endpoint'], GatewayAnswer>> = {
  callback: { reason: 'the gateway itself answers it, where logins come back from the provider' },
  login: { reason: 'the gateway itself answers it, where a user logs in as someone else' },
  logout: { reason: 'the gateway itself answers it, where logins end' },
  unknown: { status: 404, reason: 'the gateway has no such page' },
};

/** Returns whether filters of the chain decide about the request. */
export function isFiltered(filters: ExplainedFilters | undefined): boolean {
  return filters?.decision === 'chain' && filters.chain.some(({ applies }) => applies !== 'no');
}

/**
 * Returns the answer of a filter that lets nothing of this origin pass. It certainly runs, unless a
 * filter before it answers.
 */
function refusedBy(chain: readonly ExplainedFilter[]): GatewayAnswer | undefined {
  const passable = chain.findIndex(
    ({ applies, onAllow }) => applies !== 'no' && onAllow === 'break',
  );
  const reached = passable === -1 ? chain : chain.slice(0, passable + 1);
  const refusing = reached.find(isRefusing);
  if (refusing === undefined) return undefined;
  const before = reached
    .slice(0, reached.indexOf(refusing))
    .some(({ applies }) => applies !== 'no');
  const unless = before ? ', unless an earlier filter answers' : '';
  return {
    status: 403,
    reason: `${refusing.login?.requestOrigin} is no protected origin of ${refusing.resource}${unless}`,
  };
}

function isRefusing({ applies, login, onDeny }: ExplainedFilter): boolean {
  return (
    applies === 'yes' && onDeny === 'break' && login !== undefined && login.origin === undefined
  );
}
