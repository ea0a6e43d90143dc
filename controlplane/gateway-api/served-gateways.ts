import type { Memo } from '#controlplane/compile/memo.ts';
import type { ResourceSet } from '#resources/resource-set.ts';
import { compareText } from '#resources/words/order.ts';
import { pushTo } from '#resources/words/push-to.ts';
import { byAge } from './by-age.ts';
import type { CheckedListener } from './checked-listener.ts';
import { closedListeners, rejectedListeners } from './closed-listeners.ts';
import { closedRoutes } from './closed-routes.ts';
import type { Fault } from './condition.ts';
import type { GatewayApiStatus } from './gateway-api-status.ts';
import { ourClasses } from './gateway-classes.ts';
import { type GatewayContext, type Known, objectsContext } from './gateway-context.ts';
import { checkGatewayListeners, ourGateways } from './gateway-listeners.ts';
import type { GatewayOptions } from './gateway-options.ts';
import { gatewayStatuses } from './gateway-statuses.ts';
import { keyPairNamed } from './listener-tls.ts';
import { openCalls } from './open-calls.ts';
import { type OurGateway, originsOf } from './our-gateway.ts';
import { policyStatuses, type UsedServices } from './policy-statuses.ts';
import { remembered } from './remembered.ts';
import { restOf } from './rest-of.ts';
import { routeParents } from './route-parents.ts';
import { type AnyRoute, allRoutes } from './route-rules.ts';
import { type Judged, type RouteVerdict, routeVerdict, type ServedOn } from './route-verdict.ts';
import type {
  ClosedListener,
  GatewayApi,
  SecretName,
  ServedGateway,
  ServedListener,
  ServedRoute,
} from './served-gateway.ts';
import { shadowedRoutes } from './shadowed-routes.ts';
import { showing } from './shown-certificate.ts';
import { hasTargets } from './targeted-policies.ts';
import { targetingStatuses } from './targeting-statuses.ts';
import { unclassedProblems } from './unclassed-problems.ts';
import { unlistedAncestors } from './unlisted-ancestors.ts';

const NOTHING: GatewayApi = { gateways: [], statuses: new Map(), problems: [] };

/** Returns whether nothing is an object of Gateway API, or a policy for one. */
export function asksNothing({
  filterPolicies,
  gatewayClasses,
  gateways,
  rateLimits,
}: ResourceSet): boolean {
  const policies = [...filterPolicies, ...rateLimits];
  return gateways.length + gatewayClasses.length === 0 && !policies.some(hasTargets);
}

/**
 * Decides what the objects of Gateway API come to: which route is attached to which listener, what
 * their references name, and what the status of each says. It is pure, and never throws for what an
 * operator can write. The order of the input has no effect on the result.
 */
export function servedGateways(
  resources: ResourceSet,
  options: GatewayOptions,
  memo: Memo,
): GatewayApi {
  if (asksNothing(resources)) return NOTHING;
  const base = memo.of(restOf(resources, memo), 'Gateways', [options], () =>
    withoutRoutes(resources, options, memo),
  );
  const { classes, listeners, objects, ours, rejected } = base;
  const judged = (route: AnyRoute) => [route, judge(route, base, memo)] as const;
  const routes = allRoutes(resources).map(judged);
  const closed = base.closed.map(judged);
  const unclosed = attachedOf(routes, []);
  const attached = closed.length === 0 ? unclosed : attachedOf(routes, closed);
  const serving = { checked: listeners.checked, attached, rejected };
  const made = ours.map(each => {
    const client = clientCertificate(each, { context: objects, memo });
    const served = serve(each, serving, client, memo);
    return { ...each, client, served };
  });
  const statuses = gatewayStatuses(made, listeners, attached);
  const using = [
    ...routes.map(([, verdict]) => verdict),
    ...made.map(({ served }) => servicesAsked(served)),
  ];
  const valid = [...listeners.checked.values()].flat().filter(({ valid }) => valid);
  const written = valid.map(({ listener }) => listener);
  const policies = policyStatuses(resources, objects, using, ours);
  const targeting = targetingStatuses(resources, objects, routes, ours);
  return {
    gateways: made
      .map(({ served }) => served)
      .sort((a, b) => compareText(a.gateway.id, b.gateway.id)),
    statuses: new Map<string, GatewayApiStatus>([
      ...[...classes.values()].map(
        ({ gatewayClass, status }) => [gatewayClass.id, status] as const,
      ),
      ...statuses.statuses,
      ...routeStatuses([...routes, ...closed]),
      ...policies.statuses,
      ...targeting.statuses,
    ]),
    problems: [
      ...unclassedProblems(resources, [...classes.values()], ours),
      ...statuses.problems,
      ...routes.flatMap(([, { problems }]) => problems),
      ...shadowedRoutes(written, unclosed, memo),
      ...openCalls(written, unclosed, memo),
      ...policies.problems,
      ...targeting.problems,
      ...unlistedAncestors(resources, [...policies.statuses, ...targeting.statuses]),
    ],
  };
}

