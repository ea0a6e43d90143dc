import { problemOf } from '#controlplane/compile/problem-of.ts';
import {
  type AskedDomains,
  askedDomains,
  unaskedReason,
} from '#controlplane/compile/rate-limits/asked-domains.ts';
import type { ParentRef } from '#resources/kinds/gateway-api/parent-ref.ts';
import { isReadableTarget, type PolicyTarget } from '#resources/kinds/gateway-api/policy-target.ts';
import { GATEWAY_API_GROUP } from '#resources/kinds/known-kinds.ts';
import type { Rejected, Resource } from '#resources/resource.ts';
import type { ResourceSet } from '#resources/resource-set.ts';
import { conditionOf, type Fault } from './condition.ts';
import type { PolicyStatus } from './gateway-api-status.ts';
import type { ObjectsContext } from './gateway-context.ts';
import type { Stated } from './gateway-statuses.ts';
import type { OurGateway } from './our-gateway.ts';
import type { ListenerOrigin } from './route-parent.ts';
import type { Judged } from './route-verdict.ts';
import { hasTargets, targetId, targetKey } from './targeted-policies.ts';

type Policy = Resource<'FilterPolicy'> | Resource<'RateLimit'>;

/** Kinds of ours whose status lists ancestors, as Gateway API defines it for policies. */
export const TARGETING_KINDS: readonly string[] = ['FilterPolicy', 'RateLimit'];

/** What may be targeted: its sections, and the ids of our Gateways that have it. */
type Targeted = {
  readonly sections: readonly string[];
  /**
   * The sections that pass on what they get, without requests that a policy could be for. The whole
   * has no name.
   */
  readonly streams?: readonly string[];
  /** The sections of routes that only redirect. The whole has no name. */
  readonly redirects?: readonly string[];
  readonly gateways: readonly string[];
};

const STREAMS: readonly string[] = ['TCP', 'TLS', 'UDP'];
const WHOLE = '';

/** What one target of a policy comes to. */
type TargetState = { readonly gateways: readonly string[]; readonly fault: Fault | undefined };

/**
 * Returns what the statuses of FilterPolicies and RateLimits say of their targets, and the Problems
 * of targets that they do not have.
 */
export function targetingStatuses(
  resources: ResourceSet,
  context: ObjectsContext,
  routes: readonly Judged[],
  ours: readonly OurGateway[],
): Stated {
  const policies: readonly Policy[] = [...resources.filterPolicies, ...resources.rateLimits];
  const targeting = policies.filter(hasTargets);
  const rejected = resources.closed.filter(
    ({ kind, targets }) => TARGETING_KINDS.includes(kind) && targets !== undefined,
  );
  if (targeting.length + rejected.length === 0) return { statuses: [], problems: [] };
  const targeted = targetedBy(resources, routes, ours);
  const asked = askedDomains(resources);
  const states = targeting.map(policy => {
    const refs = policy.spec.targetRefs ?? [];
    return { policy, refs, each: refs.map((_, at) => stateOf(policy, at, targeted, context)) };
  });
  return {
    statuses: [
      ...states.map(({ policy, refs, each }) =>
        statusOf(policy, refs, each, [
          ...missingFilters(policy, context),
          ...unaskedLimits(policy, asked),
        ]),
      ),
      ...rejected.map(policy => rejectedStatus(policy, targeted)),
    ],
    problems: states.flatMap(({ policy, each }) =>
      each.flatMap(({ fault }) =>
        fault === undefined ? [] : [problemOf(policy, 'error', fault.field, fault.message)],
      ),
    ),
  };
}

