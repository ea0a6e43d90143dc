import type { Resource } from '#resources/resource.ts';
import { type BackendFacts, externalFault, externalStage } from './backend-target.ts';
import type { Fault } from './condition.ts';
import type { GatewayContext } from './gateway-context.ts';
import { filterNamed } from './reference.ts';
import type { Ask } from './remembered.ts';
import type { WrittenListener } from './route-parent.ts';
import type { ExternalStage, ListenerFilters, ListenerStage } from './served-gateway.ts';

/** What the filters of a listener come to. */
export type ListenerFiltersVerdict = {
  /** Undefined when the listener has none. */
  readonly filters: ListenerFilters | undefined;
  readonly resolved: readonly Fault[];
};

const NONE: ListenerFiltersVerdict = { filters: undefined, resolved: [] };

type Asked = Ask<BackendFacts & Pick<GatewayContext, 'filter' | 'options'>>;

/**
 * Resolves the filters of a listener. One that cannot run closes the listener. It stays served, as
 * its requests would otherwise fall to a listener for more hosts, which asks for less. Source of
 * the reasons: GEP-5224, "Status Reporting".
 */
export function listenerFilters(
  { id, origin, spec, field }: WrittenListener,
  ask: Asked,
): ListenerFiltersVerdict {
  const { requests = [] } = spec.filters ?? {};
  if (requests.length === 0) return NONE;
  const each = requests.map(({ extensionRef, externalAuth }, at) => {
    const place = `${field}.filters.requests[${at}]`;
    return externalAuth === undefined
      ? filterNamed(extensionRef ?? NO_REF, `${place}.extensionRef`, origin.namespace, ask)
      : externalStage(externalAuth, place, origin, ask);
  });
  const faults = each.filter(one => 'reason' in one);
  const broken = faults[0]?.message ?? externalFault(each.filter(one => 'external' in one));
  return {
    filters: {
      listener: id,
      stages: stagesOf(each.filter(isEntry)),
      ...(broken === undefined ? {} : { broken }),
    },
    resolved: faults.map(fault => ({ ...fault, reason: REASONS[fault.reason] ?? UNRESOLVED })),
  };
}

const NO_REF = { group: '', kind: '', name: '' };

const REASONS: Readonly<Record<string, string>> = { RefNotPermitted: 'RefNotPermitted' };
const UNRESOLVED = 'InvalidListenerFilterRef';

type Entry = Resource<'Filter'> | ExternalStage;

function isEntry(one: Entry | Fault): one is Entry {
  return !('reason' in one);
}

/** Neighbours among Filters of ours run in one call. */
function stagesOf(entries: readonly Entry[]): readonly ListenerStage[] {
  const stages: ListenerStage[] = [];
  for (const entry of entries) {
    const last = stages.at(-1);
    if ('external' in entry) stages.push(entry);
    else if (last !== undefined && 'filters' in last)
      stages.splice(-1, 1, { filters: [...last.filters, entry] });
    else stages.push({ filters: [entry] });
  }
  return stages;
}
