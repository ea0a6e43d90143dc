import { escapeControls } from '#controlplane/rollout/problems.ts';
import type { Label, LabelPattern, PatternLabel } from '#resources/labels/label-pattern.ts';
import { conclusion } from './conclusion.ts';
import { filterSection } from './explained-filters-text.ts';
import type { AppliedLimit, ExplainedLimit, OtherLimit } from './explained-limits.ts';
import type {
  ExplainedGroup,
  ExplainedRateLimits,
  RateLimitCase,
} from './explained-rate-limits.ts';
import type { Target } from './explained-route.ts';
import type { Explanation } from './explanation.ts';
import { HTTP1_METHODS } from './http1-methods.ts';
import { placeText } from './place.ts';
import { plain } from './plain.ts';
import type { HeaderChange, SentRequest } from './sent-request.ts';

/** This many limits that do not apply are shown, unless all are asked for. */
const MOST_OTHERS = 10;

/** Formats the explanation for people: a section for each part, then the conclusion. */
export function describe(explanation: Explanation, all = false): string {
  const sections = [
    requestSection(explanation),
    listenerSection(explanation),
    routeSection(explanation),
    targetSection(explanation),
    sentSection(explanation),
    filterSection(explanation, all),
    externalSection(explanation),
    rateLimitSections(explanation, all),
    conclusion(explanation),
  ];
  return `${sections.flat().map(escapeControls).join('\n')}\n`;
}

function requestSection({ request }: Explanation): readonly string[] {
  const { method, host, path, nodeGroup, clientAddress, tls, upgrade } = request;
  return [
    'Request',
    `  ${method} ${path}`,
    `  host ${plain(host)}, from ${clientAddress}, to the proxies of node group ${nodeGroup}`,
    ...(tls === undefined ? [] : [`  over TLS of ${placeText(tls)}`]),
    ...(HTTP1_METHODS.has(method)
      ? []
      : [`  over HTTP/1.1 it is answered 400: Envoy reads no method ${plain(method)} there`]),
    ...(upgrade === undefined
      ? []
      : [`  to switch to ${plain(upgrade)}, which filters and limits decide about like any other`]),
  ];
}

function listenerSection({ listener }: Explanation): readonly string[] {
  if (listener === undefined) return [];
  const { asks, others, sets } = listener;
  return [
    'Filters of the listener, before the route is chosen',
    ...asks.map(askedText),
    ...(sets.length === 0 ? [] : [`  they may set ${sets.join(', ')}, which no client may send`]),
    ...others.map(other => `  by what they set, the route may be ${placeText(other)}`),
  ];
}

function externalSection({ asks = [] }: Explanation): readonly string[] {
  return asks.length === 0 ? [] : ['Behind the Filters', ...asks.map(askedText)];
}

function askedText(cluster: string): string {
  return `  ${cluster} is asked whether it may pass (ExternalAuth)`;
}

function routeSection({ nearest = [], route }: Explanation): readonly string[] {
  const misses = nearest.map(miss => `  not ${placeText(miss)}: ${miss.reasons.join(', and ')}`);
  if (route !== undefined)
    return ['Route', `  ${placeText(route)}, virtual host ${route.domains.join(', ')}`];
  return ['Route', '  none', ...misses];
}

function targetSection({ route }: Explanation): readonly string[] {
  const { copies = [], targets = [] } = route ?? {};
  const alsoTo = copies.length === 0 ? [] : ['Copies', ...copies.map(shareText)];
  if (targets.length === 0) return [];
  if (targets.length === 1)
    return ['Target cluster', ...targets.map(({ cluster }) => `  ${cluster}`), ...alsoTo];
  return ['Target clusters', ...targets.map(shareText), ...alsoTo];
}

function sentSection({ route, sent }: Explanation): readonly string[] {
  if (sent !== undefined) return sentLines(sent, '');
  return (route?.targets ?? []).flatMap(({ cluster, of, sent }) =>
    sent === undefined ? [] : sentLines(sent, `, at ${cluster}, ${placeText(of)}`),
  );
}

function sentLines(sent: SentRequest, where: string): readonly string[] {
  const { answerWithin, host, idle, path, requestHeaders, responseHeaders, retries, retryOn } =
    sent;
  return [
    `The service gets${where}`,
    `  ${path}, host ${plain(host)}`,
    ...requestHeaders.map(change => `  ${headerText(change)}`),
    `  an answer ${answerWithin === undefined ? 'may begin at any time' : `must begin within ${answerWithin}`}${
      idle === undefined ? '' : `, and a stream may rest for ${idle}`
    }`,
    retries === 0
      ? '  no retry'
      : `  ${retries} ${retries === 1 ? 'retry' : 'retries'}: ${retryOn.join(', ')}`,
    ...(responseHeaders.length === 0 ? [] : [`The client gets${where}`]),
    ...responseHeaders.map(change => `  ${headerText(change)}`),
  ];
}