function targetedBy(
  { closed, gateways, listenerSets }: ResourceSet,
  routes: readonly Judged[],
  ours: readonly OurGateway[],
): ReadonlyMap<string, Targeted> {
  const owners = new Map(
    ours.flatMap(({ gateway, sets }) =>
      [gateway, ...sets.map(({ listenerSet }) => listenerSet)].map(
        ({ id }) => [id, gateway.id] as const,
      ),
    ),
  );
  const sets = new Map(ours.map(each => [each.gateway.id, each.sets]));
  const withListeners = (origin: ListenerOrigin): readonly [string, Targeted] => {
    const owner = owners.get(origin.id);
    const own = listenersOf(origin);
    const others = (sets.get(origin.id) ?? []).flatMap(({ allowed, listenerSet }) =>
      allowed ? listenersOf(listenerSet) : [],
    );
    const streams = [
      ...([...own, ...others].every(isStream) ? [WHOLE] : []),
      ...own.filter(isStream).map(({ name }) => name),
    ];
    const sections = own.map(({ name }) => name);
    return [origin.id, { sections, streams, gateways: owner === undefined ? [] : [owner] }];
  };
  return new Map<string, Targeted>([
    ...closed.map(({ id }) => [id, { sections: [], gateways: [] }] as const),
    ...[...gateways, ...listenerSets].map(withListeners),
    ...routes.map(([route, verdict]) => {
      const rules: readonly TargetedRule[] = route.spec.rules;
      const sections = rules.flatMap(({ name }) => name ?? []);
      const redirects = [WHOLE, ...sections].filter(section => onlyRedirects(rules, section));
      return [route.id, { sections, redirects, gateways: verdict.gateways }] as const;
    }),
  ]);
}

type Protocol = { readonly name: string; readonly protocol: string };

function listenersOf({ spec }: ListenerOrigin): readonly Protocol[] {
  return spec.listeners;
}

function isStream({ protocol }: Protocol): boolean {
  return STREAMS.includes(protocol);
}

type TargetedRule = {
  readonly name?: string;
  readonly filters?: readonly { readonly type: string }[];
};

function onlyRedirects(rules: readonly TargetedRule[], section: string): boolean {
  const meant = rules.filter(({ name }) => section === WHOLE || name === section);
  const isRedirect = ({ filters = [] }: TargetedRule) =>
    filters.some(({ type }) => type === 'RequestRedirect');
  return meant.length > 0 && meant.every(isRedirect);
}

function stateOf(
  policy: Policy,
  index: number,
  targeted: ReadonlyMap<string, Targeted>,
  context: ObjectsContext,
): TargetState {
  const target = policy.spec.targetRefs?.[index];
  if (target === undefined) return { gateways: [], fault: undefined };
  const { gateways = [] } = targeted.get(targetId(policy.namespace, target)) ?? {};
  const found = targetFault(policy, target, targeted, context);
  return { gateways, fault: found && { ...found, field: `spec.targetRefs[${index}]` } };
}

/** @returns why the policy has no effect on a target, or not yet */
function targetFault(
  policy: Policy,
  target: PolicyTarget,
  targeted: ReadonlyMap<string, Targeted>,
  context: ObjectsContext,
): Omit<Fault, 'field'> | undefined {
  const { kind, name, sectionName } = target;
  const what = `${kind} ${policy.namespace}/${name}`;
  const lacks = (message: string) => ({
    reason: 'TargetNotFound',
    message: `${message}. ${LATER}`,
  });
  const id = targetId(policy.namespace, target);
  const found = targeted.get(id);
  if (found === undefined) return lacks(`there is no ${what}`);
  if (found.gateways.length === 0) return lacks(`no Gateway that is served here has the ${what}`);
  if (sectionName !== undefined && !found.sections.includes(sectionName))
    return lacks(
      `the ${what} has no ${kind.endsWith('Route') ? 'rule' : 'listener'} ${sectionName}`,
    );
  if (found.streams?.includes(sectionName ?? WHOLE)) {
    const which = sectionName === undefined ? 'each listener' : `the listener ${sectionName}`;
    return { reason: 'Invalid', message: `${which} of the ${what} ${STREAM}` };
  }
  if (policy.kind === 'RateLimit') {
    if (!found.redirects?.includes(sectionName ?? WHOLE)) return undefined;
    const which = sectionName === undefined ? 'each rule' : `the rule ${sectionName}`;
    return { reason: 'Invalid', message: `${which} of the ${what} ${REDIRECT}` };
  }
  const winner = context.targeted.filterPolicy([targetKey(id, sectionName)]);
  if (winner === undefined || ('policy' in winner && winner.policy === policy)) return undefined;
  const by = 'policy' in winner ? winner.policy : winner.closed;
  const why = 'policy' in winner ? 'which is older or first by name' : 'which is rejected';
  const message = `the FilterPolicy ${by.name}, ${why}, has precedence for the same target`;
  return { reason: 'Conflicted', message };
}

