import { RESERVED_CLUSTERS } from '#controlplane/compile/clusters/reserved-clusters.ts';
import { EDGE, isBehindEdge } from '#controlplane/compile/node-groups.ts';
import { LATE_DETAILS } from '#controlplane/compile/routes/late-tries.ts';
import { MAX_GROUPS, MAX_MAPPINGS, MAX_UPSTREAMS, MAX_VIEWS, OTHERS } from './bounds.ts';
import type { ConfiguredClusters } from './configured-clusters.ts';
import type { LoggedRequest } from './decode-access-log.ts';
import type { FigureSource, Figures, MappingFigures, UpstreamFigures } from './figures.ts';
import type { NodeName } from './node-name.ts';
import { isFailure, RequestLog } from './request-log.ts';
import { FIRST_SAMPLING, type SampledRates } from './sampling.ts';
import { isRouteId, parseStatName } from './stat-name.ts';
import {
  CLIENT_ERRORS,
  errorColumn,
  KEPT_MS,
  OF_GROUP,
  OF_MAPPING,
  REQUESTS,
  SERVER_ERRORS,
  Traffic,
} from './traffic.ts';
import { type Read, Upstream } from './upstream.ts';

const MINUTE = 60_000;
/** A proxy that has said nothing of a cluster for this time, in ms, no longer sees it. */
const STALE_MS = 30_000;

export type FigureStoreParts = {
  clustersOf(group: string): ConfiguredClusters;
  /** Called after each push. */
  changed(): void;
  now(): number;
};

/** A stream of one proxy, and the time that its present push is about. */
export type Push = { readonly node: NodeName; readonly from: number; readonly to: number };

type PushedRead = Read & { readonly push: Push };

/** Whose requests are counted. */
type Counted = { readonly of: 'group' } | { readonly of: 'mapping'; readonly mapping: string };

/** Keeps what proxies push for 15 minutes, within the bounds of `bounds.ts`. */
export class FigureStore implements Omit<Figures, 'on' | 'follow' | 'coverage'> {
  readonly #parts: FigureStoreParts;
  readonly #groups = new Map<string, Traffic>();
  /** Of all groups that clients connect to. */
  #clients = new Traffic(OF_GROUP);
  readonly #mappings = new Map<string, Traffic>();
  /** By group and cluster. */
  readonly #upstreams = new Map<string, Map<string, Upstream>>();
  readonly #requests = new RequestLog();
  /** Streams of statistics that are open, and when each pushed last. */
  readonly #sources = new Map<object, FigureSource>();
  /** What each of these streams' proxies does because it is overloaded, and since when. */
  readonly #overloads = new Map<object, Map<string, number>>();
  /** When each of them began to close new connections, and did so last. */
  readonly #overflows = new Map<object, { readonly since: number; readonly at: number }>();
  /** What proxies log at present. */
  sampling = FIRST_SAMPLING;
  #told: ReadonlyMap<string, MappingFigures> | undefined;
  #upstreamCount = 0;
  #viewCount = 0;
  #since: number | undefined;
  #swept = 0;
  #pushedAt = 0;

  constructor(parts: FigureStoreParts) {
    this.#parts = parts;
  }

