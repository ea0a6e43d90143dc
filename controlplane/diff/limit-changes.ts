import { hasTargets } from '#controlplane/gateway-api/targeted-policies.ts';
import type { PolicyTarget } from '#resources/kinds/gateway-api/policy-target.ts';
import type { Limit } from '#resources/kinds/rate-limit/rate-limit-spec.ts';
import type { LabelAlternative, LabelPattern } from '#resources/labels/label-pattern.ts';
import type { Resource } from '#resources/resource.ts';
import { type LimitChange, SHOWN_ROUTES } from './difference.ts';
import type { RouteRegion } from './gateway-world.ts';
import type { NamedLimit, RouteLimits } from './route-limits.ts';

/** The limits of one side, and the Mappings and parts of routes of Gateways there. */
export type LimitWorld = {
  readonly limits: RouteLimits;
  readonly mappings: readonly Resource<'Mapping'>[];
  readonly regions: readonly RouteRegion[];
};

/** Returns the limits that differ. Of one name the first of each side are compared. */
export function limitChanges(before: LimitWorld, after: LimitWorld): readonly LimitChange[] {
  const was = byName(before);
  const is = byName(after);
  const names = [...new Set([...was.keys(), ...is.keys()])].sort();
  const changes = names.flatMap(name => {
    const [old, next] = [was.get(name), is.get(name)];
    const texts = { before: old && textOf(old), after: next && textOf(next) };
    if (texts.before === texts.after) return [];
    const loses =
      old !== undefined &&
      next !== undefined &&
      (losesRule(old, next, before, after) || losesLabels(old, next, after));
    return [changeOf(name, { old, next, texts, loses }, next === undefined ? before : after)];
  });
  return changes.sort((a, b) => Number(b.looser) - Number(a.looser));
}

function byName({ limits }: LimitWorld): ReadonlyMap<string, NamedLimit> {
  return new Map(limits.all.map(limit => [limit.name, limit] as const).reverse());
}

type Pair = {
  readonly old: NamedLimit | undefined;
  readonly next: NamedLimit | undefined;
  readonly texts: { readonly before: string | undefined; readonly after: string | undefined };
  /**
   * Whether a rule of a route that stays is no longer among its targets, or some of the labels that
   * it matched are counted no more.
   */
  readonly loses: boolean;
};

function losesRule(
  { of: old }: NamedLimit,
  { of: next }: NamedLimit,
  before: LimitWorld,
  after: LimitWorld,
): boolean {
  if (!hasTargets(old) || !hasTargets(next)) return false;
  const now = after.limits.rulesOf(next);
  return [...before.limits.rulesOf(old)].some(
    ([rule, counted]) => counted && now.get(rule) === false,
  );
}

/** The places of limits without a name change, so another one may count the same now. */
function losesLabels(old: NamedLimit, next: NamedLimit, { limits }: LimitWorld): boolean {
  if (hasTargets(old.of) || hasTargets(next.of)) return hasTargets(old.of) !== hasTargets(next.of);
  const counts = ({ limit, of }: NamedLimit) =>
    of.spec.domain === old.of.spec.domain && covers(limit.pattern, old.limit.pattern);
  const isKept = (each: NamedLimit) =>
    !hasTargets(each.of) && counts(each) && !isLooser(old.limit, each.limit);
  return !counts(next) && !limits.all.some(isKept);
}

/** Whether a pattern matches each label group that another one does. */
function covers(wide: LabelPattern, narrow: LabelPattern): boolean {
  return wide.every((item, index) => {
    const isMet = ({ key, value }: LabelAlternative) =>
      item.some(each => each.key === key && (each.value ?? value) === value);
    return narrow[index]?.every(isMet) === true;
  });
}

function changeOf(name: string, { old, next, texts, loses }: Pair, world: LimitWorld): LimitChange {
  const shown = next ?? old;
  if (shown === undefined) throw new Error('a limit of neither side');
  const ofGateways = world.regions.filter(({ id }) => world.limits.mayCountRoute(shown, id));
  const mappings = world.mappings.filter(mapping => world.limits.mayCount(shown, mapping));
  const counted = [...new Set([...mappings, ...ofGateways].map(({ id }) => id))];
  return {
    change: old === undefined ? 'added' : next === undefined ? 'removed' : 'changed',
    looser: loses || isLooser(old?.limit, next?.limit),
    name,
    id: shown.of.id,
    ...shown.of.source,
    ...(texts.before === undefined ? {} : { before: texts.before }),
    ...(texts.after === undefined ? {} : { after: texts.after }),
    routes: counted.slice(0, SHOWN_ROUTES),
    routeCount: counted.length,
  };
}

const SECONDS = { second: 1, minute: 60, hour: 3_600, day: 86_400 } as const;

/** A limit of another unit is looser when more requests pass in the long run. */
function isLooser(before: Limit | undefined, after: Limit | undefined): boolean {
  if (before === undefined) return false;
  if (after === undefined) return true;
  if (before.action === 'Enforce' && after.action === 'LogOnly') return true;
  return after.rate / SECONDS[after.unit] > before.rate / SECONDS[before.unit];
}

function textOf({ limit, of }: NamedLimit): string {
  const { rate, unit, action, pattern } = limit;
  const labels = pattern.map(item =>
    item.map(({ key, value }) => `${key}: ${value ?? 'any'}`).join(' or '),
  );
  const whole = `${rate} per ${unit}, ${action}, in domain ${of.spec.domain}, for [${labels.join(', ')}]`;
  const to = targetsText(of.spec.targetRefs ?? []);
  const more = limit.errorResponse === undefined ? '' : ', with an answer of its own';
  return whole + to + more;
}

function targetsText(targets: readonly PolicyTarget[]): string {
  const texts = targets.map(({ kind, name, sectionName }) =>
    [kind, name, ...(sectionName === undefined ? [] : [sectionName])].join(' '),
  );
  return texts.length === 0 ? '' : `, to ${texts.join(' or ')}`;
}
