import type { UpstreamFigures } from '#controlplane/figures/figures.ts';
import { describeProblem, escapeControls, withoutAlike } from '#controlplane/rollout/problems.ts';
import type { CertificateStatus } from '#controlplane/status/certificates.ts';
import type { ProxyStatus, Status } from '#controlplane/status/status.ts';
import { isAllLate, isBroken } from '#controlplane/upstreams/upstream-failure.ts';
import { count } from './validate-output.ts';

/** What `/figures` tells of clusters. `on` is false when proxies push none. */
export type SeenUpstreams = {
  readonly on: boolean;
  readonly upstreams: readonly UpstreamFigures[];
};

export type ViewInputs = {
  readonly status: Status;
  /** Undefined where the control plane is older than `/figures`. */
  readonly figures: SeenUpstreams | undefined;
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** The most lines of a section. */
  readonly rows: number;
  /** Whether rates are shown, which are new each time. */
  readonly rates: boolean;
};

/** Returns the lines of `gateway status --watch`. What needs attention comes first. */
export function statusView({ status, figures, now, rows, rates }: ViewInputs): readonly string[] {
  const section = (title: string, lines: readonly string[]) => cutSection(title, lines, rows);
  return [
    summaryOf(status),
    ...section('Proxies', proxyLines(status.proxies)),
    ...section('Upstreams', figures === undefined ? [] : upstreamLines(figures, rates)),
    ...section(
      'Certificates',
      (status.certificates ?? []).map(each => certificateLine(each, now)),
    ),
    ...section('Problems', withoutAlike(errorsFirst(status.problems)).map(describeProblem)),
  ].map(escapeControls);
}

function cutSection(title: string, lines: readonly string[], rows: number): readonly string[] {
  if (lines.length === 0) return [];
  const shown = lines.slice(0, rows).map(line => `  ${line}`);
  const more = lines.length - shown.length;
  return [title, ...shown, ...(more > 0 ? [`  and ${more} more`] : [])];
}

/** Returns one line that says whether all is well. */
export function summaryOf({ ready, reason, resources, problems, proxies }: Status): string {
  const states = [...Map.groupBy(resources, ({ state }) => state)];
  const words = [...Map.groupBy(proxies, wordOf)].sort(([a], [b]) => RANK[a] - RANK[b]);
  const errors = problems.filter(({ severity }) => severity === 'error').length;
  return [
    ready ? 'ready' : `not ready: ${reason}`,
    states.map(([state, all]) => `${all.length} ${state}`).join(', ') || 'no resources',
    words.map(([word, all]) => `${all.length} ${word}`).join(', ') || 'no proxies',
    `${count(errors, 'error')}, ${count(problems.length - errors, 'warning')}`,
  ].join(' | ');
}

type ProxyWord = 'in sync' | 'behind' | 'rejecting';

const RANK: Readonly<Record<ProxyWord, number>> = { rejecting: 0, behind: 1, 'in sync': 2 };

/** Returns the one word for a proxy. */
export function wordOf({ standing }: ProxyStatus): ProxyWord {
  if (standing === 'settled') return 'in sync';
  return standing === 'rejected' ? 'rejecting' : 'behind';
}

function proxyLines(proxies: readonly ProxyStatus[]): readonly string[] {
  const ranked = [...proxies].sort(
    (a, b) => RANK[wordOf(a)] - RANK[wordOf(b)] || (a.node < b.node ? -1 : 1),
  );
  return ranked.map(proxy => {
    const nack = proxy.types.find(({ nack }) => nack !== undefined);
    const why = nack === undefined ? '' : `, its ${nack.type}: ${nack.nack}`;
    return `${wordOf(proxy).padEnd(10)}${proxy.node} (${proxy.group})${why}`;
  });
}

function upstreamLines({ on, upstreams }: SeenUpstreams, rates: boolean): readonly string[] {
  if (!on) return ['unknown: the proxies push no figures (FIGURES)'];
  const ranked = [...upstreams].sort(
    (a, b) => Number(isFailing(b)) - Number(isFailing(a)) || (a.cluster < b.cluster ? -1 : 1),
  );
  return ranked.map(upstream => {
    const { cluster, group, members, healthy, lastMinute, lastFailure } = upstream;
    const word = (isFailing(upstream) ? 'failing' : 'healthy').padEnd(10);
    const rate = rates
      ? `, ${(lastMinute.requests / 60).toFixed(1)}/s, ${count(lastMinute.serverErrors, 'error')}`
      : '';
    const why =
      isFailing(upstream) && lastFailure !== undefined ? `, last: ${lastFailure.text}` : '';
    return `${word}${cluster} (of ${group}), ${healthy} of ${members} instances${rate}${why}`;
  });
}

/** Whether none of its instances can be reached or answers rightly in time, or some fail. */
function isFailing(upstream: UpstreamFigures): boolean {
  const { members, healthy, lastFailure, lastMinute } = upstream;
  const { answers, connectFailures, noHealthy, serverErrors, tlsFailures } = lastMinute;
  const isUnreached = members === 0 || connectFailures + tlsFailures + noHealthy > 0;
  const breaks = lastFailure !== undefined && isBroken(lastFailure);
  const isAllBroken = breaks && answers === 0 && serverErrors > 0;
  return healthy < members || isUnreached || isAllBroken || isAllLate(upstream);
}

const DAY_MS = 86_400_000;

function certificateLine(
  { hostname, host, source, facts }: CertificateStatus,
  now: number,
): string {
  const of = `${hostname} (${host})`;
  if (source === 'authority') return `renewed   ${of}, by the built-in authority`;
  if (source === 'acme') return `renewed   ${of}, by its ACME authority`;
  if (facts === undefined)
    return `in files  ${of}: see sds_certificate_seconds_left of the discovery service`;
  const days = Math.floor((Date.parse(facts.notAfter) - now) / DAY_MS);
  const left = days < 0 ? 'expired' : count(days, 'day');
  return `${left.padEnd(10)}${of}, until ${facts.notAfter.slice(0, 10)}, issuer ${facts.issuer}`;
}

/** Otherwise the order stays. */
export function errorsFirst(problems: Status['problems']): Status['problems'] {
  const errors = problems.filter(({ severity }) => severity === 'error');
  return [...errors, ...problems.filter(({ severity }) => severity !== 'error')];
}
