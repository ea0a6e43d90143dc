import { encodeAny } from '#protos/encode.ts';
import { FILTER, FILTER_POLICY } from '#protos/type-url.ts';
import { NO_RESOURCES, type Resources, type Snapshot, xdsResource } from '#xds/snapshot.ts';

/**
 * A mark stays for a second, and for as long as proxies take to change over. This is enough for 20
 * changes in each of 6 s.
 */
const MOST_MARKS = 128;

/**
 * Returns what ext-authz has while proxies change over from `before` to `next`. Filters that are
 * gone stay. A policy that is a mark has ext-authz go by the rules from before the mark, too. So a
 * route that is going stays under the rule that goes with it. `change` tells marks apart. Without a
 * `before`, after a start, ext-authz knows the rules that the proxies still have.
 */
export function withEarlierRules(
  before: Snapshot | undefined,
  next: Snapshot,
  change: number,
): Snapshot {
  const policies = before?.get(FILTER_POLICY) ?? NO_RESOURCES;
  if (before !== undefined && policies.size === 0) return next;
  // Operators' names have no `~`.
  const marks = [...policies.values()].filter(({ name }) => name.startsWith('~'));
  const all = marks.length < MOST_MARKS ? [...marks, mark(change)] : marks;
  return new Map([
    ...next,
    [FILTER, new Map([...(before?.get(FILTER) ?? []), ...resourcesOf(next, FILTER)])],
    [
      FILTER_POLICY,
      new Map([
        ...resourcesOf(next, FILTER_POLICY),
        ...all.map(each => [each.name, each] as const),
      ]),
    ],
  ]);
}

function mark(change: number) {
  const name = `~${change}`;
  const policy = { '@type': FILTER_POLICY, namespace: '~', name, earlier_rules: true };
  return xdsResource(name, encodeAny(policy));
}

function resourcesOf(snapshot: Snapshot, typeUrl: string): Resources {
  return snapshot.get(typeUrl) ?? NO_RESOURCES;
}
