import { problemOf } from '#controlplane/compile/problem-of.ts';
import type { Problem } from '#resources/problem.ts';
import { conditionOf, type Fault, type NamedCondition, tellFaults } from './condition.ts';
import type { RouteStatus } from './gateway-api-status.ts';
import type { GatewayContext } from './gateway-context.ts';
import type { Ask } from './remembered.ts';
import { closeReplacing } from './replaced-headers.ts';
import {
  type AttachedListener,
  type Attachment,
  attachmentsOf,
  unknownParents,
} from './route-attachment.ts';
import { type AnyRoute, type RuleVerdict, routeRule, servicesOf } from './route-rules.ts';
import type { AnyRule } from './rule-faults.ts';
import { type PolicyPlace, withPolicies } from './rule-policies.ts';
import type { ServedRoute } from './served-gateway.ts';

/** What a route comes to. */
export type RouteVerdict = {
  /** Undefined when it refers to nothing of ours. */
  readonly status: RouteStatus | undefined;
  readonly served: readonly ServedOn[];
  /** `namespace/name` of the Services that it sends requests to. */
  readonly services: readonly string[];
  /** Ids of the Gateways that have accepted it. */
  readonly gateways: readonly string[];
  readonly problems: readonly Problem[];
};

/** A route, and what became of it. */
export type Judged = readonly [AnyRoute, RouteVerdict];

/** A route on one listener. */
export type ServedOn = {
  /** Id of the listener. */
  readonly listener: string;
  readonly route: ServedRoute;
  /** Whether the route is accepted. Another answers 500 for what it covers. */
  readonly accepted: boolean;
};

/** Decides where a route is attached, and resolves what it refers to. */
export function routeVerdict(route: AnyRoute, ask: Ask<GatewayContext>): RouteVerdict {
  const attachments = attachmentsOf(route, ask);
  const unknown = unknownParents(route, ask);
  const toWarning = ({ field, message }: Fault) => problemOf(route, 'warning', field, message);
  if (attachments.length === 0) {
    const problems = unknown.map(toWarning);
    return { status: undefined, served: [], services: [], gateways: [], problems };
  }
  const rules = route.spec.rules.map((rule: AnyRule, index) => routeRule(rule, index, route, ask));
  const warnings = [...unknown, ...rules.flatMap(({ odd }) => odd)].map(toWarning);
  const served = rules.map(rule => rule.served);
  const resolved = rules.flatMap(rule => rule.resolved);
  const places = listenersOf(attachments).map(place => ({
    ...place,
    checked: withPolicies(route, served, place, ask).map(rule => closeReplacing(rule, ask)),
  }));
  const replacing = places.flatMap(({ checked }) => checked.flatMap(({ faults }) => faults));
  const unsupported = unsupportedIn(rules, replacing);
  const accepted = attachments.filter(each => statusOf(each, unsupported) === undefined);
  const faults = [
    ...attachments.flatMap(({ fault }) => fault ?? []),
    ...unsupported.faults,
    ...resolved,
  ];
  return {
    status: {
      kind: 'Route',
      generation: route.metadata?.generation ?? 0,
      parents: attachments.map(each => ({
        parentRef: each.parentRef,
        conditions: conditionsOf(each, unsupported, resolved),
      })),
    },
    served: places.map(({ checked, hostnames, listener }) => ({
      listener: listener.id,
      route: toServedRoute(
        route,
        listener.spec.tls?.mode,
        hostnames,
        checked.map(({ rule }) => rule),
      ),
      accepted: !unsupported.everywhere,
    })),
    services: servicesOf(served),
    gateways: [...new Set(accepted.map(({ parent }) => parent.gateway))],
    problems: [
      ...warnings,
      ...faults.map(({ field, message }) => problemOf(route, 'error', field, message)),
    ],
  };
}

/** Several references may select one listener. */
function listenersOf(
  attachments: readonly Attachment[],
): readonly (AttachedListener & PolicyPlace)[] {
  const all = attachments.flatMap(({ listeners, parent: { gateway } }) =>
    listeners.map(each => ({ ...each, gateway })),
  );
  return [...new Map(all.map(each => [each.listener.id, each])).values()];
}

type Unsupported = {
  readonly faults: readonly Fault[];
  /** Whether no rule is left. */
  readonly everywhere: boolean;
};

/** What rules replace on several listeners counts once. */
function unsupportedIn(
  rules: readonly RuleVerdict<AnyRule>[],
  replacing: readonly Fault[],
): Unsupported {
  const everywhere = rules.length > 0 && rules.every(({ unsupported }) => unsupported.length > 0);
  const distinct = new Map(replacing.map(each => [`${each.field} ${each.message}`, each]));
  return {
    faults: [...rules.flatMap(({ unsupported }) => unsupported), ...distinct.values()],
    everywhere,
  };
}

/** @returns why it is not accepted */
function statusOf({ fault }: Attachment, unsupported: Unsupported): Fault | undefined {
  return fault ?? (unsupported.everywhere ? unsupported.faults[0] : undefined);
}

function conditionsOf(
  attachment: Attachment,
  unsupported: Unsupported,
  resolved: readonly Fault[],
): readonly NamedCondition[] {
  const fault = statusOf(attachment, unsupported);
  const isPartial = fault === undefined && unsupported.faults.length > 0;
  return [
    conditionOf('Accepted', fault === undefined ? [] : [fault], {
      message: 'The route is attached',
    }),
    conditionOf('ResolvedRefs', resolved, { message: 'All references are resolved' }),
    ...(isPartial ? [partiallyInvalid(unsupported.faults)] : []),
  ];
}

/** The API wants the message to begin with these words. */
function partiallyInvalid(faults: readonly Fault[]): NamedCondition {
  return {
    type: 'PartiallyInvalid',
    status: 'True',
    reason: 'UnsupportedValue',
    message: `Dropped Rule, whose requests are answered 500: ${tellFaults(faults)}`,
  };
}

function toServedRoute(
  route: AnyRoute,
  mode: 'Terminate' | 'Passthrough' | undefined,
  hostnames: readonly string[],
  rules: readonly RuleVerdict<AnyRule>['served'][],
): ServedRoute {
  const own = mode === 'Passthrough' ? rules.map(withoutTls) : rules;
  // The rules are those of the route, so their kind is that of the route.
  return { kind: route.kind, route, hostnames, rules: own } as ServedRoute;
}

/** A client speaks TLS with the backend itself. */
function withoutTls(rule: RuleVerdict<AnyRule>['served']): RuleVerdict<AnyRule>['served'] {
  const backends = rule.backends.map(backend => {
    if (backend.target?.tls === undefined) return backend;
    const { tls: _, ...target } = backend.target;
    return { ...backend, target: { ...target, protocol: 'tcp' } as const };
  });
  return { ...rule, backends };
}
