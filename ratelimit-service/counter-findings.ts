import type { ReportedFinding } from '#process/report.ts';
import { isCrowded } from '#redis/memory.ts';
import type { CounterOwner, CounterOwners } from './counter-owner.ts';
import type { CounterStoreStatus, StoreMemory } from './counter-store.ts';

/** How long a finding is still reported after it was last seen, in ms. */
const HOLD_MS = 600_000;
const PAGE = 'see docs/how-to/size-rate-limits.md';

/**
 * Returns what operators should know of the store of the counters: that it does not answer or does
 * not count, or that it lacks room. `now` is in ms since the epoch.
 */
export function counterFindings(
  status: CounterStoreStatus,
  owners: CounterOwners,
  now: number,
): readonly ReportedFinding[] {
  if (status.connected === false)
    return notCounted(owners, `does not answer (${status.reason ?? 'not connected'})`);
  const isRecent = ({ at }: { readonly at: number }) => Math.abs(now - at) < HOLD_MS;
  const dropped = [...(status.dropped ?? [])].flatMap(([counter, last]) =>
    isRecent(last) ? [droppedFrom(owners.get(counter), status)] : [],
  );
  const { crowded, fault, memory } = status;
  const full = dropped.length === 0 && crowded !== undefined && isRecent(crowded);
  const all = [
    ...(fault === undefined ? [] : notCounted(owners, `does not count (${fault})`)),
    ...dropped,
    ...(full ? [crowdedBy(owners.get(crowded.counter), status)] : []),
    ...(memory === undefined ? [] : memoryFindings(memory, firstOf(owners))),
  ];
  return all.filter(finding => finding !== undefined);
}

function notCounted(owners: CounterOwners, how: string): readonly ReportedFinding[] {
  const resources = new Set([...owners.values()].map(({ resource }) => resource));
  const message = `the Redis of the counters ${how}. Until it does nothing is counted, and \`failure_mode_deny\` of the RateLimitService decides`;
  return [...resources].map(resource => ({
    ...{ resource, field: 'spec.limits', severity: 'error', message, outOfService: true },
  }));
}

function droppedFrom(owner: CounterOwner | undefined, { maxKeys }: CounterStoreStatus) {
  return about(
    owner,
    limit =>
      `counters of limit ${limit} were dropped, the lowest first: MAX_COUNTERS (${maxKeys}) are not enough. A client whose counter is dropped begins again at 0`,
  );
}

function crowdedBy(owner: CounterOwner | undefined, { maxKeys }: CounterStoreStatus) {
  return about(
    owner,
    limit =>
      `80 % of MAX_COUNTERS (${maxKeys}) are in use, most of them by limit ${limit}: above 87 % the lowest counters are dropped`,
  );
}

function memoryFindings(memory: StoreMemory, owner?: CounterOwner) {
  const { evictedAgoMs, policy } = memory;
  if (policy === 'noeviction' && isCrowded(memory))
    return [
      about(
        owner,
        () =>
          'the Redis of the counters uses 80 % of its maxmemory, with maxmemory-policy noeviction: when it is full nothing is counted, and `failure_mode_deny` decides. Set the policy allkeys-lfu, and keep logins elsewhere',
      ),
    ];
  if (evictedAgoMs === undefined || evictedAgoMs >= HOLD_MS) return [];
  return [
    about(
      owner,
      () =>
        'the Redis of the counters has evicted counters: its maxmemory is not enough. A client whose counter is evicted begins again at 0',
    ),
  ];
}

function about(
  owner: CounterOwner | undefined,
  say: (limit: string) => string,
): ReportedFinding | undefined {
  if (owner === undefined) return undefined;
  const message = `${say(JSON.stringify(owner.limit))}: ${PAGE}`;
  return {
    resource: owner.resource,
    field: 'spec.limits',
    severity: 'warning',
    message,
    outOfService: false,
  };
}

function firstOf(owners: CounterOwners): CounterOwner | undefined {
  const [first] = [...owners.values()].sort((a, b) => (a.resource < b.resource ? -1 : 1));
  return first;
}
