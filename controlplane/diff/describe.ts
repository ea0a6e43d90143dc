import { describeProblem, escapeControls, withoutAlike } from '#controlplane/rollout/problems.ts';
import { formatSource } from '#resources/resource.ts';
import { accessLines, routesText, whenText } from './describe-access.ts';
import type {
  ChangeKind,
  Difference,
  FieldChange,
  LimitChange,
  ResourceChange,
  RouteChange,
  RouteFacts,
  ServedBy,
} from './difference.ts';

/** Whether anything differs. */
export function isDifferent(difference: Difference): boolean {
  const { isPartial, accessCount: _, ...lists } = difference;
  return isPartial || Object.values(lists).some(list => list.length > 0);
}

/**
 * Returns the difference in words: one change a line, with details below it. A line with `!` tells
 * of requests that pass more easily than before. Envoy's configuration comes first.
 */
export function describe(difference: Difference): string {
  const { access, accessCount, isPartial, routes, limits, resources, problems, solved, envoy } =
    difference;
  const more = accessCount - access.length;
  const lines = [
    ...section('Access', [
      ...(isPartial ? [`! ${PARTIAL}`] : []),
      ...access.flatMap(accessLines),
      ...(more === 0 ? [] : [`and ${more} more`]),
    ]),
    ...section('Routes', routes.flatMap(routeLines)),
    ...section('Limits', limits.flatMap(limitLines)),
    ...section('Other resources', resources.flatMap(resourceLines)),
    ...section('Problems that it brings', withoutAlike(problems).map(describeProblem)),
    ...section('Problems that it solves', withoutAlike(solved).map(describeProblem)),
    summary(difference),
  ];
  return [
    ...envoy.map(({ patch }) => patch),
    ...lines.map(line => `${escapeControls(line)}\n`),
  ].join('');
}

const PARTIAL =
  'NOT ALL was tried, since routes of Gateways change very many hosts and paths. A loss of a Filter may be missing here: compare fewer resources at a time';

function section(title: string, lines: readonly string[]): readonly string[] {
  return lines.length === 0 ? [] : [title, ...lines.map(line => `  ${line}`)];
}

const SIGNS: Readonly<Record<ChangeKind, string>> = {
  added: '+',
  removed: '-',
  changed: '~',
  closed: '-',
  opened: '+',
};

const NOTES: Readonly<Partial<Record<ChangeKind, string>>> = {
  closed: ': is rejected, and what it covers answers 500',
  opened: ': was rejected, and comes into force',
};

function routeLines(route: RouteChange): readonly string[] {
  const { before, after, change, fields } = route;
  const shown = after ?? before;
  const facts = shown === undefined ? '' : `: ${factsText(shown)}`;
  const others = fields.filter(({ field }) => !TOLD.has(field));
  return [
    `${SIGNS[change]} ${titleOf(route)}${NOTES[change] ?? facts}`,
    ...(before === undefined || after === undefined ? [] : factLines(before, after)),
    ...others.map(fieldLine),
    ...requestLines(route),
  ];
}

/** Fields that `factLines` tells. */
const TOLD: ReadonlySet<string> = new Set([
  'host',
  'prefix',
  'prefix_exact',
  'service',
  'node_group',
]);

function factsText({ group, host, path, conditions, to, access, limits }: RouteFacts): string {
  const where = group === 'edge' ? '' : `at ${group}, `;
  const decided = group === 'edge' ? [access.join('; '), limitsText(limits)] : [];
  return [`${where}${host} ${path}${whenText(conditions)} to ${to}`, ...decided].join(', ');
}

function limitsText(limits: readonly string[]): string {
  return limits.length === 0 ? 'no limit' : `limits ${limits.join(', ')}`;
}

