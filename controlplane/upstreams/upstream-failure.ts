import {
  EXT_AUTHZ_CLUSTER,
  LOG_CLUSTER,
  RATE_LIMIT_CLUSTER,
  TRACING_CLUSTER,
} from '#controlplane/compile/clusters/reserved-clusters.ts';
import type {
  UpstreamCounts,
  UpstreamFailure,
  UpstreamFigures,
} from '#controlplane/figures/figures.ts';
import { formatHostPort } from '#grpc/host-port.ts';
import { ipVersion } from '#resources/words/ip-address.ts';
import type { Failure, Few } from './failure.ts';
import type { Evidence, Known } from './known.ts';
import type { Upstream } from './upstream.ts';

/** Requests that reach an instance this long after the last failure, in ms, end it. */
const ENDS_MS = 8_000;

/** Outlier detection tries an instance that it has taken out again after 30 s by default. */
const SOME_END_MS = 40_000;

/** An instance that outlier detection has let back is tried within this time, in ms. */
const TRIED_MS = 10_000;

/** After this time, in ms, a failure that no request has repeated is no longer told. */
export const FORGOTTEN_MS = 15 * 60_000;

/** Returns why requests do not reach a service now, or undefined when nothing says so. */
export function upstreamFailure(
  known: Known,
  { figures, missing }: Evidence,
  now: number,
): Failure | undefined {
  const { upstream } = known;
  // Another instances file may have instances of a name that one of them has none of.
  const isEmpty = (figures?.members ?? 0) === 0;
  if (missing !== undefined && upstream.discovered !== undefined && isEmpty)
    return { kind: 'unknown', reason: missing };
  if (figures === undefined || figures.proxies === 0) return undefined;
  if (figures.members === 0) return withoutMembers(upstream, figures);
  return (
    unreached(known, figures, now) ??
    unchecked(upstream, figures) ??
    broken(known, figures, now) ??
    silent(known, now) ??
    refused(known, now) ??
    allLate(known) ??
    ill(known, now) ??
    someFailing(known, now)
  );
}

function withoutMembers(
  { discovered, hosts }: Upstream,
  { last15Minutes }: UpstreamFigures,
): Failure | undefined {
  if (discovered !== undefined) return { kind: 'empty', name: discovered };
  const name = hosts.find(({ host }) => ipVersion(host) === 0)?.host;
  if (name === undefined) return undefined;
  const reason = last15Minutes.updateFailures > 0 ? 'the lookup failed' : 'the answer was empty';
  return { kind: 'dns', host: name, reason };
}

/** A failure lasts until requests reach an instance, however long none is made. */
function unreached(known: Known, figures: UpstreamFigures, now: number): Failure | undefined {
  const { failedAt, few, servedAt, trouble, upstream } = known;
  if (failedAt === undefined || now - failedAt > FORGOTTEN_MS) return undefined;
  const isOfSome = trouble?.failure.kind === 'some connect';
  const isServed =
    servedAt !== undefined && servedAt - failedAt > (isOfSome ? SOME_END_MS : ENDS_MS);
  if (isServed && !(isOfSome && isOut(known, now))) return undefined;
  const isNew = failedAt === now || trouble === undefined;
  if (!isNew && isOfConnections(trouble.failure)) return amongFew(trouble.failure, few);
  const last = lastUnreached(figures);
  const where = {
    address: addressOf(upstream, last),
    ...(last === undefined ? {} : { reason: last.text }),
  };
  if (isOfTls(upstream, figures, last)) return { kind: 'tls', ...where, ...subjectOf(upstream) };
  const someServe = servedAt !== undefined && failedAt - servedAt < ENDS_MS;
  return someServe
    ? amongFew({ kind: 'some connect', ...where }, few)
    : { kind: 'connect', ...where };
}

function amongFew(failure: ConnectionFailure, few: Known['few']): Failure {
  if (failure.kind !== 'some connect') return failure;
  const { few: _, ...rest } = failure;
  return { ...rest, ...countOf(few) };
}

