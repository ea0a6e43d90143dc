import { compile } from '#controlplane/compile/compile.ts';
import type { Compiled } from '#controlplane/compile/compiled.ts';
import { externalsIn } from '#controlplane/compile/gateways/rule-externals.ts';
import { isOneHost } from '#controlplane/compile/listeners/one-host.ts';
import { Memo } from '#controlplane/compile/memo.ts';
import {
  EDGE,
  EXT_AUTHZ,
  ofNodeGroup,
  RATELIMIT_SERVICE,
} from '#controlplane/compile/node-groups.ts';
import type { CompileOptions } from '#controlplane/compile/options.ts';
import { SEVERAL_VALUES } from '#controlplane/compile/routes/value-units.ts';
import { cutHosts } from '#controlplane/compile/routes/with-shards.ts';
import { hostCoverOf } from '#controlplane/compile/tls/host-cover.ts';
import type { JsonObject } from '#protos/json.ts';
import { comparedHost } from '#resources/match/filter-policy-match.ts';
import type { Problem } from '#resources/problem.ts';
import type { ResourceSet } from '#resources/resource-set.ts';
import { askedListener, managersOf, tableOf } from './asked-listener.ts';
import { chosenAgain, clusterAsked, type ExplainedListener } from './chosen-again.ts';
import type { ClientRequest } from './client-request.ts';
import { type EnvoyRequest, toEnvoyRequest } from './envoy-request.ts';
import { type ExplainedFilters, explainFilters, type FilterInputs } from './explained-filters.ts';
import { answerOf, type GatewayAnswer } from './explained-filters-answer.ts';
import { filtersInForce } from './explained-filters-config.ts';
import {
  type ExplainedRateLimits,
  explainRateLimits,
  type RateLimitInputs,
} from './explained-rate-limits.ts';
import { type ExplainedRoute, explainRoute } from './explained-route.ts';
import { withInjected, withoutIdentityHeaders } from './identity-headers.ts';
import { listenerSettings, managerSettings } from './listener-settings.ts';
import { operatorLimits } from './operator-limits.ts';
import { type Place, placeOf, placesOf } from './place.ts';
import { plain } from './plain.ts';
import { preflightAnswer } from './preflight.ts';
import { GATEWAY_ROUTE, type VirtualHost, virtualHostsOf } from './route-configuration.ts';
import { matchRoute, nearestMisses, type RouteMatch } from './route-match.ts';
import { redirectTarget, type SentRequest, sentRequests } from './sent-request.ts';
import { chainOf } from './tls-chain.ts';

/**
 * What happens to a request, and why. Later parts are present only when the earlier ones let the
 * request come so far.
 */
export type Explanation = {
  readonly request: {
    readonly method: string;
    readonly host: string;
    /** With query. */
    readonly path: string;
    readonly nodeGroup: string;
    readonly clientAddress: string;
    /** The Host whose TLS the request uses. */
    readonly tls?: Place;
    /** The protocol that the request wants to switch to. */
    readonly upgrade?: string;
  };
  /** The gateway's own answer. No service gets the request. */
  readonly answer?: GatewayAnswer;
  /** What filters of the listener do before the route is chosen. */
  readonly listener?: ExplainedListener;
  /** The routes that nearly match when none does, the nearest first. */
  readonly nearest?: readonly NearMiss[];
  readonly route?: ExplainedRoute;
  /**
   * What the service gets, beside what filters and limits add. Absent where targets get different
   * things. Each of them has its own then.
   */
  readonly sent?: SentRequest;
  readonly filters?: ExplainedFilters;
  /** The clusters of services that are asked behind the Filters (ExternalAuth). */
  readonly asks?: readonly string[];
  readonly rateLimits?: ExplainedRateLimits;
};

export type NearMiss = Place & { readonly reasons: readonly string[] };

export type ExplainInputs = {
  readonly resources: ResourceSet;
  /** The parser's Problems, which say why a resource is closed. */
  readonly problems: readonly Problem[];
  readonly nodeGroup: string;
  readonly request: ClientRequest;
  readonly options: CompileOptions;
};

export type Explained = {
  readonly explanation: Explanation;
  readonly problems: readonly Problem[];
};

/**
 * Follows a request through what the resources compile to, in Envoy's order: listener, route,
 * filters. Throws an Error when the node group has no listener.
 */
export function explain({ request, ...others }: ExplainInputs): Explained {
  return explainer(others)(request);
}

