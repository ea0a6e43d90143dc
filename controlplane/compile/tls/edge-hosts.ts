import type { Problem } from '#resources/problem.ts';
import type { Rejected, Resource } from '#resources/resource.ts';
import type { ResourceSet } from '#resources/resource-set.ts';
import { problemOf } from '../problem-of.ts';
import { type HostTls, resolveTls } from './host-tls.ts';

/** What happens to a request for a Host that came without TLS. */
export type InsecureAction = 'Redirect' | 'Reject' | 'Route';

type Context = Resource<'TLSContext'>;

/** A Host as the edge serves it. */
export type EdgeHost = {
  readonly hostname: string;
  readonly id: string;
  readonly namespace: string;
  readonly labels: Readonly<Record<string, string>>;
  /** The resources that it comes from. */
  readonly origins: readonly string[];
  /** `broken`: TLS is intended and impossible, so nothing answers there. */
  readonly tls: HostTls | 'broken' | undefined;
  /** `closed`: it has an error, and no last good version. Its requests are answered 500. */
  readonly insecure: InsecureAction | 'closed';
  /** Value of `Strict-Transport-Security`. */
  readonly hsts?: string;
  /** Not a Host: a TLSContext makes demands for the name, and nothing applies them. */
  readonly contextOnly?: true;
};

export type EdgeHosts = {
  readonly hosts: readonly EdgeHost[];
  /** Ids of the TLSContexts that they use. */
  readonly contexts: ReadonlySet<string>;
  readonly problems: readonly Problem[];
};

/**
 * Returns the Hosts of the edge, each hostname once. The first by id has it, and those without an
 * error come first.
 */
export function edgeHosts(resources: ResourceSet): EdgeHosts {
  const owners = new Map<string, EdgeHost>();
  const problems: Problem[] = [];
  const contexts = new Set<string>();
  for (const host of resources.hosts) {
    const owner = owners.get(host.spec.hostname);
    if (owner !== undefined) {
      problems.push(takenProblem(host, owner));
      continue;
    }
    const { context, problems: found, tls } = resolveTls(host, resources);
    problems.push(...found, ...redirectProblems(host, context));
    if (context !== undefined) contexts.add(context.id);
    owners.set(host.spec.hostname, toEdgeHost(host, tls, context));
  }
  for (const rejected of resources.closed) {
    if (rejected.kind === 'Host' && rejected.hosts === undefined)
      problems.push(unreadProblem(rejected));
    for (const host of closedHosts(rejected))
      if (!owners.has(host.hostname)) owners.set(host.hostname, host);
  }
  for (const context of resources.tlsContexts) {
    if (contexts.has(context.id) || !demands(context.spec)) continue;
    const lone = context.spec.hosts.filter(hostname => !owners.has(hostname));
    if (lone.length > 0) problems.push(demandProblem(context, lone));
    for (const hostname of lone)
      owners.set(hostname, { ...closedHost(hostname, context), contextOnly: true });
  }
  return { hosts: [...owners.values()], contexts, problems: [...distinct(problems)] };
}

function toEdgeHost(
  { id, metadata, namespace, spec }: Resource<'Host'>,
  tls: EdgeHost['tls'],
  context: Resource<'TLSContext'> | undefined,
): EdgeHost {
  const { hostname, hsts, requestPolicy } = spec;
  return {
    hostname,
    id,
    namespace,
    labels: metadata?.labels ?? {},
    origins: [id, ...(context === undefined ? [] : [context.id])],
    tls,
    insecure: redirectsAll(spec, context)
      ? 'Redirect'
      : (requestPolicy.insecure.action ?? (tls === undefined ? 'Route' : 'Redirect')),
    ...(hsts === undefined ? {} : { hsts: hstsValue(hsts) }),
  };
}

/** Returns the header's value (RFC 6797, section 6.1). */
function hstsValue({
  includeSubDomains,
  max_age,
  preload,
}: NonNullable<Resource<'Host'>['spec']['hsts']>): string {
  return [
    `max-age=${max_age}`,
    ...(includeSubDomains ? ['includeSubDomains'] : []),
    ...(preload ? ['preload'] : []),
  ].join('; ');
}

/** A Host whose hostname cannot be read may be for every name that no other Host has. */
function closedHosts(rejected: Rejected): readonly EdgeHost[] {
  const { hosts = ['*'], kind } = rejected;
  return kind === 'Host' ? hosts.map(hostname => closedHost(hostname, rejected)) : [];
}

function closedHost(
  hostname: string,
  { id, namespace }: Pick<Rejected, 'id' | 'namespace'>,
): EdgeHost {
  const origins = [id];
  return { hostname, id, namespace, labels: {}, origins, tls: 'broken', insecure: 'closed' };
}

/** Returns whether requests without TLS are redirected whatever the Host says of them. */
function redirectsAll(
  { requestPolicy, tls }: Resource<'Host'>['spec'],
  context: Context | undefined,
): boolean {
  const { redirect_cleartext_from } = tls ?? context?.spec ?? {};
  return redirect_cleartext_from !== undefined && requestPolicy.insecure.action === 'Route';
}

function redirectProblems(
  host: Resource<'Host'>,
  context: Context | undefined,
): readonly Problem[] {
  if (!redirectsAll(host.spec, context)) return [];
  const message = 'requests without TLS are still redirected, as `redirect_cleartext_from` says';
  return [problemOf(host, 'warning', 'spec.requestPolicy.insecure.action', message)];
}

/** Returns whether a TLSContext restricts what is served without it. */
function demands({ cert_required, redirect_cleartext_from }: Context['spec']): boolean {
  return cert_required || redirect_cleartext_from !== undefined;
}

function demandProblem(context: Context, hostnames: readonly string[]): Problem {
  const names = hostnames.map(hostname => `"${hostname}"`).join(', ');
  const message = `no Host has ${names}, so what the TLSContext demands of clients cannot be asked: they answer 500. Write a Host for each`;
  return problemOf(context, 'error', 'spec.hosts', message);
}

function unreadProblem(rejected: Rejected): Problem {
  const message =
    'its hostname cannot be read: every name that no other Host has answers 500 until then';
  return problemOf(rejected, 'error', 'spec.hostname', message);
}

function takenProblem(host: Resource<'Host'>, owner: EdgeHost): Problem {
  const message = `the hostname "${host.spec.hostname}" is already that of ${owner.id}. That one counts`;
  return problemOf(host, 'error', 'spec.hostname', message);
}

/** A Problem of a TLSContext shows at each of its Hosts. */
function distinct(problems: readonly Problem[]): Iterable<Problem> {
  return new Map(problems.map(problem => [JSON.stringify(problem), problem])).values();
}