function headerText({ append, name, value }: HeaderChange): string {
  if (value === undefined) return `no ${plain(name)}`;
  return `${plain(name)}: ${plain(value)}${append === true ? ' (beside one that is there)' : ''}`;
}

function shareText({ cluster, of, percent }: Target): string {
  return `  ${percentText(percent)}  ${cluster}, ${placeText(of)}`;
}

function percentText(percent: number): string {
  return `${Number(percent.toFixed(1))} %`.padStart(7);
}

function rateLimitSections({ rateLimits }: Explanation, all: boolean): readonly string[] {
  if (rateLimits === undefined) return [];
  const { cases, domains, otherDomains, service } = rateLimits;
  const note =
    service === undefined
      ? []
      : [
          `  ${placeText(service)} is asked, at ${service.address}. This is what the built-in service would decide`,
        ];
  const unasked = otherDomains.map(
    other =>
      `  not ${count(other.limits)} of domain ${plain(other.domain)}: requests are labelled in ${domainsOf(domains)}`,
  );
  return [...note, ...cases.flatMap(one => caseSections(one, rateLimits, all)), ...unasked];
}

function count(limits: number): string {
  return limits === 1 ? 'the limit' : `the ${limits} limits`;
}

function caseSections(one: RateLimitCase, { cases, domains }: ExplainedRateLimits, all: boolean) {
  const where = cases.length > 1 ? `, at ${one.clusters.join(', ')}` : '';
  const others = all ? one.others : one.others.slice(0, MOST_OTHERS);
  const left = one.others.length - others.length;
  return [
    ...labelSections(one.groups, domains, where),
    `Limits${where}`,
    ...(one.applied.length === 0 ? ['  none applies'] : one.applied.flatMap(appliedLines)),
    ...others.flatMap(otherLines),
    ...(left > 0 ? [`  … and ${left} more that do not apply (--all shows them)`] : []),
  ];
}

/** Formats a section for each domain in which the request has labels. */
function labelSections(
  groups: readonly ExplainedGroup[],
  domains: readonly string[],
  where: string,
) {
  const byDomain = Map.groupBy(groups, ({ domain }) => domain);
  if (byDomain.size === 0)
    return [`Labels in domain ${domains.map(plain).join(' and ')}${where}`, '  none'];
  return [...byDomain].flatMap(([domain, own]) => [
    `Labels in domain ${plain(domain)}${where}`,
    ...own.map(groupLine),
  ]);
}

function groupLine(group: ExplainedGroup): string {
  if ('missingHeader' in group)
    return `  ${plain(group.name)}: left out, because the header ${group.missingHeader} is missing`;
  return `  ${plain(group.name)}: ${group.labels.map(labelText).join(', ')}`;
}

function labelText({ key, value }: Label): string {
  return `${plain(key)}=${plain(value)}`;
}

function appliedLines(limit: AppliedLimit): readonly string[] {
  const { requestHeaders, responseHeaders } = limit;
  return [
    `  ${limitText(limit)}`,
    `    applies to ${limit.groups.map(plain).join(', ')}, by its pattern ${patternText(limit.pattern)}`,
    `    ${limit.rate} per ${limit.unit}, ${limit.action}`,
    ...requestHeaders.map(({ name, value }) => `    adds to the request ${name}: ${plain(value)}`),
    ...responseHeaders.map(
      ({ name, value }) => `    adds to the response ${name}: ${plain(value)}`,
    ),
  ];
}

function otherLines(limit: OtherLimit): readonly string[] {
  return [
    `  not ${limitText(limit)}`,
    `    of pattern ${patternText(limit.pattern)}: ${limit.reason}`,
  ];
}

function limitText(limit: ExplainedLimit): string {
  return `${plain(limit.name)}: ${limit.resource} (${limit.file}:${limit.line}, ${limit.field})`;
}

/** Formats the pattern as the operator writes it. */
function patternText(pattern: LabelPattern): string {
  return `[${pattern.map(itemText).join(', ')}]`;
}

function itemText(item: PatternLabel): string {
  return `{${item.map(({ key, value = '*' }) => `${plain(key)}: ${plain(value)}`).join(', ')}}`;
}

function domainsOf(domains: readonly string[]): string {
  return `the domain${domains.length === 1 ? '' : 's'} ${domains.map(plain).join(' and ')}`;
}
