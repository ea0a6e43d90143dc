import type { FigureCoverage } from './coverage.ts';

/**
 * What the proxies have pushed in the last 15 minutes. All of it is in memory, and bounded whatever
 * the number of proxies, routes and clients.
 */
export type Figures = {
  /** Whether proxies are asked to push figures (FIGURES). When not, all else is empty. */
  readonly on: boolean;
  /**
   * Returns the requests of 15 minutes in steps, oldest first: of clients (at the edge and at
   * Gateways), of one node group, or of one Mapping. Those of a Mapping are the requests that its
   * route sent to its service, also the ones that got no answer.
   */
  traffic(of?: { readonly group: string } | { readonly mapping: string }): Series;
  /**
   * Returns the figures of every Mapping and route of Gateways that had traffic, by its id such as
   * `Mapping/<namespace>/<name>`.
   */
  mappings(): ReadonlyMap<string, MappingFigures>;
  /** Returns what each node group sees of each of its clusters. */
  upstreams(): readonly UpstreamFigures[];
  /**
   * Returns sampled requests, newest first. Up to about 30 a second all are sampled, and
   * so are the failed ones apart from them. Beyond that a share is. Returns at most `limit` of
   * them, by default 100.
   */
  requests(filter?: RequestFilter): readonly SampledRequest[];
  /** Returns the proxies that push figures now. */
  sources(): readonly FigureSource[];
  /** Returns how many of the known proxies these are, or undefined when figures are off. */
  coverage(): FigureCoverage | undefined;
  /**
   * Calls back at most once a second while figures arrive. Returns how to stop.
   */
  follow(listener: () => void): () => void;
};

/**
 * Counts by step. All lists are of one length. Item `i` covers the `stepMs` from `start + i *
 * stepMs`. Steps before the first figures are left out.
 */
export type Series = {
  /** Of the first step, in ms since 1970. */
  readonly start: number;
  readonly stepMs: number;
  /** Requests, estimated to the fraction, since a push may cover parts of two steps. */
  readonly requests: readonly number[];
  readonly clientErrors: readonly number[];
  readonly serverErrors: readonly number[];
  /** Latency in ms, of which half of the requests need less. `null` in a step without requests. */
  readonly p50: readonly (number | null)[];
  readonly p99: readonly (number | null)[];
};

/** The figures of some time. */
export type Rates = {
  /** Requests a second. */
  readonly rate: number;
  readonly requests: number;
  /** Answers 400 to 499. */
  readonly clientErrors: number;
  /** Answers 500 to 599. */
  readonly serverErrors: number;
  /** Latency in ms. `null` without requests. */
  readonly p50: number | null;
  readonly p99: number | null;
};

export type MappingFigures = {
  readonly lastMinute: Rates;
  readonly last15Minutes: Rates;
  /**
   * Requests that the gateway answered itself in 15 minutes and that no service saw: logins,
   * limits, closed routes. They are an estimate from the sampled requests. The rates have them too.
   */
  readonly answeredByGateway: number;
};

/** What the proxies of a node group see of a cluster, together. */
export type UpstreamFigures = {
  readonly group: string;
  /** The cluster's name in the statistics. It stays the same when settings change. */
  readonly cluster: string;
  /** Ids of the Mappings and ProxyConfigs behind it. */
  readonly origins: readonly string[];
  /** Proxies that see it now. */
  readonly proxies: number;
  /** The fewest members that one of these proxies sees. */
  readonly members: number;
  /** The fewest healthy members that one of these proxies sees. */
  readonly healthy: number;
  /** Counts of the last minute, and of 15. */
  readonly lastMinute: UpstreamCounts;
  readonly last15Minutes: UpstreamCounts;
  /** The last request that failed here, as far as it was sampled. */
  readonly lastFailure: UpstreamFailure | undefined;
};

export type UpstreamCounts = {
  /** Tries of requests. */
  readonly requests: number;
  /** Answers below 500. */
  readonly answers: number;
  readonly serverErrors: number;
  /** Tries that got no answer in time. */
  readonly late: number;
  /** Requests whose whole time ended without an answer. Calls of deciders have no tries. */
  readonly timeouts: number;
  /** Connections that failed, those that timed out among them. */
  readonly connectFailures: number;
  readonly connectTimeouts: number;
  /** Handshakes of TLS that failed, and certificates that were not accepted. */
  readonly tlsFailures: number;
  /** Requests that found no healthy member. */
  readonly noHealthy: number;
  /** Lookups in DNS, or updates by discovery, that failed. */
  readonly updateFailures: number;
  /** Lookups in DNS, or updates by discovery, that gave no member. */
  readonly updatesEmpty: number;
  readonly updates: number;
  /** Checks of health, and those that failed. */
  readonly checks: number;
  readonly checkFailures: number;
  /** Members that outlier detection took out. */
  readonly ejections: number;
  /** Spans and logs that a collector answered with an error. Of others: runs of errors. */
  readonly failedCalls: number;
};

export type UpstreamFailure = {
  /** In ms since 1970. */
  readonly at: number;
  /** Envoy's `upstream_transport_failure_reason`, or its words for the answer. */
  readonly text: string;
  /** Envoy's response flags, such as `UF`. */
  readonly flags: readonly string[];
  /** `address:port` of the member, if one was chosen. */
  readonly upstream: string | undefined;
  readonly mapping: string | undefined;
};

/** A request as a proxy has logged it. It holds no query, cookie or credential. */
export type SampledRequest = {
  /** Grows with each request, so that a reader finds what is new. */
  readonly id: number;
  /** When it began, in ms since 1970. */
  readonly at: number;
  readonly node: string;
  readonly group: string;
  /** How many requests it stands for, at least 1. */
  readonly weight: number;
  readonly method: string;
  readonly scheme: string;
  readonly host: string;
  /** Without the query. */
  readonly path: string;
  readonly protocol: string;
  /** 0 when the client was gone before the answer. Of a gRPC call: what `grpcStatus` stands for. */
  readonly status: number;
  /** Of a gRPC call that has ended: its status by name, such as `UNAVAILABLE`. */
  readonly grpcStatus?: string;
  /** Envoy's response flags, such as `UF`. */
  readonly flags: readonly string[];
  /** Envoy's words for how the answer came about. */
  readonly details: string;
  /** IP address. */
  readonly client: string;
  readonly userAgent: string;
  readonly requestId: string;
  readonly durationMs: number;
  readonly attempts: number;
  readonly bytesReceived: number;
  readonly bytesSent: number;
  /** Id of the Mapping, or the name of another route. Empty without a route. */
  readonly route: string;
  readonly cluster: string;
  /** `address:port`. Empty when no service was asked. */
  readonly upstream: string;
  /** Envoy's `upstream_transport_failure_reason`. */
  readonly failure: string;
};

export type RequestFilter = {
  /** `404`, or `4` for 400 to 499. */
  readonly status?: number;
  readonly mapping?: string;
  readonly client?: string;
  readonly group?: string;
  /** Only requests with a higher id. */
  readonly after?: number;
  readonly limit?: number;
};

export type FigureSource = {
  readonly node: string;
  readonly group: string;
  /** Of the last push, in ms since 1970. */
  readonly at: number;
  /** Since when it turns away what comes, because its heap is full, in ms since 1970. */
  readonly overloadedSince?: number;
  /** Since when it closes new connections, because there are too many, in ms since 1970. */
  readonly fullSince?: number;
};