  counter(read: PushedRead, name: string, value: number): void {
    const { from, to, node } = read.push;
    const stat = parseStatName(name, node.group);
    if (stat === undefined || stat.of === 'overload' || value > MAX_VALUE) return;
    if (stat.of === 'overflow') {
      const since = this.#fullSince(read.proxy, to) ?? to;
      this.#overflows.set(read.proxy, { since, at: to });
    } else if (stat.of === 'upstream') {
      if (isGauge(stat.what)) return;
      if (this.#seenBy(read, stat.cluster)?.count(read, stat.what, value)) this.#viewCount += 1;
    } else if (stat.what !== 'latency') {
      for (const traffic of this.#trafficsOf(stat, node))
        for (const column of stat.what) traffic.count(column, value, from, to);
    }
  }

  histogram(push: Push, name: string, counts: ReadonlyMap<number, number>): void {
    const stat = parseStatName(name, push.node.group);
    if (stat?.of !== 'group' && stat?.of !== 'mapping') return;
    if (stat.what !== 'latency') return;
    for (const traffic of this.#trafficsOf(stat, push.node))
      for (const [bucket, count] of counts)
        traffic.latency(bucket, Math.min(count, MAX_VALUE), push.from, push.to);
  }

  gauge(read: PushedRead, name: string, value: number): void {
    const stat = parseStatName(name, read.push.node.group);
    if (stat?.of === 'overload') this.#overload(read, stat.what, value > 0);
    if (stat?.of !== 'upstream' || !isGauge(stat.what)) return;
    if (this.#seenBy(read, stat.cluster)?.see(read, stat.what, value)) this.#viewCount += 1;
  }

  #overload({ proxy, push }: PushedRead, action: string, isActive: boolean): void {
    const active = this.#overloads.get(proxy) ?? new Map<string, number>();
    if (isActive) active.set(action, active.get(action) ?? push.to);
    else active.delete(action);
    if (active.size > 0) this.#overloads.set(proxy, active);
    else this.#overloads.delete(proxy);
  }

  /** A proxy that has closed no connection for some time has room again, or no client asks it. */
  #fullSince(proxy: object, now: number): number | undefined {
    const known = this.#overflows.get(proxy);
    return known !== undefined && now - known.at <= STALE_MS ? known.since : undefined;
  }

  /** Returns a cluster that the proxy sees, or undefined when there is no room for one more. */
  #seenBy({ proxy, push }: PushedRead, name: string): Upstream | undefined {
    const upstream = this.#upstream(push.node.group, name);
    const isFull = this.#viewCount >= MAX_VIEWS && upstream?.knows(proxy) !== true;
    return isFull ? undefined : upstream;
  }

  /** Called when the message of a push is read. */
  pushed(proxy: object, { node, to }: Push): void {
    if (isSetBack(this.#pushedAt, to)) this.#forget();
    this.#pushedAt = to;
    this.#since ??= to;
    this.#sources.set(proxy, { node: node.id, group: node.group, at: to });
    this.#sweep(to);
    this.#parts.changed();
  }

  /** Called when the stream of a proxy has ended. */
  left(proxy: object): void {
    this.#sources.delete(proxy);
    this.#overloads.delete(proxy);
    this.#overflows.delete(proxy);
  }

  request(node: NodeName, logged: LoggedRequest): void {
    const { failed, sampled } = this.sampling;
    const weight = 100 / (isFailure(logged) ? Math.max(failed, sampled) : sampled);
    const isLate = logged.details === LATE_DETAILS;
    const own = { ...this.#ofOwn(node, logged), ...(isLate ? AS_LATE : {}) };
    if (isLate) this.#late(node, own, weight);
    if (own.grpcStatus !== undefined) this.#ofGrpc(node, own, weight);
    this.#requests.add({ ...own, node: node.id, group: node.group, weight });
    const isDenied = own.flags.includes('UAEX');
    if (isFailure(own) && own.flags.length > 0 && !isDenied) this.#failed(node.group, own);
    this.#parts.changed();
  }

  /**
   * Returns the request without a route that its proxy does not have. A proxy beside an application
   * cannot speak of those of others. No request is later than now, since it would never be old.
   */
  #ofOwn({ group }: NodeName, logged: LoggedRequest): LoggedRequest {
    const { at, route } = logged;
    const isForeign = isRouteId(route) && !this.#parts.clustersOf(group).serves(route);
    return { ...logged, at: Math.min(at, this.#parts.now()), route: isForeign ? '' : route };
  }

  traffic(of?: { readonly group: string } | { readonly mapping: string }) {
    const now = this.#parts.now();
    if (of === undefined) return this.#clients.series(now, this.#since ?? now);
    const found =
      'mapping' in of
        ? (this.#mappings.get(of.mapping) ?? new Traffic(OF_MAPPING))
        : (this.#groups.get(of.group) ?? new Traffic(OF_GROUP));
    return found.series(now, this.#since ?? now);
  }

  /** Returns the same for all who ask one after the other, such as for each row of a table. */
  mappings(): ReadonlyMap<string, MappingFigures> {
    if (this.#told === undefined) queueMicrotask(() => (this.#told = undefined));
    this.#told ??= this.#mappingFigures();
    return this.#told;
  }

  #mappingFigures(): ReadonlyMap<string, MappingFigures> {
    const now = this.#parts.now();
    const since = this.#since ?? now;
    const byGateway = this.#answeredByGateway(now);
    const ids = new Set([...this.#mappings.keys(), ...byGateway.keys()]);
    return new Map(
      [...ids].map(id => {
        const traffic = this.#mappings.get(id) ?? NO_TRAFFIC;
        const last15Minutes = traffic.rates(KEPT_MS, now, since);
        const figures = {
          lastMinute: traffic.rates(MINUTE, now, since),
          last15Minutes,
          answeredByGateway: Math.min(byGateway.get(id) ?? 0, last15Minutes.requests),
        };
        return [id, figures];
      }),
    );
  }

  upstreams(): readonly UpstreamFigures[] {
    const now = this.#parts.now();
    return [...this.#upstreams].flatMap(([group, clusters]) => {
      const configured = this.#parts.clustersOf(group);
      return [...clusters.values()].flatMap(upstream =>
        figuresOf(upstream, configured.origins(upstream.cluster) ?? [], now),
      );
    });
  }

  requests(filter = {}) {
    return this.#requests.list(filter, this.#parts.now());
  }

  /** Returns the rates of all proxies in the last few seconds. */
  rates(): SampledRates {
    const now = this.#parts.now();
    const groups = [...this.#groups.values()];
    const sum = (column: typeof REQUESTS | typeof SERVER_ERRORS) =>
      groups.reduce((all, traffic) => all + traffic.newest(column, now), 0);
    return { requests: sum(REQUESTS), failures: sum(SERVER_ERRORS) };
  }

  sources(): readonly FigureSource[] {
    const now = this.#parts.now();
    return [...this.#sources].map(([proxy, source]) => {
      const active = this.#overloads.get(proxy);
      const fullSince = this.#fullSince(proxy, now);
      return {
        ...source,
        ...(active === undefined ? {} : { overloadedSince: Math.min(...active.values()) }),
        ...(fullSince === undefined ? {} : { fullSince }),
      };
    });
  }

  /** Returns all in which what a proxy counts is told. */
  #trafficsOf(counted: Counted, node: NodeName): readonly Traffic[] {
    const own = this.#traffic(counted, node);
    const kept = own === undefined ? [] : [own];
    const isOfClients = counted.of === 'group' && !isBehindEdge(node.group);
    return isOfClients ? [...kept, this.#clients] : kept;
  }

  #traffic(stat: Counted, { group }: NodeName): Traffic | undefined {
    if (stat.of === 'group')
      return found(this.#groups, group, MAX_GROUPS, () => new Traffic(OF_GROUP));
    const { mapping } = stat;
    if (!this.#parts.clustersOf(group).serves(mapping)) return undefined;
    const make = () => new Traffic(OF_MAPPING);
    return (
      found(this.#mappings, mapping, MAX_MAPPINGS, make) ??
      found(this.#mappings, OTHERS, MAX_MAPPINGS + 1, make)
    );
  }

  #upstream(group: string, cluster: string): Upstream | undefined {
    const known = this.#upstreams.get(group)?.get(cluster);
    if (known !== undefined) return known;
    const isOurs = RESERVED_CLUSTERS.has(cluster);
    if (!isOurs && this.#parts.clustersOf(group).origins(cluster) === undefined) return undefined;
    if (this.#upstreamCount >= MAX_UPSTREAMS) return undefined;
    const clusters = found(this.#upstreams, group, MAX_GROUPS, () => new Map<string, Upstream>());
    if (clusters === undefined) return undefined;
    const made = new Upstream(group, cluster);
    clusters.set(cluster, made);
    this.#upstreamCount += 1;
    return made;
  }

  /** No proxy counts the answer to it for its cluster. */
  #late(node: NodeName, logged: LoggedRequest, weight: number): void {
    const { at: begun, durationMs } = logged;
    const at = Math.min(begun + durationMs, this.#parts.now());
    for (const each of this.#behind(node.group, logged)) each.add('serverErrors', weight, at, at);
  }

  /**
   * Proxies count the answer to a gRPC call as 200. For its cluster that is so where the service
   * has answered. An answer of their own is counted there as its HTTP status.
   */
  #ofGrpc(node: NodeName, logged: LoggedRequest, weight: number): void {
    const { at: begun, details, durationMs, route: mapping, status } = logged;
    const error = errorColumn(status);
    if (error === undefined) return;
    const at = Math.min(begun + durationMs, this.#parts.now());
    for (const counted of [{ of: 'group' }, { of: 'mapping', mapping }] as const)
      for (const traffic of this.#trafficsOf(counted, node)) traffic.count(error, weight, at, at);
    if (details !== BY_SERVICE || error === CLIENT_ERRORS) return;
    for (const each of this.#behind(node.group, logged)) {
      each.add('serverErrors', weight, at, at);
      each.add('answers', -weight, at, at);
    }
  }

  #failed(group: string, logged: LoggedRequest) {
    const { at, details, failure, flags, route, upstream } = logged;
    const mapping = route === '' ? undefined : route;
    const lastFailure = {
      at,
      text: failure === '' ? details : failure,
      flags,
      upstream: upstream === '' ? undefined : upstream,
      mapping,
    };
    for (const each of this.#behind(group, logged)) each.lastFailure = lastFailure;
  }

  /** Without a healthy member no cluster is logged. Then it is those behind the route. */
  #behind(group: string, { cluster, route }: LoggedRequest): readonly Upstream[] {
    const configured = this.#parts.clustersOf(group);
    const name = configured.statName(cluster);
    const names = cluster === '' ? configured.behind(route) : name === undefined ? [] : [name];
    return names.flatMap(each => this.#upstream(group, each) ?? []);
  }

  /** Returns an estimate by route of the requests that no service saw. */
  #answeredByGateway(now: number): ReadonlyMap<string, number> {
    const counts = new Map<string, number>();
    for (const { at, group, route, status, upstream, flags, weight } of this.#requests.all()) {
      const isEdge = group === EDGE || !route.startsWith('Mapping/');
      const isOurs = status !== 0 && upstream === '' && isEdge && at > now - KEPT_MS;
      const isFailed = ['UH', 'UO', 'UT'].some(flag => flags.includes(flag));
      if (!isOurs || !isRouteId(route) || isFailed) continue;
      counts.set(route, (counts.get(route) ?? 0) + weight);
    }
    return counts;
  }

  /** What is of the future would hide what is new until the clock is there again. */
  #forget(): void {
    for (const kept of [this.#groups, this.#mappings, this.#upstreams]) kept.clear();
    for (const kept of [this.#overloads, this.#overflows]) kept.clear();
    this.#clients = new Traffic(OF_GROUP);
    this.#requests.clear();
    this.#upstreamCount = 0;
    this.#viewCount = 0;
    this.#since = undefined;
    this.#swept = 0;
  }

  /** Forgets what had no figures for 15 minutes, once a minute. */
  #sweep(now: number): void {
    if (now - this.#swept < MINUTE) return;
    this.#swept = now;
    const since = now - KEPT_MS;
    for (const traffic of [this.#groups, this.#mappings])
      for (const [id, each] of traffic) if (!each.isNewerThan(since)) traffic.delete(id);
    for (const [group, clusters] of this.#upstreams) {
      for (const [name, upstream] of clusters) {
        this.#viewCount -= upstream.forget(now - STALE_MS);
        if (upstream.isEmpty(since) && clusters.delete(name)) this.#upstreamCount -= 1;
      }
      if (clusters.size === 0) this.#upstreams.delete(group);
    }
  }
}

/**
 * What Envoy logs of a late request whose method is not repeated. The logged host is the one of the
 * retry, which got no request. Its entries do not have the one that was late.
 */
const AS_LATE = { flags: ['UT'], details: 'upstream_per_try_timeout', upstream: '' };

/** Envoy's details of an answer of the service. */
const BY_SERVICE = 'via_upstream';

/** Returns whether the clock was set back since a time. Small steps do no harm. */
export function isSetBack(since: number, now: number): boolean {
  return now < since - MINUTE;
}

const NO_TRAFFIC = new Traffic(OF_MAPPING);

/** No proxy counts more between two pushes. */
const MAX_VALUE = 1e12;

function isGauge(what: string): what is 'members' | 'healthy' | 'presence' {
  return what === 'members' || what === 'healthy' || what === 'presence';
}

/** Returns the value of a key, which is made when there is room. */
function found<Value>(
  map: Map<string, Value>,
  key: string,
  most: number,
  make: () => Value,
): Value | undefined {
  const known = map.get(key);
  if (known !== undefined || map.size >= most) return known;
  const made = make();
  map.set(key, made);
  return made;
}

function figuresOf(
  upstream: Upstream,
  origins: readonly string[],
  now: number,
): readonly UpstreamFigures[] {
  const views = upstream.views(now - STALE_MS);
  if (views.length === 0) return [];
  const { group, cluster, lastFailure } = upstream;
  return [
    {
      group,
      cluster,
      origins,
      proxies: views.length,
      members: Math.min(...views.map(({ members }) => members)),
      healthy: Math.min(...views.map(({ healthy }) => healthy)),
      lastMinute: upstream.counts(MINUTE, now),
      last15Minutes: upstream.counts(KEPT_MS, now),
      lastFailure:
        lastFailure === undefined || lastFailure.at <= now - KEPT_MS ? undefined : lastFailure,
    },
  ];
}
