import type { UpstreamFigures } from '#controlplane/figures/figures.ts';
import type { Failure } from './failure.ts';
import type { Evidence, Known, Trouble } from './known.ts';
import type { Upstream } from './upstream.ts';
import { isAllLate, isCounted, isIll, lastUnreached, upstreamFailure } from './upstream-failure.ts';

/**
 * A failure that lasts for this time, in ms, is told. A deploy, or a service that has just started,
 * has shorter ones.
 */
const LASTS_MS: Readonly<Record<Failure['kind'], number>> = {
  dns: 5_000,
  connect: 5_000,
  'some connect': 20_000,
  tls: 5_000,
  unknown: 3_000,
  empty: 10_000,
  unhealthy: 5_000,
  late: 5_000,
  'some unhealthy': 10_000,
};

/** Proxies push what they counted before a change of the cluster within this time, in ms. */
const LATE_MS = 8_000;
/** They use the earlier definition for this time, in ms. */
const CHANGE_MS = 1_000;

/**
 * Returns what is known when these are the clusters since `now`. One that has changed has no
 * trouble yet.
 */
export function define(
  before: readonly Known[],
  upstreams: readonly Upstream[],
  now: number,
): readonly Known[] {
  const known = new Map(before.map(each => [keyOf(each.upstream), each]));
  return upstreams.map(upstream => {
    const earlier = known.get(keyOf(upstream));
    if (earlier?.upstream === upstream) return earlier;
    const definition = definitionOf(upstream);
    if (earlier === undefined) return { upstream, definition, lateUntil: now, sampledAt: now };
    return earlier.definition === definition
      ? { ...earlier, upstream }
      : { upstream, definition, lateUntil: now + LATE_MS, sampledAt: now + CHANGE_MS };
  });
}

function keyOf({ group, statName }: Upstream): string {
  return `${group} ${statName}`;
}

/** Who uses a cluster does not count. */
function definitionOf({ origins: _, ...content }: Upstream): string {
  return JSON.stringify(content);
}

/** Returns what is known of a cluster after one more look at it. */
export function look(before: Known, evidence: Evidence, now: number): Known {
  const known = { ...before, ...countsOf(before, evidence.figures, now) };
  const failure = upstreamFailure(known, evidence, now);
  const { next: _next, trouble: _trouble, ...rest } = known;
  return failure === undefined ? rest : { ...rest, ...follow(before, failure, now) };
}

/** What is told stays told until another failure has lasted, so the log does not flap. */
function follow(before: Known, failure: Failure, now: number): Pick<Known, 'trouble' | 'next'> {
  const { next, trouble, upstream } = before;
  const { kind } = failure;
  if (trouble === undefined) return { trouble: { upstream, failure, since: now } };
  if (isExplained(trouble.failure, failure)) return { trouble: { ...trouble, upstream, failure } };
  if (trouble.failure.kind === kind) return { trouble: { ...trouble, upstream } };
  const changed = { trouble: { ...trouble, upstream, failure } };
  if (lasting([before], now).length === 0) return changed;
  const since = next?.kind === kind ? next.since : now;
  return now - since >= LASTS_MS[kind] ? changed : { trouble, next: { kind, since } };
}

/** Whether a failure says why what the proxies count fails. It must not last longer to be told. */
function isExplained(counted: Failure, failure: Failure): boolean {
  if (!isCounted(counted) || !('reason' in failure)) return false;
  return LASTS_MS[failure.kind] <= LASTS_MS[counted.kind];
}

/** Counts slide, so only their growth between two looks says that something happened. */
function countsOf(
  { counts: before, lateUntil, sampledAt }: Known,
  figures: UpstreamFigures | undefined,
  now: number,
): Partial<Known> {
  const {
    answers = 0,
    connectFailures = 0,
    late = 0,
    requests = 0,
    serverErrors = 0,
    tlsFailures = 0,
  } = figures?.last15Minutes ?? {};
  const failures = connectFailures + tlsFailures;
  const counts = { failures, requests, answers, serverErrors, late };
  const at = figures === undefined ? 0 : (lastUnreached(figures)?.at ?? 0);
  const seen = {
    counts,
    ...(figures !== undefined && isIll(figures) ? { illAt: now } : {}),
    ...(at > sampledAt ? { failedAt: now, sampledAt: at } : {}),
  };
  if (before === undefined || now < lateUntil) return seen;
  const isServed = requests > before.requests;
  const isLate = figures !== undefined && isAllLate(figures);
  const hasFailed = serverErrors > before.serverErrors || late > before.late;
  return {
    ...(failures > before.failures ? { failedAt: now } : {}),
    ...(isServed ? { servedAt: now } : {}),
    ...(isServed && !hasFailed ? { wellAt: now } : {}),
    ...(isLate && late > before.late ? { allLateAt: now } : {}),
    ...(!isLate && answers > before.answers ? { inTimeAt: now } : {}),
    ...seen,
  };
}

/**
 * Returns the troubles that have lasted long enough to be told. While others serve, an instance
 * must have failed again and again.
 */
export function lasting(known: readonly Known[], now: number): readonly Trouble[] {
  return known.flatMap(({ failedAt = now, trouble }) => {
    if (trouble === undefined) return [];
    const { failure, since } = trouble;
    const seen = failure.kind === 'some connect' ? failedAt : now;
    return seen - since >= LASTS_MS[failure.kind] ? [trouble] : [];
  });
}
