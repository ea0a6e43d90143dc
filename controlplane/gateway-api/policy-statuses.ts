import { problemOf } from '#controlplane/compile/problem-of.ts';
import { GATEWAY_API_GROUP } from '#resources/kinds/known-kinds.ts';
import type { ServicePortSpec } from '#resources/kinds/service/service.ts';
import type { Resource } from '#resources/resource.ts';
import type { ResourceSet } from '#resources/resource-set.ts';
import { conditionOf, type Fault, type NamedCondition } from './condition.ts';
import type { PolicyStatus } from './gateway-api-status.ts';
import type { ObjectsContext } from './gateway-context.ts';
import type { Stated } from './gateway-statuses.ts';
import type { OurGateway } from './our-gateway.ts';
import { isService } from './reference-faults.ts';
import type { RouteVerdict } from './route-verdict.ts';

type Policy = Resource<'BackendTLSPolicy'>;

/** Returns what the statuses of policies say to the Gateways whose routes they are for. */
export function policyStatuses(
  { backendTlsPolicies, closed }: ResourceSet,
  context: ObjectsContext,
  verdicts: readonly UsedServices[],
  ours: readonly OurGateway[],
): Stated {
  const rejected = closed.filter(({ kind }) => kind === 'BackendTLSPolicy');
  if (backendTlsPolicies.length + rejected.length === 0) return { statuses: [], problems: [] };
  const gatewaysOf = gatewaysByService(verdicts);
  const gateways = new Map(ours.map(({ gateway }) => [gateway.id, gateway]));
  const ancestorsOf = (namespace: string, services: readonly { readonly name: string }[]) => {
    const ids = services.flatMap(({ name }) => [...(gatewaysOf.get(`${namespace}/${name}`) ?? [])]);
    return [...new Set(ids)].sort().flatMap(id => gateways.get(id) ?? []);
  };
  const each = backendTlsPolicies.map(policy => {
    const services = policy.spec.targetRefs.filter(({ group, kind }) => isService(group, kind));
    return statePolicy(policy, ancestorsOf(policy.namespace, services), context);
  });
  const statuses = rejected.map(({ id, namespace, targets = [] }) => {
    return [id, toStatus(0, ancestorsOf(namespace, targets), [REJECTED])] as const;
  });
  return {
    statuses: [...each.map(({ entry }) => entry), ...statuses],
    problems: each.flatMap(({ problems }) => problems),
  };
}

/** Services, and the ids of Gateways that send requests to them. */
export type UsedServices = Pick<RouteVerdict, 'gateways' | 'services'>;

function gatewaysByService(
  verdicts: readonly UsedServices[],
): ReadonlyMap<string, ReadonlySet<string>> {
  const found = new Map<string, Set<string>>();
  for (const { services, gateways } of verdicts) {
    for (const service of services) {
      const known = found.get(service) ?? new Set();
      found.set(service, known);
      for (const id of gateways) known.add(id);
    }
  }
  return found;
}

function statePolicy(
  policy: Policy,
  ancestors: readonly Resource<'Gateway'>[],
  context: ObjectsContext,
) {
  const { accepted, resolved } = context.policies.verdict(policy);
  const targets = policy.spec.targetRefs.flatMap(
    (_, index) => targetFault(policy, index, context) ?? [],
  );
  const isForNothing = targets.length === policy.spec.targetRefs.length;
  const faults = [...(isForNothing ? targets : []), ...accepted];
  const ofTcp = leavesOut(policy, context) ? ' for the ports with TCP' : '';
  const conditions: readonly NamedCondition[] = [
    conditionOf('Accepted', faults, { message: `The policy is in force${ofTcp}` }),
    conditionOf('ResolvedRefs', resolved, { message: 'All references are resolved' }),
  ];
  const status = toStatus(policy.metadata?.generation ?? 0, ancestors, conditions);
  const problems = [...targets, ...accepted, ...resolved].map(({ field, message }) =>
    problemOf(policy, 'error', field, message),
  );
  return { entry: [policy.id, status] as const, problems };
}

function toStatus(
  generation: number,
  ancestors: readonly Resource<'Gateway'>[],
  conditions: readonly NamedCondition[],
): PolicyStatus {
  return {
    kind: 'Policy',
    generation,
    ancestors: ancestors.map(({ namespace, name }) => ({
      ancestorRef: { group: GATEWAY_API_GROUP, kind: 'Gateway', namespace, name },
      conditions,
    })),
  };
}

/** The object that is rejected says why. */
const REJECTED: NamedCondition = {
  type: 'Accepted',
  status: 'False',
  reason: 'Invalid',
  message: 'it is rejected',
};

const UNKNOWN_PORTS =
  'So it is not known which port has this name, and its requests are answered 5xx. Describe it, or leave out `sectionName`';

function portsOf({ spec }: Resource<'Service'>, name?: string): readonly ServicePortSpec[] {
  return name === undefined ? spec.ports : spec.ports.filter(port => port.name === name);
}

/** Returns whether a port is none that TLS is for. Source: GEP-1897, "API". */
function leavesOut({ namespace, spec }: Policy, { service }: ObjectsContext): boolean {
  return spec.targetRefs.some(({ group, kind, name, sectionName }) => {
    const found = isService(group, kind) ? service(namespace, name) : undefined;
    return found !== undefined && !portsOf(found, sectionName).every(isTcp);
  });
}

function isTcp({ protocol }: ServicePortSpec): boolean {
  return protocol === 'TCP';
}

/** @returns why a target is not served by the policy */
function targetFault(policy: Policy, index: number, context: ObjectsContext): Fault | undefined {
  const target = policy.spec.targetRefs[index];
  if (target === undefined) return undefined;
  const { group, kind, name, sectionName } = target;
  const { namespace } = policy;
  const fault = (reason: string, message: string) => ({
    reason,
    field: `spec.targetRefs[${index}]`,
    message,
  });
  if (!isService(group, kind))
    return fault('Invalid', `${kind} is not served here. Name a Service`);
  const service = context.service(namespace, name);
  if (service === undefined && context.knowsServices)
    return fault('TargetNotFound', `there is no Service ${namespace}/${name}`);
  if (service === undefined && sectionName !== undefined) {
    const field = `spec.targetRefs[${index}].sectionName`;
    const message = `no document describes the Service ${name}. ${UNKNOWN_PORTS}`;
    return { reason: 'TargetNotFound', field, message };
  }
  const meant = service && portsOf(service, sectionName);
  if (sectionName !== undefined && meant?.length === 0)
    return fault('TargetNotFound', `the Service ${name} has no port named ${sectionName}`);
  if (meant !== undefined && meant.length > 0 && !meant.some(isTcp))
    return fault('Invalid', `it names no port of the Service ${name} with TCP, which TLS needs`);
  const winner = context.policies.overruledBy(policy, name, sectionName);
  const why = winner !== undefined && 'spec' in winner ? '' : ', which is rejected,';
  return winner && fault('Conflicted', `the BackendTLSPolicy ${winner.name}${why} has precedence`);
}
