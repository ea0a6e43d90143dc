import type { Problem } from '#resources/problem.ts';
import type { Source } from '#resources/resource.ts';

/** What a change would do to the gateway. Every list is empty when it does nothing. */
export type Difference = {
  /** Problems that the change brings. */
  readonly problems: readonly Problem[];
  /** Problems that it solves. */
  readonly solved: readonly Problem[];
  /**
   * Requests about which others decide than before. The ones that lose a Filter come first. At most
   * `MOST_ACCESS`.
   */
  readonly access: readonly AccessChange[];
  /** How many there are. */
  readonly accessCount: number;
  /**
   * Whether routes of Gateways change so many hosts and paths that not all were tried. Then
   * `access` and the `requests` of routes may lack some.
   */
  readonly isPartial: boolean;
  /** Mappings that are changed themselves. */
  readonly routes: readonly RouteChange[];
  /** Limits of RateLimits. The ones that let more requests pass come first. */
  readonly limits: readonly LimitChange[];
  /** All other changed resources. */
  readonly resources: readonly ResourceChange[];
  /** What changes at the proxies, by node group. Empty unless it was asked for. */
  readonly envoy: readonly EnvoyChange[];
};

/**
 * - `closed`: it is rejected and has no last good version, so what it covers answers 500.
 * - `opened`: it was closed before.
 */
export type ChangeKind = 'added' | 'removed' | 'changed' | 'closed' | 'opened';

/** A changed resource. The place is the new one, and the old one of a removed resource. */
export type ResourceChange = Source & {
  readonly change: ChangeKind;
  readonly id: string;
  /** Empty for what is added or removed as a whole. */
  readonly fields: readonly FieldChange[];
};

/** Values are text in one line. A secret is never among them. Absent: the field is not set. */
export type FieldChange = {
  readonly field: string;
  readonly before?: string;
  readonly after?: string;
};

/**
 * A Mapping. Facts of one side are absent when it is not there, or closed, and behind the first
 * `MOST_FACTS`.
 */
export type RouteChange = ResourceChange & {
  readonly before?: RouteFacts;
  readonly after?: RouteFacts;
  /**
   * What its conditions on method, headers and query change for requests. At most `MOST_REQUESTS`.
   */
  readonly requests?: readonly RequestChange[];
  /** How many there are. */
  readonly requestCount?: number;
  /** What its requests must have, of which no value is known, so that none was tried. */
  readonly untried?: readonly string[];
};

/** Requests that another Mapping serves than before. `before` or `after` is absent without one. */
export type RequestChange = {
  readonly host: string;
  readonly path: string;
  /** Such as `method POST` and `without header x-tenant`. Absent: all of them. */
  readonly conditions?: readonly string[];
  readonly before?: ServedBy;
  readonly after?: ServedBy;
};

/** What serves a request, and what decides about it. */
export type ServedBy = {
  /** Id of a Mapping. */
  readonly route: string;
  readonly to: string;
  /** Empty at proxies where no Filters run. */
  readonly access: string;
  /** Names of the limits that may count it. */
  readonly limits: readonly string[];
};

export type RouteFacts = {
  readonly group: string;
  readonly host: string;
  /** `/user/*`, `/user` for the whole path, or `~ <expression>`. */
  readonly path: string;
  /** Further conditions, such as `method GET`. */
  readonly conditions: readonly string[];
  /** The service, or where clients are redirected to. */
  readonly to: string;
  /** What decides about its requests, one line for each part of its paths. */
  readonly access: readonly string[];
  /** Names of the limits that may count its requests. */
  readonly limits: readonly string[];
};

/**
 * - `lost`: a Filter no longer decides, and none takes its place.
 * - `opened`: what was closed passes without a Filter.
 * - `replaced`: another Filter decides.
 * - `changed`: the same Filters decide in another way, such as with another scope.
 * - `gained`: a Filter decides where none did, or one more.
 * - `closed`: it answers 500.
 */
export type AccessEffect = 'lost' | 'opened' | 'replaced' | 'changed' | 'gained' | 'closed';

export type AccessChange = {
  readonly effect: AccessEffect;
  /** Globs of a FilterPolicy, or those of a Mapping. */
  readonly host: string;
  readonly path: string;
  /** Further conditions on its requests, such as `method POST`. Absent: none. */
  readonly conditions?: readonly string[];
  readonly before: Access;
  readonly after: Access;
  /** Ids of Mappings that serve such requests after the change. At most `SHOWN_ROUTES`. */
  readonly routes: readonly string[];
  /** How many there are. */
  readonly routeCount: number;
};

export const MOST_ACCESS = 1_000;
export const MOST_FACTS = 1_000;
/** Of one Mapping. */
export const MOST_REQUESTS = 20;

/** The number of routes that an AccessChange or a LimitChange names. */
export const SHOWN_ROUTES = 5;

/** What decides about a request. */
export type Access = {
  readonly decision: 'open' | 'closed' | 'filters';
  /** The Filters in their order, `<namespace>/<name>` and what the rule asks of them. */
  readonly filters: readonly string[];
  /** The rule or the Mapping that says so. Absent: no rule matches. */
  readonly by?: string;
};

/** A limit. `looser`: more requests pass than before, or none is counted any more. */
export type LimitChange = Source & {
  readonly change: 'added' | 'removed' | 'changed';
  readonly looser: boolean;
  readonly name: string;
  /** The RateLimit. */
  readonly id: string;
  readonly before?: string;
  readonly after?: string;
  /** Ids of Mappings whose requests it may count. At most `SHOWN_ROUTES`. */
  readonly routes: readonly string[];
  readonly routeCount: number;
};

/** One resource of Envoy. */
export type EnvoyChange = {
  readonly group: string;
  /** Such as `Cluster user` or `VirtualHost shop.example.com`. */
  readonly resource: string;
  /** Hunks of a unified diff of its YAML. */
  readonly patch: string;
};
