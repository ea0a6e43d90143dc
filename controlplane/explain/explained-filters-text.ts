import { EDGE } from '#controlplane/compile/node-groups.ts';
import { isGatewayGroup } from '#resources/words/gateway-group.ts';
import type { AskedService } from './asked-service.ts';
import { decisionCacheLines } from './explained-decision-cache.ts';
import type { ExplainedFilters } from './explained-filters.ts';
import type {
  ExplainedFilter,
  ExplainedInstead,
  ExplainedLogin,
  ExplainedOrigin,
} from './explained-filters-chain.ts';
import type { Applies } from './explained-filters-condition.ts';
import type { ExplainedEndpoint } from './explained-filters-endpoint.ts';
import type { ExplainedRule, MissedRule, PathReading } from './explained-filters-rule.ts';
import { tokenLines } from './explained-tokens.ts';
import type { Explanation } from './explanation.ts';
import { placeText } from './place.ts';
import { plain } from './plain.ts';

/**
 * Formats the filters' part of an explanation for people. With `all` it has the earlier rules that
 * do not match.
 */
export function filterSection(
  { filters, request, route }: Explanation,
  all: boolean,
): readonly string[] {
  if (filters !== undefined) return ['Filters', ...linesOf(filters, all)];
  const { nodeGroup } = request;
  if (route === undefined || nodeGroup === EDGE || isGatewayGroup(nodeGroup)) return [];
  return ['Filters', `  none runs in node group ${nodeGroup}, because they run at the edge alone`];
}

function linesOf(filters: ExplainedFilters, all: boolean): readonly string[] {
  switch (filters.decision) {
    case 'off':
      return [`  off: ${filters.reason}`];
    case 'malformed':
      return [`  ${filters.reason}`];
    case 'endpoint':
      return endpointLines(filters);
    case 'ambiguous':
      return filters.readings.flatMap(readingLines);
    case 'allowed':
      return [
        ...allowedLines(filters.rule),
        ...earlierLines(filters.earlier, all),
        askedLine(filters.service),
      ];
    case 'closed':
      return [
        `  ${ruleText(filters.rule)}`,
        ...filters.reasons.map(reason => `    closed: ${reason}`),
        ...earlierLines(filters.earlier, all),
      ];
    case 'chain':
      return [
        `  ${ruleText(filters.rule)}`,
        ...filters.chain.flatMap(filter => filterLines(filter, '    ')),
        ...decisionCacheLines(filters.decisionCache),
        ...tokenLines(filters.tokens),
        ...earlierLines(filters.earlier, all),
      ];
  }
}

const ENDPOINTS: Readonly<Record<ExplainedEndpoint['endpoint'], string>> = {
  callback: "  the gateway's own callback, where logins come back from the provider",
  login: "  the gateway's own login, for which the provider asks who logs in",
  logout: "  the gateway's own logout",
  unknown: "  a path of the gateway's own, of which there is no page",
};

function endpointLines({ endpoint, filters, requestOrigin }: ExplainedEndpoint): readonly string[] {
  const owners = filters.map(filter => `    of ${placeText(filter)}, ${originText(filter.origin)}`);
  return [
    ENDPOINTS[endpoint],
    ...(owners.length === 0 ? [`    of no Filter: none protects ${requestOrigin}`] : owners),
  ];
}

function readingLines({ path, rule }: PathReading): readonly string[] {
  return [`  read as ${plain(path)}`, `    ${rule === undefined ? 'no rule' : ruleText(rule)}`];
}

function allowedLines(rule: ExplainedRule | undefined): readonly string[] {
  if (rule === undefined) return ['  no rule matches: the request is allowed'];
  return [`  ${ruleText(rule)}`, '    no filters: the request is allowed'];
}

function askedLine({ asked, reason }: AskedService): string {
  return `  the Filter service is ${asked ? '' : 'not '}asked: ${reason}`;
}

function earlierLines(earlier: readonly MissedRule[], all: boolean): readonly string[] {
  if (all) return earlier.map(rule => `  not ${ruleText(rule)}: ${rule.reason}`);
  if (earlier.length === 0) return [];
  const rules = earlier.length === 1 ? '1 rule' : `${earlier.length} rules`;
  return [`  … and ${rules} tried before without a match (--all shows them)`];
}

/** The precedence is shown where it is not the default. */
function ruleText({ field, host, path, precedence, target, ...place }: ExplainedRule): string {
  if (target !== undefined) return `${placeText(place, field)}, for ${plain(target)}`;
  const order = precedence === 0 ? '' : `, precedence ${precedence}`;
  return `${placeText(place, field)}, host ${plain(host)}, path ${plain(path)}${order}`;
}

/** `margin` is the indentation of each line. */
function filterLines(filter: ExplainedFilter, margin: string): readonly string[] {
  const { grantType, injects, login, onAllow, onDeny, scope, type } = filter;
  const kind = grantType === undefined ? type : `${type} ${grantType}`;
  const inner = `${margin}  `;
  return [
    `${margin}${placeText(filter)}, ${kind}, ${appliesText(filter)}`,
    `${inner}onDeny ${onDeny}, onAllow ${onAllow}`,
    ...(scope.length === 0 ? [] : [`${inner}scope ${scope.map(plain).join(', ')}`]),
    ...(injects.length === 0 ? [] : [`${inner}may set ${injects.map(plain).join(', ')}`]),
    ...(login === undefined ? [] : loginLines(login, inner)),
  ];
}

const APPLIES: Readonly<Record<Applies['applies'], string>> = {
  yes: 'runs',
  no: 'is skipped',
  depends: 'may run',
};

function appliesText({ applies, reason }: Applies): string {
  return reason === undefined ? APPLIES[applies] : `${APPLIES[applies]}: ${reason}`;
}

function loginLines(login: ExplainedLogin, margin: string): readonly string[] {
  const { insteadOfRedirect, origin, requestOrigin, sameSite } = login;
  if (origin === undefined)
    return [`${margin}${requestOrigin} is no protected origin: the filter answers 403`];
  return [
    `${margin}${originText(origin)}`,
    ...(sameSite === undefined ? [] : [`${margin}sameSite ${sameSite}`]),
    ...insteadLines(insteadOfRedirect, login.canLogIn, margin),
  ];
}

function originText({ configured, holdsLogin, origin }: ExplainedOrigin): string {
  const own = origin === configured ? '' : `, as ${origin}`;
  return `protected origin ${configured}${own}${holdsLogin ? '' : ', whose logins another origin holds'}`;
}

function insteadLines(
  instead: ExplainedInstead | undefined,
  canLogIn: boolean,
  margin: string,
): readonly string[] {
  const without = `${margin}without a session`;
  const otherwise = canLogIn
    ? 'is sent to log in'
    : 'is answered 401, since it does not ask for a page';
  if (instead === undefined) return [`${without} it ${otherwise}`];
  const { applies, filters = [], status } = instead;
  const decides = status === undefined ? 'these filters decide' : `it is answered ${status}`;
  const condition = `insteadOfRedirect ${appliesText(instead)}`;
  if (applies === 'no') return [`${without} it ${otherwise} (${condition})`];
  return [
    `${without} ${decides}${applies === 'depends' ? `, or ${otherwise}` : ''} (${condition})`,
    ...filters.flatMap(filter => filterLines(filter, `${margin}  `)),
  ];
}