function factLines(before: RouteFacts, after: RouteFacts): readonly string[] {
  const pairs: readonly [what: string, before: string, after: string][] = [
    ['node group', before.group, after.group],
    ['requests', `${before.host} ${before.path}`, `${after.host} ${after.path}`],
    ['to', before.to, after.to],
    ['decided by', before.access.join(', '), after.access.join(', ')],
    ['limits', before.limits.join(', '), after.limits.join(', ')],
  ];
  return pairs
    .filter(([, was, is]) => was !== is)
    .map(([what, was, is]) => `    ${what}: ${was || 'none'} -> ${is || 'none'}`);
}

function requestLines({ requests = [], requestCount = 0, untried = [] }: RouteChange) {
  const more = requestCount - requests.length;
  return [
    ...requests.map(
      ({ host, path, conditions = [], before, after }) =>
        `    requests ${host} ${path}${whenText(conditions)}: ${servedText(before)} -> ${servedText(after)}`,
    ),
    ...(more === 0 ? [] : [`    and ${more} more`]),
    ...untried.map(name => `    requests with ${name} are not tried: its expression is intricate`),
  ];
}

function servedText(served: ServedBy | undefined): string {
  if (served === undefined) return 'no route (404)';
  const { route, to, access, limits } = served;
  const decided = access === '' ? [] : [access, limitsText(limits)];
  return [`${route.replace('/', ' ')} to ${to}`, ...decided].join(', ');
}

function limitLines(limit: LimitChange): readonly string[] {
  const { change, looser, name, before, after, id, file, line } = limit;
  const sign = looser ? '!' : SIGNS[change];
  const what = looser ? ': MORE REQUESTS PASS' : '';
  return [
    `${sign} ${name} of ${titleOf({ id, file, line })}${what}`,
    `    ${[before ?? 'no limit', after ?? 'no limit'].join(' -> ')}`,
    `    ${routesText('counts', limit)}`,
  ];
}

function resourceLines(resource: ResourceChange): readonly string[] {
  const { change, fields } = resource;
  return [`${SIGNS[change]} ${titleOf(resource)}${NOTES[change] ?? ''}`, ...fields.map(fieldLine)];
}

function fieldLine({ field, before = 'not set', after = 'not set' }: FieldChange): string {
  return `    ${field}: ${before} -> ${after}`;
}

function titleOf({ id, ...source }: Pick<ResourceChange, 'id' | 'file' | 'line'>): string {
  const where = formatSource(source);
  const [kind = '', namespace = '', ...name] = id.split('/');
  return `${kind} ${namespace}/${name.join('/')}${where === '' ? '' : ` (${where})`}`;
}

/** Returns one line with what counts most in it. */
function summary({
  access,
  accessCount,
  isPartial,
  routes,
  limits,
  resources,
  problems,
  envoy,
}: Difference): string {
  const lost = access.filter(({ effect }) => effect === 'lost' || effect === 'opened').length;
  const looser = limits.filter(limit => limit.looser).length;
  const errors = problems.filter(({ severity }) => severity === 'error').length;
  const parts = [
    ...(isPartial ? ['NOT ALL tried'] : []),
    ...(lost === 0 ? [] : [`${count(lost, 'LOSS', 'LOSSES')} of a Filter`]),
    ...(accessCount === lost ? [] : [`${count(accessCount - lost, 'other change')} of access`]),
    ...(looser === 0 ? [] : [`${count(looser, 'LOOSER limit')}`]),
    ...(limits.length === looser
      ? []
      : [`${count(limits.length - looser, 'other change')} of limits`]),
    ...(routes.length === 0 ? [] : [`${count(routes.length, 'changed route')}`]),
    ...(resources.length === 0 ? [] : [count(resources.length, 'other changed resource')]),
    ...(errors === 0 ? [] : [count(errors, 'new error')]),
    ...(envoy.length === 0 ? [] : [`${count(envoy.length, 'changed resource')} of Envoy`]),
  ];
  return parts.length === 0 ? 'no difference' : parts.join(', ');
}

function count(number: number, what: string, many = `${what}s`): string {
  return `${number} ${number === 1 ? what : many}`;
}
