import { isReadableTarget, type PolicyTarget } from '#resources/kinds/gateway-api/policy-target.ts';
import { type Glob, parseGlob } from '#resources/match/glob.ts';
import { commonText, globCovers } from '#resources/match/glob-relation.ts';
import type { ReadableRule, Rejected, Resource } from '#resources/resource.ts';

/** A FilterPolicy, or what could be read of one that is rejected. */
type Policy = Resource | Rejected;

/**
 * Returns what a FilterPolicy covers beyond another version of it that is in force in its place.
 * What could not be read is left out, or one typo would close a whole site.
 * @returns undefined when that is nothing
 */
export function uncoveredPart(policy: Policy, inForce: Policy): Rejected | undefined {
  const [own, other] = [reachOf(policy), reachOf(inForce)];
  const isProtected = protectedBy(other.rules);
  const rules = own.rules
    .filter(isReadable)
    .filter(rule => closes(rule) && !isProtected(rule))
    .map(({ host, path }) => ({ host, path }));
  const targets = own.targets
    .filter(isReadableTarget)
    .filter(target => !other.targets.some(each => isFor(each, target)));
  if (rules.length + targets.length === 0) return undefined;
  const { kind, namespace, name, id, source } = policy;
  return { kind, namespace, name, id, source, rules, ...(targets.length > 0 && { targets }) };
}

type Rule = ReadableRule & { readonly filters?: readonly unknown[] };
type Reach = { readonly rules: readonly Rule[]; readonly targets: readonly PolicyTarget[] };

function reachOf(policy: Policy): Reach {
  if (policy.kind !== 'FilterPolicy') return { rules: [], targets: [] };
  if (!('spec' in policy)) return { rules: policy.rules ?? [], targets: policy.targets ?? [] };
  return { rules: policy.spec.rules, targets: policy.spec.targetRefs ?? [] };
}

/** Whether Filters decide, as far as is known. Those of a rejected policy are not. */
function closes({ filters }: Rule): boolean {
  return filters?.length !== 0;
}

function isReadable(rule: Rule): rule is Rule & Required<ReadableRule> {
  return rule.host !== undefined && rule.path !== undefined;
}

/**
 * Returns what tells whether requests of a rule stay as they are under these rules. They do when
 * the same host and path stand here, or when what matches them first runs Filters.
 */
function protectedBy(rules: readonly Rule[]): (rule: Required<ReadableRule>) => boolean {
  const readable = rules.filter(isReadable);
  const same = new Set(readable.map(keyOf));
  const globs = readable.map(rule => ({ ...globsOf(rule), closes: closes(rule) }));
  return rule => {
    if (same.has(keyOf(rule))) return true;
    const own = globsOf(rule);
    const meeting = globs.filter(each => areRelated(each, own, meets));
    const whole = meeting.findIndex(each => areRelated(each, own, globCovers));
    return whole !== -1 && meeting.slice(0, whole + 1).every(each => each.closes);
  };
}

type Globs = { readonly host: Glob; readonly path: Glob };

function globsOf({ host, path }: Required<ReadableRule>): Globs {
  return { host: parseGlob(host), path: parseGlob(path) };
}

function areRelated(a: Globs, b: Globs, hold: (a: Glob, b: Glob) => boolean): boolean {
  return hold(a.path, b.path) && hold(a.host, b.host);
}

function meets(a: Glob, b: Glob): boolean {
  return commonText(a, b) !== undefined;
}

function keyOf({ host, path }: Required<ReadableRule>): string {
  return `${host} ${path}`;
}

/** Whether a target is the other one, or all of what that is a section of. */
function isFor(target: PolicyTarget, other: PolicyTarget): boolean {
  const { group, kind, name, sectionName } = target;
  return (
    group === other.group &&
    kind === other.kind &&
    name === other.name &&
    (sectionName === undefined || sectionName === other.sectionName)
  );
}