/** Outlier detection lets instances back again and again, so the fewest are remembered. */
export function fewHealthy(
  before: Known['few'],
  { healthy, members }: UpstreamFigures,
  now: number,
): { readonly few: Known['few'] } {
  const isKnown = before?.members === members && now - before.at <= SOME_END_MS;
  if (!isFew({ healthy, members })) return { few: isKnown ? before : undefined };
  const fewest = isKnown ? Math.min(healthy, before.healthy) : healthy;
  return { few: { at: now, members, healthy: fewest } };
}

/** Below the half Envoy sends requests to all: see docs/how-to/health-checks.md. */
function isFew({ healthy, members }: Few): boolean {
  return members > 1 && 2 * healthy < members;
}

function countOf(few: Few | undefined): { readonly few?: Few } {
  return few === undefined ? {} : { few: { healthy: few.healthy, members: few.members } };
}

/** Whether only counts of the proxies tell a failure, so that its reason may be told later. */
export function isCounted(failure: Failure): boolean {
  return isOfConnections(failure) && failure.reason === undefined;
}

type ConnectionFailure = Extract<Failure, { readonly kind: 'connect' | 'some connect' | 'tls' }>;

function isOfConnections(failure: Failure): failure is ConnectionFailure {
  const { kind } = failure;
  return kind === 'connect' || kind === 'some connect' || kind === 'tls';
}

function isOfTls(
  { tls }: Upstream,
  { lastMinute }: UpstreamFigures,
  last: UpstreamFailure | undefined,
): boolean {
  if (tls === undefined) return false;
  return last === undefined ? lastMinute.tlsFailures > 0 : /tls|ssl|certificate/i.test(last.text);
}

/** Returns whether a request found no connection. `UF` is Envoy's flag for that. */
export function isUnreached({ flags }: UpstreamFailure): boolean {
  return flags.includes('UF');
}

/** Returns whether the connection of a request was closed, or its answer was no HTTP. */
export function isBroken({ flags }: UpstreamFailure): boolean {
  return flags.includes('UC') || flags.includes('UPE');
}

function lastUnreached({ lastFailure }: UpstreamFigures): UpstreamFailure | undefined {
  return lastFailure !== undefined && isUnreached(lastFailure) ? lastFailure : undefined;
}

/** A service that answers some requests is none of it, nor is one that fails otherwise since. */
function broken(
  { answeredAt, brokenAt, erredAt, trouble, upstream }: Known,
  { lastFailure }: UpstreamFigures,
  now: number,
): Failure | undefined {
  if (brokenAt === undefined || now - brokenAt > FORGOTTEN_MS) return undefined;
  if (answeredAt !== undefined && brokenAt - answeredAt < ENDS_MS) return undefined;
  if (erredAt !== undefined && erredAt - brokenAt > ENDS_MS) return undefined;
  if (trouble?.failure.kind === 'broken') return trouble.failure;
  if (lastFailure === undefined || !isBroken(lastFailure)) return undefined;
  const address = addressOf(upstream, lastFailure);
  const isTls = upstream.tls !== undefined;
  return { kind: 'broken', address, reason: lastFailure.text, isTls };
}

function addressOf({ cluster, hosts }: Upstream, failure: UpstreamFailure | undefined): string {
  if (failure?.upstream !== undefined) return failure.upstream;
  const [first, more] = hosts;
  return first === undefined || more !== undefined
    ? `an instance of "${cluster}"`
    : formatHostPort(first);
}

function subjectOf({ tls }: Upstream): { readonly subject?: string } {
  const [subject] = tls === undefined || tls === 'hop' ? [] : tls.subjects;
  return subject === undefined ? {} : { subject };
}

function unchecked(upstream: Upstream, figures: UpstreamFigures): Failure | undefined {
  const { healthy, members } = figures;
  if (healthy >= members || !failsChecks(upstream, figures)) return undefined;
  const count = { healthy, members };
  if (healthy > 0 && !isFew(count)) return { kind: 'some unhealthy' };
  return { kind: 'unhealthy', by: 'checks', ...(healthy > 0 ? { few: count } : {}) };
}

