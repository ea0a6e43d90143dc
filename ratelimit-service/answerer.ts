import type { Logger } from 'pino';
import { refusalLog } from '#process/refusal-log.ts';
import type { SpanAttributes, Traces } from '#process/traces/traces.ts';
import type { Label } from '#resources/labels/label-pattern.ts';
import { type CounterStore, StoreUnavailable } from './counter-store.ts';
import { type Decision, decide, type InvalidRequest } from './decide.ts';
import { inTime } from './in-time.ts';
import type { LimitStatus } from './judge.ts';
import type { Limit } from './limit.ts';
import { type LimitCounters, limitCounters } from './limit-counters.ts';
import type { Compiled } from './limit-set.ts';
import type { LimitOutcome } from './limit-tallies.ts';
import type { LimitIndex } from './limits-index.ts';
import type { Metrics } from './metrics.ts';
import { planHits } from './plan.ts';
import { refuseUncounted } from './refuse-uncounted.ts';
import type { TemplateFailure } from './render.ts';
import type { RateLimitRequest } from './request.ts';
import { TopKeys } from './top-keys.ts';
import { OVER_LIMIT, type RateLimitResponse } from './wire.ts';

/** Why there is no decision, as a gRPC status. The client may see the message. */
export type Failed = {
  readonly failed: 'INVALID_ARGUMENT' | 'UNAVAILABLE' | 'INTERNAL';
  readonly message: string;
};

export type AnswererParts = {
  readonly store: CounterStore;
  readonly metrics: Metrics;
  readonly log: Logger;
  /** Milliseconds since the epoch. */
  now(): number;
  /** Milliseconds that never go back. */
  uptime(): number;
  /** Undefined when decisions are not traced. */
  readonly traces?: Traces | undefined;
};

/**
 * While the store fails, one line is logged in this time, in ms. A line for each request would fill
 * the log.
 */
const STORE_QUIET_MS = 60_000;

/** Limits in one answer to an operator. */
const MOST_LIMITS = 1_000;

const NOT_READY: Failed = {
  failed: 'UNAVAILABLE',
  message: 'no limits have come from the control plane yet',
};

/** Answers requests by the limits in force, and reports them to metrics and the log. */
export class Answerer {
  readonly #parts: AnswererParts;
  #index: LimitIndex | undefined;
  /** Templates that have failed since the limits changed. */
  readonly #failed = new Set<string>();
  readonly #top = new TopKeys();
  #limits: readonly Limit[] = [];
  readonly #logStore: (fields: object, message: string) => void;

  constructor(parts: AnswererParts) {
    this.#parts = parts;
    this.#logStore = refusalLog(parts.log, parts.uptime, STORE_QUIET_MS);
  }

  /**
   * Returns why no request is answered yet.
   * @returns undefined when requests are answered
   */
  get notReady(): string | undefined {
    return this.#index === undefined ? NOT_READY.message : undefined;
  }

  /** Puts these limits in force. */
  use({ index, limits, owners }: Compiled): void {
    this.#index = index;
    this.#limits = limits;
    this.#failed.clear();
    this.#parts.metrics.limits(limits.map(({ name }) => name));
    this.#parts.metrics.owners(owners);
    this.#parts.log.info({ limits: limits.length }, 'limits are in force');
  }

