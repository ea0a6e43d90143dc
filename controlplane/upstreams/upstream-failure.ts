import type {
  UpstreamCounts,
  UpstreamFailure,
  UpstreamFigures,
} from '#controlplane/figures/figures.ts';
import { formatHostPort } from '#grpc/host-port.ts';
import { ipVersion } from '#resources/words/ip-address.ts';
import type { Failure } from './failure.ts';
import type { Evidence, Known } from './known.ts';
import type { Upstream } from './upstream.ts';

/** Requests that reach an instance this long after the last failure, in ms, end it. */
const ENDS_MS = 8_000;

/** Outlier detection tries an instance that it has taken out again after 30 s at most. */
const SOME_END_MS = 40_000;

/** After this time, in ms, a failure that no request has repeated is no longer told. */
const FORGOTTEN_MS = 15 * 60_000;

/** Returns why requests do not reach a service now, or undefined when nothing says so. */
export function upstreamFailure(
  known: Known,
  { figures, missing }: Evidence,
  now: number,
): Failure | undefined {
  const { upstream } = known;
  if (missing !== undefined && upstream.discovered !== undefined)
    return { kind: 'unknown', reason: missing };
  if (figures === undefined || figures.proxies === 0) return undefined;
  if (figures.members === 0) return withoutMembers(upstream, figures);
  return (
    unreached(known, figures, now) ?? unchecked(figures) ?? allLate(known, now) ?? ill(known, now)
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
function unreached(
  { failedAt, servedAt, trouble, upstream }: Known,
  figures: UpstreamFigures,
  now: number,
): Failure | undefined {
  if (failedAt === undefined || now - failedAt > FORGOTTEN_MS) return undefined;
  const ends = trouble?.failure.kind === 'some connect' ? SOME_END_MS : ENDS_MS;
  if (servedAt !== undefined && servedAt - failedAt > ends) return undefined;
  const isNew = failedAt === now || trouble === undefined;
  if (!isNew && isOfConnections(trouble.failure)) return trouble.failure;
  const last = lastUnreached(figures);
  const where = {
    address: addressOf(upstream, last),
    ...(last === undefined ? {} : { reason: last.text }),
  };
  if (isOfTls(upstream, figures, last)) return { kind: 'tls', ...where, ...subjectOf(upstream) };
  const someServe = servedAt !== undefined && failedAt - servedAt < ENDS_MS;
  return { kind: someServe ? 'some connect' : 'connect', ...where };
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

/** Envoy's flag for a connection that failed. */
const CONNECTION_FAILED = 'UF';

/** Returns the last failed request of a cluster, if it found no connection. */
export function lastUnreached({ lastFailure }: UpstreamFigures): UpstreamFailure | undefined {
  return lastFailure?.flags.includes(CONNECTION_FAILED) === true ? lastFailure : undefined;
}

function addressOf({ cluster, hosts }: Upstream, failure: UpstreamFailure | undefined): string {
  if (failure?.upstream !== undefined) return failure.upstream;
  const [first, more] = hosts;
  return first === undefined || more !== undefined
    ? `an instance of "${cluster}"`
    : formatHostPort(first);
}

function subjectOf({ tls }: Upstream): { readonly subject?: string } {
  return tls === undefined || tls === 'hop' ? {} : { subject: tls.subject };
}

function unchecked({ healthy, lastMinute, members }: UpstreamFigures): Failure | undefined {
  if (healthy >= members || lastMinute.checkFailures === 0) return undefined;
  return healthy === 0 ? { kind: 'unhealthy', by: 'checks' } : { kind: 'some unhealthy' };
}

/** Fewer late requests are told by the counts of their Mapping alone. */
const LEAST_LATE = 3;

const NEARLY_ALL = 0.9;

/** Returns whether nearly all of the newest requests got no answer in time. */
export function isAllLate({ last15Minutes, lastMinute }: UpstreamFigures): boolean {
  const { late } = last15Minutes;
  const newest = ended(lastMinute) === 0 ? last15Minutes : lastMinute;
  return late >= LEAST_LATE && newest.late >= NEARLY_ALL * ended(newest);
}

/** A late request is told as a server error too, some seconds later. */
function ended({ answers, late, serverErrors }: UpstreamCounts): number {
  return answers + Math.max(late, serverErrors);
}

/** Without requests nothing has changed. Only answers in time end it. */
function allLate({ allLateAt, inTimeAt = 0 }: Known, now: number): Failure | undefined {
  if (allLateAt === undefined || now - allLateAt > FORGOTTEN_MS || inTimeAt > allLateAt)
    return undefined;
  return { kind: 'late' };
}

/** Returns whether outlier detection has taken out all instances. */
export function isIll({ healthy, lastMinute, members }: UpstreamFigures): boolean {
  return members > 0 && healthy === 0 && lastMinute.checkFailures === 0;
}

/** Instances come back after some seconds, and are taken out again. Only success ends it. */
function ill({ illAt, wellAt = 0 }: Known, now: number): Failure | undefined {
  if (illAt === undefined || now - illAt > FORGOTTEN_MS || wellAt >= illAt) return undefined;
  return { kind: 'unhealthy', by: 'requests' };
}