/** Returns what explains requests, as `explain` does. The resources are compiled once for all. */
export function explainer(
  others: Omit<ExplainInputs, 'request'>,
): (request: ClientRequest) => Explained {
  const { resources, nodeGroup, options } = others;
  const compiled = (group: string) => compile(resources, group, options);
  const proxies = compiled(nodeGroup);
  const problems = [...others.problems, ...proxies.problems];
  const memo = new Memo();
  const inForce = () =>
    memo.of(resources, 'Filters', [], () => filtersInForce(resources, compiled(EXT_AUTHZ)));
  const limits = () =>
    memo.of(resources, 'limits', [], () => operatorLimits(resources, compiled(RATELIMIT_SERVICE)));
  const inputs = { ...others, inForce, limits, problems };
  return request => ({ explanation: explainCompiled(proxies, { ...inputs, request }), problems });
}

type Inputs = ExplainInputs & Pick<FilterInputs, 'inForce'> & Pick<RateLimitInputs, 'limits'>;

function explainCompiled(compiled: Compiled, inputs: Inputs): Explanation {
  const { nodeGroup, request, resources } = inputs;
  const listener = askedListener(compiled, nodeGroup, request);
  if (listener === undefined && listenerSettings(compiled) === undefined)
    throw new Error(`no ProxyConfig of node group "${nodeGroup}" has a \`listener\``);
  const places = placesOf(resources);
  const chain =
    request.serverName === undefined ? undefined : chainOf(listener, resources, request.serverName);
  if (chain !== undefined && 'reason' in chain) return { request: asSent(inputs), answer: chain };
  const tls = chain === undefined ? {} : { tls: placeOf(places, chain.host) };
  const [manager = chain?.manager] =
    chain === undefined ? managersOf(listener?.json ?? {}, false) : [];
  if (manager === undefined)
    throw new Error(`nothing of node group "${nodeGroup}" listens for this request`);
  const settings = managerSettings(manager);
  const seen = toEnvoyRequest(request, settings, chain?.mark);
  if ('status' in seen) return { request: { ...asSent(inputs), ...tls }, answer: seen };
  const table = tableOf(manager);
  const hosts = virtualHostsOf(compiled, table);
  const cut = cutHosts(compiled, table);
  const matched = (request: EnvoyRequest) => matchRoute(hosts, request, cut);
  const match = matched(seen);
  const shown = { ...asSent(inputs), ...asSeen(seen), ...tls };
  if (settings.wantsOneHost && !isOneHost(shown.host) && mayPass(match, seen))
    return { request: shown, answer: NO_HOST };
  if (match !== undefined) {
    const again = chosenAgain(manager, matched, { ...inputs, match, request: seen, places });
    const behind = again === undefined ? {} : { listener: again.listener };
    const request = again?.request ?? seen;
    const told = explainMatch(again ?? match, request, manager, places, inputs);
    return { request: shown, ...behind, ...told };
  }
  const nearest = nearestMisses(hosts.map(withoutGatewayRoutes), seen).map(({ route, unmet }) => ({
    ...placeOf(places, route.name),
    reasons: unmet.map(({ reason }) => reason),
  }));
  return {
    request: shown,
    answer: { status: 404, reason: whyUnrouted(inputs, seen, table) },
    nearest,
  };
}

/** Where none is in force, Mappings for the name are no near misses. */
function whyUnrouted(
  { resources }: ExplainInputs,
  { headers }: EnvoyRequest,
  table: string,
): string {
  const [host = ''] = headers.get(':authority') ?? [];
  const domain = comparedHost(host).replace(/^\[(.*)\]$/, '$1');
  const covered = table !== EDGE || hostCoverOf(ofNodeGroup(resources, EDGE)).covers(domain);
  if (covered) return 'no route matches it';
  return `no Host covers ${plain(host)}, and Mappings are served on the names of Hosts only (\`serve_other_hosts\` of the Module serves them on all)`;
}

/** Requests are not meant for the gateway's own paths, or for what a Host answers itself. */
function withoutGatewayRoutes(host: VirtualHost): VirtualHost {
  return {
    ...host,
    routes: host.routes.filter(({ name }) => name !== GATEWAY_ROUTE && !name.startsWith('Host/')),
  };
}

function asSent({ nodeGroup, request }: ExplainInputs): Explanation['request'] {
  const { method, authority, target, from } = request;
  return { method, host: authority, path: target, nodeGroup, clientAddress: from };
}

function asSeen({ headers, remoteAddress, upgrade }: EnvoyRequest) {
  const [host = ''] = headers.get(':authority') ?? [];
  const [path = ''] = headers.get(':path') ?? [];
  return {
    host,
    path,
    clientAddress: remoteAddress,
    ...(upgrade === undefined ? {} : { upgrade }),
  };
}

/**
 * Explains the parts behind the route, one for each filter. The filters run before the route's own
 * answer. An upgrade that the route does not allow is rejected before all of them.
 */
