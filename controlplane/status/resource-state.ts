import { isClosedMapping } from '#controlplane/compile/routes/closed-route.ts';
import { closedResource } from '#controlplane/rollout/problems.ts';
import { effective, opened, type Rollout } from '#controlplane/rollout/rollout.ts';
import type { Problem } from '#resources/problem.ts';
import type { Rejected, Resource } from '#resources/resource.ts';

/**
 * The state of a resource.
 * - `in force`: the proxies run what is written.
 * - `trying`: they have not answered yet.
 * - `last good`: an older version is in force, since the written one has an error.
 * - `closed`: it cannot be served, so what it covers, or a part of it, answers 500.
 * - `out of service`: it has no effect. It cannot be served and closes nothing, it is a policy that
 *   counts for none of its targets, a RateLimit that no request can meet, a Gateway or
 *   ListenerSet that is not served, a route that no listener takes, or one of our services has it
 *   and cannot work with it, as without its provider.
 */
export type ResourceState = 'in force' | 'trying' | 'last good' | 'closed' | 'out of service';

export type StateFacts = {
  readonly rollout: Rollout;
  /** Ids whose older version is in force because the written one has an error. */
  readonly kept: ReadonlySet<string>;
  /** Ids that services report as not working. */
  readonly outOfService: ReadonlySet<string>;
  /** The Problems that the compiler found between resources. */
  readonly compiled: readonly Problem[];
};

/**
 * An error in one of these that shows only beside other resources closes what the resource covers.
 */
const CLOSING_KINDS: ReadonlySet<string> = new Set([
  'Filter',
  'FilterPolicy',
  'Host',
  'Listener',
  'Mapping',
  'TLSContext',
]);

/**
 * Where an error closes what a resource covers, in kinds of which other errors do not. The place in
 * a list is left out.
 */
const CLOSING_FIELDS: Readonly<Record<string, readonly string[]>> = {
  BackendTLSPolicy: [
    'spec.targetRefs[].sectionName',
    'spec.validation.caCertificateRefs',
    'spec.validation.wellKnownCACertificates',
  ],
};

/** Without one of these all requests go on. */
const OPEN_KINDS: ReadonlySet<string> = new Set([
  'LogService',
  'RateLimit',
  'RateLimitService',
  'TracingService',
]);

/** Returns the state of a resource that cannot be served and was never good. */
export function unservedState(rejected: Rejected): 'closed' | 'out of service' {
  const closes =
    rejected.kind === 'Mapping' ? isClosedMapping(rejected) : !OPEN_KINDS.has(rejected.kind);
  return closes ? 'closed' : 'out of service';
}

/**
 * Where a Problem says that a resource is part of nothing that is served. Of a RateLimit it says
 * that no request has labels of its domain.
 */
const PARENTS: Readonly<Record<string, string>> = {
  Gateway: 'spec.gatewayClassName',
  ListenerSet: 'spec.parentRef',
  RateLimit: 'spec.domain',
};

/** A target that a policy does not have closes nothing. */
const OF_TARGETS = 'spec.targetRefs[';
const OF_PARENTS = 'spec.parentRefs[';
/** Where a Problem says that no request can meet a limit, with the limit's index. */
const OF_UNMET = /^spec\.limits\[(\d+)\]\.pattern\[/;

/** Returns the function that gives the state of a resource. */
export function resourceStates(facts: StateFacts): (resource: Resource) => ResourceState {
  const { compiled, kept, outOfService, rollout } = facts;
  const served = effective(rollout);
  const closed = new Set(compiled.filter(isClosing).map(placeOf));
  const orphaned = new Set(compiled.filter(isOrphaning).map(placeOf));
  const ofTargets = Map.groupBy(
    compiled.filter(
      ({ severity, field }) =>
        (severity === 'error' && isOfTarget(field)) || field?.startsWith(OF_PARENTS),
    ),
    placeOf,
  );
  const unmet = Map.groupBy(
    compiled.filter(({ kind, field = '' }) => kind === 'RateLimit' && OF_UNMET.test(field)),
    placeOf,
  );
  const withoutRule = new Set(
    rollout.trial === undefined ? opened(rollout).map(({ resource }) => resource.id) : [],
  );
  return resource => {
    const { id, hash } = resource;
    if (rollout.quarantined.has(id))
      return served.has(id) ? 'last good' : unservedState(closedResource(resource));
    if (kept.has(id)) return 'last good';
    if (outOfService.has(id)) return 'out of service';
    if (withoutRule.has(id)) return 'closed';
    const place = placeOf({ ...resource, file: resource.source.file });
    if (closed.has(place)) return 'closed';
    if (orphaned.has(place)) return 'out of service';
    if (isForNothing(resource, ofTargets.get(place))) return 'out of service';
    if (isUnmet(resource, unmet.get(place))) return 'out of service';
    const accepted = rollout.accepted.get(id)?.hash;
    return accepted === hash && accepted === served.get(id)?.hash ? 'in force' : 'trying';
  };
}

/** The proxies of a Gateway whose class is not accepted, which is an error, serve it on. */
function isOrphaning({ severity, kind, field }: Problem): boolean {
  const isServed = kind === 'Gateway' && severity === 'error';
  return field !== undefined && PARENTS[kind] === field && !isServed;
}

function isClosing({ severity, kind, field = '' }: Problem): boolean {
  if (severity !== 'error') return false;
  const closes = CLOSING_KINDS.has(kind) && !isOfTarget(field);
  const anywhere = field.replace(/\[\d+\]/, '[]');
  return closes || (CLOSING_FIELDS[kind]?.includes(anywhere) ?? false);
}

function isOfTarget(field = ''): boolean {
  return field.startsWith(OF_TARGETS);
}

/**
 * Whether each target of a policy, or each parent of a route, has a Problem. The one has no effect
 * then, and the other no requests.
 */
function isForNothing(resource: Resource, problems: readonly Problem[] = []): boolean {
  const faulty = new Set(problems.map(({ field }) => field));
  const [refs, of] = referencesOf(resource);
  return refs.length > 0 && refs.every((_, at) => faulty.has(`${of}${at}]`));
}

/** Whether no request can meet any limit of a RateLimit. */
function isUnmet({ kind, spec }: Resource, problems: readonly Problem[] = []): boolean {
  const limits = new Set(problems.map(({ field = '' }) => OF_UNMET.exec(field)?.[1]));
  return kind === 'RateLimit' && limits.size > 0 && limits.size === spec.limits.length;
}

function referencesOf({ kind, spec }: Resource): readonly [refs: readonly object[], of: string] {
  const isPolicy = kind === 'BackendTLSPolicy' || kind === 'FilterPolicy' || kind === 'RateLimit';
  if (isPolicy) return [spec.targetRefs ?? [], OF_TARGETS];
  return 'parentRefs' in spec && spec.useDefaultGateways !== 'All'
    ? [spec.parentRefs, OF_PARENTS]
    : [[], OF_PARENTS];
}

export function placeOf({
  kind,
  namespace,
  name,
  file,
}: Pick<Problem, 'kind' | 'namespace' | 'name' | 'file'>) {
  return `${kind} ${namespace}/${name} ${file}`;
}