  /**
   * Answers one request. Never throws and never rejects. `requestId` is the proxy's, for error
   * templates alone. Waits for the store for `storeMs` at most.
   */
  answer(
    request: RateLimitRequest,
    requestId: string,
    storeMs?: number,
  ): RateLimitResponse | Failed | Promise<RateLimitResponse | Failed> {
    const { store, uptime } = this.#parts;
    const index = this.#index;
    if (index === undefined) return this.#fail(NOT_READY);
    const uncounted = () => refuseUncounted(index, request, requestId, this.#parts.now());
    try {
      const decision = decide(index, store, request, requestId, this.#top);
      if (!(decision instanceof Promise)) return this.#conclude(decision);
      const asked = uptime();
      return (storeMs === undefined ? decision : inTime(storeMs, decision)).then(
        late => this.#counted(asked, late),
        error => this.#storeFailed(asked, error, uncounted),
      );
    } catch (error) {
      return this.#caught(error, uncounted);
    }
  }

  /** Returns what is known of each limit's counters, with at most so many keys. */
  counters(most: number, now: number): readonly LimitCounters[] {
    const tallies = this.#parts.metrics.tallies();
    return this.#limits
      .slice(0, MOST_LIMITS)
      .map(limit =>
        limitCounters(
          limit,
          tallies.get(limit.name),
          this.#top.of(limit.counter, now).slice(0, most),
        ),
      );
  }

  /**
   * Lets the counters of a label group begin again at 0. Returns how many limits they are of.
   * Rejects with StoreUnavailable.
   */
  async reset(domain: string, entries: readonly Label[]): Promise<number> {
    if (this.#index === undefined) return 0;
    const request = { domain, descriptors: [{ entries }], hits_addend: 0 };
    const { hits } = planHits(request, this.#index);
    await this.#parts.store.reset(hits);
    this.#top.reset(hits);
    return hits.length;
  }

  #counted(asked: number, decision: Decision): RateLimitResponse | Failed {
    const { metrics, uptime } = this.#parts;
    metrics.storeAnswered((uptime() - asked) / 1000, true);
    return this.#conclude(decision);
  }

  #storeFailed(
    asked: number,
    error: unknown,
    uncounted: () => Decision | undefined,
  ): RateLimitResponse | Failed {
    const { metrics, uptime } = this.#parts;
    metrics.storeAnswered((uptime() - asked) / 1000, false);
    return this.#caught(error, uncounted);
  }

  #conclude(decision: Decision | InvalidRequest): RateLimitResponse | Failed {
    if ('invalid' in decision)
      return this.#fail({ failed: 'INVALID_ARGUMENT', message: decision.invalid });
    const { metrics, traces } = this.#parts;
    traces?.annotate(spanAttributes(decision));
    for (const { statuses } of decision.verdict.groups)
      for (const status of statuses) metrics.decided(status.limit.name, outcomeOf(status));
    for (const failure of decision.failures) {
      metrics.templateFailed(failure.limit);
      this.#logFailure(failure);
    }
    metrics.answered(decision.response.overall_code === OVER_LIMIT ? 'OVER_LIMIT' : 'OK');
    return decision.response;
  }

  /**
   * Logs each template once, so that clients cannot fill the log. The metric counts every failure.
   */
  #logFailure({ limit, field, header, error }: TemplateFailure): void {
    const template = JSON.stringify([limit, field, header]);
    if (this.#failed.has(template)) return;
    this.#failed.add(template);
    this.#parts.log.warn(
      { limit, field, header, reason: error },
      'a template failed (logged once)',
    );
  }

  #caught(error: unknown, uncounted: () => Decision | undefined): RateLimitResponse | Failed {
    if (error instanceof StoreUnavailable) {
      this.#logStore({ reason: error.message }, 'limits cannot be counted (logged once a minute)');
      const refusal = uncounted();
      if (refusal !== undefined) return this.#conclude(refusal);
      return this.#fail({ failed: 'UNAVAILABLE', message: error.message });
    }
    this.#parts.log.error({ err: error }, 'a decision failed');
    return this.#fail({ failed: 'INTERNAL', message: 'internal error, see the log' });
  }

  #fail(failure: Failed): Failed {
    this.#parts.metrics.answered(failure.failed);
    return failure;
  }
}

/** The labels of a request are told to nobody. */
function spanAttributes({ response, verdict }: Decision): SpanAttributes {
  const statuses = verdict.groups.flatMap(group => group.statuses);
  const exceeded = statuses.find(status => status.exceeded);
  return {
    'gateway.outcome': response.overall_code === OVER_LIMIT ? 'OVER_LIMIT' : 'OK',
    ...(exceeded === undefined ? {} : { 'gateway.limit': exceeded.limit.name }),
  };
}

function outcomeOf({ exceeded, near, limit }: LimitStatus): LimitOutcome {
  if (exceeded) return limit.action === 'Enforce' ? 'over_limit' : 'over_limit_log_only';
  return near ? 'near_limit' : 'within_limit';
}