/** Of checks that are rarer than this, in ms, the last minute may have none. */
const RARE_MS = 30_000;

/** Whether it is the checks that say that instances are not healthy. */
function failsChecks(
  { checkMs = 0 }: Upstream,
  { last15Minutes, lastMinute }: UpstreamFigures,
): boolean {
  if (lastMinute.checkFailures > 0) return true;
  return checkMs > RARE_MS && last15Minutes.ejections === 0;
}

/** Fewer late requests are told by the counts of their Mapping alone. */
export const LEAST_LATE = 3;

export const NEARLY_ALL = 0.9;

/** Returns how many got no answer in time. That of a try or that of a whole request may end. */
export function lateOf({ late, timeouts }: UpstreamCounts): number {
  return Math.max(late, timeouts);
}

/** Returns whether nearly all of the newest requests got no answer in time. */
export function isAllLate({ last15Minutes, lastMinute }: UpstreamFigures): boolean {
  const newest = ended(lastMinute) === 0 ? last15Minutes : lastMinute;
  return lateOf(last15Minutes) >= LEAST_LATE && lateOf(newest) >= NEARLY_ALL * ended(newest);
}

/** A late request is told as a server error too, some seconds later. */
function ended(counts: UpstreamCounts): number {
  return counts.answers + Math.max(lateOf(counts), counts.serverErrors);
}

function allLate({ lateAt }: Known): Failure | undefined {
  const routes = [...(lateAt?.keys() ?? [])].sort();
  return routes.length === 0 ? undefined : { kind: 'late', routes };
}

const COLLECTORS: ReadonlySet<string> = new Set([LOG_CLUSTER, TRACING_CLUSTER]);

/** The services that proxies call by themselves. Their calls are in no log of requests. */
const CALLED: ReadonlySet<string> = new Set([EXT_AUTHZ_CLUSTER, RATE_LIMIT_CLUSTER, ...COLLECTORS]);

function silent(known: Known, now: number): Failure | undefined {
  const isSilent = goesOn(known.silentAt, known, now) && CALLED.has(known.upstream.cluster);
  return isSilent ? { kind: 'silent' } : undefined;
}

function refused(known: Known, now: number): Failure | undefined {
  const isRefused = goesOn(known.refusedAt, known, now) && COLLECTORS.has(known.upstream.cluster);
  return isRefused ? { kind: 'refused' } : undefined;
}

/** Only calls that succeed in time end it, however long none is made. */
function goesOn(seenAt: number | undefined, { answeredAt = 0 }: Known, now: number): boolean {
  return seenAt !== undefined && now - seenAt <= FORGOTTEN_MS && answeredAt <= seenAt;
}

/** Returns whether outlier detection has taken out all instances, or more than half. */
export function isIll(upstream: Upstream, figures: UpstreamFigures): boolean {
  const { healthy, members } = figures;
  const isOut = healthy === 0 || isFew({ healthy, members });
  return members > 0 && isOut && !failsChecks(upstream, figures);
}

/** Instances come back after some seconds, and are taken out again. Only success ends it. */
function ill({ few, illAt, trouble, wellAt = 0 }: Known, now: number): Failure | undefined {
  if (illAt === undefined || now - illAt > FORGOTTEN_MS || wellAt >= illAt) return undefined;
  const told = trouble?.failure;
  if (few === undefined && told?.kind === 'unhealthy' && told.by === 'requests') return told;
  return { kind: 'unhealthy', by: 'requests', ...(few?.healthy === 0 ? {} : countOf(few)) };
}

/** The instance is tried again after some time, and taken out again. */
function someFailing(known: Known, now: number): Failure | undefined {
  const { ejectedAt } = known;
  if (ejectedAt === undefined) return undefined;
  if (now - ejectedAt > SOME_END_MS && !isOut(known, now)) return undefined;
  return { kind: 'some failing' };
}

/** Whether an instance is out, or was so a moment ago. The operator says for how long it may be. */
function isOut({ outAt }: Known, now: number): boolean {
  return outAt !== undefined && now - outAt <= TRIED_MS;
}
