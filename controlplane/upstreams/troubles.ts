import type { UpstreamFigures } from '#controlplane/figures/figures.ts';
import type { Failure } from './failure.ts';
import type { Counts, Evidence, Known, Trouble } from './known.ts';
import { lateRoutes } from './late-routes.ts';
import type { Upstream } from './upstream.ts';
import {
  fewHealthy,
  isBroken,
  isCounted,
  isIll,
  isUnreached,
  NEARLY_ALL,
  upstreamFailure,
} from './upstream-failure.ts';

/**
 * A failure that lasts for this time, in ms, is told. A deploy, or a service that has just started,
 * has shorter ones.
 */
const LASTS_MS: Readonly<Record<Failure['kind'], number>> = {
  dns: 5_000,
  connect: 5_000,
  'some connect': 20_000,
  tls: 5_000,
  broken: 5_000,
  unknown: 3_000,
  empty: 10_000,
  unhealthy: 5_000,
  silent: 5_000,
  refused: 5_000,
  late: 5_000,
  'some unhealthy': 10_000,
  'some failing': 20_000,
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
    if (earlier === undefined) return { upstream, definition, lateUntil: now, ...sampledFrom(now) };
    return earlier.definition === definition
      ? { ...earlier, upstream }
      : { upstream, definition, lateUntil: now + LATE_MS, ...sampledFrom(now + CHANGE_MS) };
  });
}

function sampledFrom(at: number): Pick<Known, 'definedAt' | 'sampledAt'> {
  return { definedAt: at, sampledAt: at };
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
  const known = {
    ...before,
    ...countsOf(before, evidence.figures, now),
    lateAt: lateRoutes(before, evidence, now),
  };
  const failure = upstreamFailure(known, evidence, now);
  const { next: _next, trouble: _trouble, ...rest } = known;
  return failure === undefined ? rest : { ...rest, ...follow(before, failure, now) };
}

/** What is told stays told until another failure has lasted, so the log does not flap. */
function follow(before: Known, failure: Failure, now: number): Pick<Known, 'trouble' | 'next'> {
  const { next, trouble, upstream } = before;
  const what = identityOf(failure);
  if (trouble === undefined) return { trouble: { upstream, failure, since: now } };
  if (isExplained(trouble.failure, failure)) return { trouble: { ...trouble, upstream, failure } };
  if (identityOf(trouble.failure) === what) return { trouble: { ...trouble, upstream } };
  const changed = { trouble: { ...trouble, upstream, failure } };
  if (lasting([before], now).length === 0) return changed;
  const since = next?.what === what ? next.since : now;
  if (now - since >= LASTS_MS[failure.kind]) return changed;
  return { trouble: { ...trouble, upstream }, next: { what, since } };
}

/** Reasons and addresses differ from request to request, so they make no other failure. */
function identityOf(failure: Failure): string {
  const few = 'few' in failure ? failure.few : undefined;
  const routes = 'routes' in failure ? failure.routes : undefined;
  return JSON.stringify([failure.kind, few, routes]);
}

/** Whether a failure says why what the proxies count fails. It must not last longer to be told. */
function isExplained(counted: Failure, failure: Failure): boolean {
  if (!isCounted(counted) || !('reason' in failure)) return false;
  return LASTS_MS[failure.kind] <= LASTS_MS[counted.kind];
}

/** Counts slide, so only their growth between two looks says that something happened. */
function countsOf(
  { counts: before, few, lateUntil, sampledAt, upstream }: Known,
  figures: UpstreamFigures | undefined,
  now: number,
): Partial<Known> {
  const {
    answers = 0,
    connectFailures = 0,
    ejections = 0,
    failedCalls = 0,
    late = 0,
    requests = 0,
    serverErrors = 0,
    timeouts = 0,
    tlsFailures = 0,
  } = figures?.last15Minutes ?? {};
  const failures = connectFailures + tlsFailures;
  const counts = {
    ...{ failures, requests, answers, serverErrors, late, timeouts, ejections, failedCalls },
  };
  const last = figures?.lastFailure;
  const isNew = last !== undefined && last.at > sampledAt;
  const seen = {
    counts,
    ...(figures === undefined ? {} : fewHealthy(few, figures, now)),
    ...(figures !== undefined && isIll(upstream, figures) ? { illAt: now } : {}),
    ...(figures !== undefined && figures.healthy < figures.members ? { outAt: now } : {}),
    ...(isNew ? { sampledAt: last.at } : {}),
    ...(isNew && isUnreached(last) ? { failedAt: now } : {}),
    ...(isNew && isBroken(last) ? { brokenAt: now } : {}),
  };
  if (before === undefined || now < lateUntil) return seen;
  const isServed = requests > before.requests;
  const hasFailed = serverErrors > before.serverErrors || late > before.late;
  return {
    ...(failures > before.failures ? { failedAt: now } : {}),
    ...(isServed ? { servedAt: now } : {}),
    ...(isServed && !hasFailed ? { wellAt: now } : {}),
    ...(answers > before.answers ? { answeredAt: now } : {}),
    ...(isSilent(before, counts) ? { silentAt: now } : {}),
    ...(isRefused(before, counts) ? { refusedAt: now } : {}),
    ...(ejections > before.ejections ? { ejectedAt: now } : {}),
    ...(serverErrors > before.serverErrors ? { erredAt: now } : {}),
    ...seen,
  };
}

/** Whether nearly all calls between two looks got no answer in time. */
function isSilent(before: Counts, { answers, timeouts }: Counts): boolean {
  const late = timeouts - before.timeouts;
  return late > 0 && late >= NEARLY_ALL * (late + answers - before.answers);
}

/** Whether nearly all answers between two looks were errors, which are among the answers. */
function isRefused(before: Counts, { answers, failedCalls }: Counts): boolean {
  const failed = failedCalls - before.failedCalls;
  return failed > 0 && failed >= NEARLY_ALL * (answers - before.answers);
}

/**
 * Returns the troubles that have lasted long enough to be told. An instance beside others must have
 * failed again and again, and so must one that accepts connections.
 */
export function lasting(known: readonly Known[], now: number): readonly Trouble[] {
  return known.flatMap(({ brokenAt, ejectedAt, failedAt, refusedAt, silentAt, trouble }) => {
    if (trouble === undefined) return [];
    const { failure, since } = trouble;
    const again: Partial<Record<Failure['kind'], number | undefined>> = {
      'some connect': failedAt,
      'some failing': ejectedAt,
      broken: brokenAt,
      silent: silentAt,
      refused: refusedAt,
    };
    const seen = again[failure.kind] ?? now;
    return seen - since >= LASTS_MS[failure.kind] ? [trouble] : [];
  });
}