/** Returns what is attached to each listener. A closed route answers 500. */
function attachedOf(
  routes: readonly Judged[],
  closed: readonly Judged[],
): ReadonlyMap<string, readonly ServedOn[]> {
  const attached = new Map<string, ServedOn[]>();
  const attach = (each: ServedOn) => pushTo(attached, each.listener, each);
  for (const [, { served }] of routes) for (const each of served) attach(each);
  for (const [, { served }] of closed)
    for (const each of served) attach({ ...each, accepted: false });
  return attached;
}

function routeStatuses(routes: readonly Judged[]): ReadonlyMap<string, GatewayApiStatus> {
  const statuses = new Map<string, GatewayApiStatus>();
  for (const [{ id }, { status }] of routes) if (status !== undefined) statuses.set(id, status);
  return statuses;
}

type Base = ReturnType<typeof withoutRoutes>;

/** Returns what does not depend on routes in force. */
function withoutRoutes(resources: ResourceSet, options: GatewayOptions, memo: Memo) {
  const objects = objectsContext(resources, options, memo);
  const classes = ourClasses(resources, objects);
  const ours = ourGateways(resources, classes, objects);
  const parents = routeParents(ours, memo);
  const defaults = ours.filter(({ gateway }) => gateway.spec.defaultScope === 'All');
  const context: GatewayContext = {
    ...objects,
    parent: id => parents.get(id),
    defaultGateways: defaults.map(({ gateway }) => gateway.id).join('\n'),
  };
  return {
    ...{ classes, context, objects, ours },
    listeners: checkGatewayListeners(ours, { context: objects, memo }),
    closed: closedRoutes(resources, memo),
    rejected: rejectedListeners(resources, { ours, classes, context: objects }),
  };
}

/** While nothing but routes changes, a route is not even asked what it depends on. */
function judge(route: AnyRoute, base: Base, memo: Memo): RouteVerdict {
  const { context } = base;
  return memo.of(route, 'verdict beside these', [base], () =>
    remembered({ memo, context }, route, 'verdict', [], ask => routeVerdict(route, ask)),
  );
}

/** Returns the services that listeners ask whether a request may pass. */
function servicesAsked({ gateway, listeners }: ServedGateway): UsedServices {
  const stages = listeners.flatMap(({ filters }) => filters?.stages ?? []);
  const services = stages.flatMap(stage =>
    'external' in stage ? [`${stage.target.namespace}/${stage.target.name}`] : [],
  );
  return { services, gateways: [gateway.id] };
}

/** @returns undefined when the Gateway asks for none */
function clientCertificate({ gateway }: OurGateway, known: Known): SecretName | Fault | undefined {
  const ref = gateway.spec.tls?.backend?.clientCertificateRef;
  if (ref === undefined) return undefined;
  const place = {
    field: 'spec.tls.backend.clientCertificateRef',
    invalid: 'InvalidClientCertificateRef',
  };
  return remembered(known, gateway, 'client certificate', [], ask =>
    keyPairNamed(ref, gateway, ask, place),
  );
}

/** What Gateways serve, by the ids of their parts. */
type Serving = {
  readonly checked: ReadonlyMap<string, readonly CheckedListener[]>;
  readonly attached: ReadonlyMap<string, readonly ServedOn[]>;
  readonly rejected: ReadonlyMap<string, readonly ClosedListener[]>;
};

/** The result is the same object while nothing about the Gateway has changed. */
function serve(
  ours: OurGateway,
  { attached, checked, rejected }: Serving,
  client: SecretName | Fault | undefined,
  memo: Memo,
): ServedGateway {
  const { gateway, group } = ours;
  const all = originsOf(ours).flatMap(({ origin }) => checked.get(origin.id) ?? []);
  const clientCertificate = client !== undefined && 'name' in client ? client : undefined;
  const listeners = all
    .filter(({ valid }) => valid)
    .map(each => toServed(each, attached.get(each.listener.id) ?? [], memo))
    .map(listener => showing(listener, clientCertificate, memo));
  const closed = [...closedListeners(ours, all, memo), ...(rejected.get(gateway.id) ?? [])];
  const inputs = [group, clientCertificate, JSON.stringify(closed), ...listeners];
  return memo.of(gateway, 'served Gateway', inputs, () => ({
    gateway,
    group,
    listeners,
    closed,
    ...(clientCertificate === undefined ? {} : { clientCertificate }),
  }));
}

function toServed(
  { filters, listener, tls }: CheckedListener,
  attached: readonly ServedOn[],
  memo: Memo,
): ServedListener {
  const { id, origin, spec, protocol = 'HTTP', hostname } = listener;
  const routes = attached.map(({ route }) => route);
  return memo.of(listener, 'served listener', [tls, filters, ...routes], () => ({
    id,
    origin: origin.id,
    name: spec.name,
    port: spec.port,
    protocol,
    hostname,
    ...(tls === undefined ? {} : { tls }),
    ...(filters === undefined ? {} : { filters }),
    routes: inOrder(routes, protocol),
  }));
}

/** Connections of a listener without host names all go where the oldest route says. */
function inOrder(
  routes: readonly ServedRoute[],
  protocol: ServedListener['protocol'],
): readonly ServedRoute[] {
  const sorted = [...routes].sort((a, b) => byAge(a.route, b.route));
  return protocol === 'TCP' || protocol === 'UDP' ? sorted.slice(0, 1) : sorted;
}