const STREAM =
  'passes on what it gets, so that no Filter and no limit is asked. Name one with HTTP or HTTPS';
/** Envoy's filter for limits skips routes that it answers itself. */
const REDIRECT = 'only redirects, which no limit counts. Name one with a backend';
const LATER = 'The policy takes effect when there is one';

/** Returns faults of a policy that closes what it targets. Its Problems tell them already. */
function missingFilters(policy: Policy, { filter }: ObjectsContext): readonly Fault[] {
  const filters = policy.kind === 'FilterPolicy' ? (policy.spec.filters ?? []) : [];
  return filters.flatMap((each, at) => {
    const named = [each, ...(each.arguments.insteadOfRedirect?.filters ?? [])];
    return named.flatMap(({ namespace = policy.namespace, name }) => {
      if (filter(namespace, name) !== undefined) return [];
      const message = `there is no Filter ${namespace}/${name}: what it targets answers 500`;
      return [{ reason: 'Invalid', field: `spec.filters[${at}]`, message }];
    });
  });
}

/** Returns the fault of limits that no request meets. A Problem tells it already. */
function unaskedLimits(policy: Policy, asked: AskedDomains): readonly Fault[] {
  if (policy.kind !== 'RateLimit') return [];
  const message = unaskedReason('these limits', policy.spec.domain, asked);
  return message === undefined ? [] : [{ reason: 'Invalid', field: 'spec.domain', message }];
}

type Ancestor = {
  readonly ref: Omit<ParentRef, 'port' | 'sectionName'>;
  readonly states: TargetState[];
};

/** A target without a Gateway of ours is its own ancestor, so that its state is told. */
function ancestorsOf(
  namespace: string,
  refs: readonly PolicyTarget[],
  each: readonly TargetState[],
): readonly Ancestor[] {
  const found = new Map<string, Ancestor>();
  const add = (ref: Ancestor['ref'], state: TargetState) => {
    const key = Object.values(ref).join('/');
    const known = found.get(key);
    if (known === undefined) found.set(key, { ref, states: [state] });
    else known.states.push(state);
  };
  for (const [at, state] of each.entries()) {
    const { group = '', kind = '', name = '' } = refs[at] ?? {};
    if (state.gateways.length === 0) add({ group, kind, namespace, name }, state);
    for (const id of state.gateways) {
      const [, of = '', named = ''] = id.split('/');
      add({ group: GATEWAY_API_GROUP, kind: 'Gateway', namespace: of, name: named }, state);
    }
  }
  return [...found.values()];
}

function statusOf(
  { id, namespace }: Pick<Policy, 'id' | 'namespace'>,
  refs: readonly PolicyTarget[],
  each: readonly TargetState[],
  ofWhole: readonly Fault[] = [],
): readonly [id: string, status: PolicyStatus] {
  const ancestors = ancestorsOf(namespace, refs, each).map(({ ref, states }) => {
    const faults = states.flatMap(({ fault }) => fault ?? []);
    const isForNothing = faults.length === states.length;
    const message = 'The policy is in force';
    const accepted = conditionOf('Accepted', isForNothing ? faults : ofWhole, { message });
    return { ancestorRef: ref, conditions: [accepted] };
  });
  return [id, { kind: 'Policy', generation: 0, ancestors }];
}

function rejectedStatus(
  policy: Rejected,
  targeted: ReadonlyMap<string, Targeted>,
): readonly [id: string, status: PolicyStatus] {
  const { namespace } = policy;
  const targets = (policy.targets ?? []).filter(isReadableTarget);
  const fault = { reason: 'Invalid', field: 'spec', message: 'it is rejected' };
  const each = targets.map(target => ({
    gateways: targeted.get(targetId(namespace, target))?.gateways ?? [],
    fault,
  }));
  return statusOf(policy, targets, each);
}