function explainMatch(
  match: RouteMatch,
  request: EnvoyRequest,
  manager: JsonObject,
  places: ReadonlyMap<string, Place>,
  inputs: Inputs,
): Omit<Explanation, 'request'> {
  const { asksForLimits, runsFilters } = managerSettings(manager);
  const route = explainRoute(match, inputs.resources, places);
  if (!allowsUpgrade(match, request)) {
    const reason = `its route allows no upgrade to ${request.upgrade} (\`allow_upgrade\`)`;
    return { answer: { status: 403, reason }, route };
  }
  const preflight = preflightAnswer(match, request);
  if (preflight !== undefined) return { answer: preflight, route };
  const filters = runsFilters ? explainFilters({ ...inputs, match, request, places }) : undefined;
  const asks = externalsIn(match.route).flatMap(name => clusterAsked(manager, name) ?? []);
  const passed = {
    route,
    ...(filters !== undefined && { filters }),
    ...(asks.length > 0 && { asks }),
  };
  const answer = answerOf(filters) ?? gatewayAnswer(match, request, inputs);
  if (answer !== undefined) return { answer, ...passed };
  const reached = { ...passed, ...withSent(route, sentRequests(match, request)) };
  if (!asksForLimits) return reached;
  const stripped = withoutIdentityHeaders(request, match.virtualHost);
  const labelled = { ...inputs, request: withInjected(stripped, filters) };
  return {
    ...reached,
    rateLimits: explainRateLimits({ ...labelled, match, targets: route.targets, places }),
  };
}

/** Envoy decides about an upgrade before any filter runs. */
function mayPass(match: RouteMatch | undefined, request: EnvoyRequest): boolean {
  return match === undefined || allowsUpgrade(match, request);
}

const NO_HOST: GatewayAnswer = { status: 400, reason: 'it does not name one host' };

function withSent(
  route: ExplainedRoute,
  sent: readonly SentRequest[],
): Pick<Explanation, 'route' | 'sent'> {
  const [first] = sent;
  if (first === undefined) return {};
  if (new Set(sent.map(one => JSON.stringify(one))).size === 1) return { sent: first };
  const targets = route.targets.map((target, index) => ({ ...target, sent: sent[index] ?? first }));
  return { route: { ...route, targets } };
}

function allowsUpgrade({ route }: RouteMatch, { upgrade }: EnvoyRequest): boolean {
  const allowed = route.route?.upgrade_configs ?? [];
  return upgrade === undefined || allowed.some(({ upgrade_type }) => upgrade_type === upgrade);
}

function gatewayAnswer(
  match: RouteMatch,
  request: EnvoyRequest,
  inputs: ExplainInputs,
): GatewayAnswer | undefined {
  const { route } = match;
  const target = redirectTarget(match, request);
  if (route.redirect !== undefined && route.name === GATEWAY_ROUTE)
    return {
      status: 301,
      reason: `no Host covers its name, and every Host redirects requests without TLS to https: ${plain(target ?? '')}`,
    };
  if (route.redirect !== undefined) return redirectAnswer(route.redirect, plain(target ?? ''));
  const status = route.direct_response?.status;
  if (status === undefined) return undefined;
  if (route.match === SEVERAL_VALUES.match)
    return { status, reason: 'it has a header twice, whose value chooses its route' };
  return { status, reason: HOST_ANSWERS[status] ?? whyClosed(route.name, inputs) };
}

/** Returns the redirect of host-guard.ts or redirect-route.ts. */
function redirectAnswer(
  { host_redirect, response_code }: JsonObject,
  target: string,
): GatewayAnswer {
  if (host_redirect === undefined && response_code === undefined)
    return { status: 301, reason: `its Host redirects requests without TLS to https: ${target}` };
  const status = REDIRECTS[String(response_code)] ?? 301;
  return { status, reason: `its route redirects it to ${target}` };
}

const REDIRECTS: Readonly<Record<string, number>> = {
  MOVED_PERMANENTLY: 301,
  FOUND: 302,
  SEE_OTHER: 303,
  TEMPORARY_REDIRECT: 307,
  PERMANENT_REDIRECT: 308,
};

/** Only host-guard.ts answers so. */
const HOST_ANSWERS: Readonly<Record<number, string>> = {
  403: 'its Host rejects requests without TLS',
  421: "it asks for a host that is not that of its connection's TLS",
};

function whyClosed(id: string, { problems, resources }: ExplainInputs): string {
  if (resources.mappings.some(mapping => mapping.id === id && mapping.spec.closed))
    return 'its Mapping has `closed: true`';
  const errors = problems.filter(
    ({ severity, kind, namespace, name }) =>
      severity === 'error' && `${kind}/${namespace}/${name}` === id,
  );
  const reasons = errors.map(({ field, message }) =>
    field === undefined ? message : `${field}: ${message}`,
  );
  return ['its route is closed, because the resource has an error', ...reasons].join(': ');
}
