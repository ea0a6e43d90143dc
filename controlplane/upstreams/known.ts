import type {
  SampledRequest,
  UpstreamCounts,
  UpstreamFigures,
} from '#controlplane/figures/figures.ts';
import type { Failure, Few } from './failure.ts';
import type { Upstream } from './upstream.ts';

/** A failure of an upstream that lasts. */
export type Trouble = {
  readonly upstream: Upstream;
  /** As it was seen first. Its words stay while its kind stays, until its reason is known. */
  readonly failure: Failure;
  /** In ms since 1970. */
  readonly since: number;
};

/** What is known of one cluster. All times are in ms since 1970. */
export type Known = {
  readonly upstream: Upstream;
  /** Its content, to see when it is changed. */
  readonly definition: string;
  /** Until then counts may be about an earlier definition. */
  readonly lateUntil: number;
  /** Requests from before are about an earlier definition. */
  readonly definedAt: number;
  /** The newest failed request that was sampled, if it is about this definition. */
  readonly sampledAt: number;
  /** The counts of the last look. */
  readonly counts?: Counts;
  /** When connections were last seen to fail, and requests to reach an instance. */
  readonly failedAt?: number;
  readonly servedAt?: number;
  /** When outlier detection was last seen to have taken out all, and requests to succeed. */
  readonly illAt?: number;
  readonly wellAt?: number;
  /** The fewest healthy instances of late, and when fewer than half were last seen. */
  readonly few?: (Few & { readonly at: number }) | undefined;
  /** When requests were last seen to get an answer that is no HTTP, a good one, and an error. */
  readonly brokenAt?: number;
  readonly answeredAt?: number;
  readonly erredAt?: number;
  /** When nearly all calls were last seen to get no answer in time. */
  readonly silentAt?: number;
  /** When nearly all calls of a collector were last seen to be answered with an error. */
  readonly refusedAt?: number;
  /** When outlier detection was last seen to take out an instance. */
  readonly ejectedAt?: number;
  /** When an instance was last seen not to be healthy. */
  readonly outAt?: number;
  /** When nearly all requests of a route were last seen to be late. */
  readonly lateAt?: ReadonlyMap<string, number>;
  readonly trouble?: Trouble;
  /** Another failure that may follow on the one that is told. */
  readonly next?: { readonly what: string; readonly since: number };
};

export type Counts = { readonly failures: number } & Pick<
  UpstreamCounts,
  'requests' | 'answers' | 'serverErrors' | 'late' | 'timeouts' | 'ejections' | 'failedCalls'
>;

export type Evidence = {
  /** What the proxies see. Undefined: no figures of it. */
  readonly figures: UpstreamFigures | undefined;
  /** Sampled requests, if any were late. */
  readonly requests: readonly SampledRequest[];
  /** Returns whether a route, which has the id of a resource, is in force. */
  isInForce(route: string): boolean;
  /** What the discovery service says of the name, if it does not know it. */
  readonly missing: string | undefined;
};
