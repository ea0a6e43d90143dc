import type { LabelSelector } from '#resources/kinds/gateway-api/label-selector.ts';
import { selectorOf } from '#resources/kinds/host/host-selector.ts';
import type { Problem } from '#resources/problem.ts';
import { type Rejected, type Resource, resourceId } from '#resources/resource.ts';
import type { ResourceSet } from '#resources/resource-set.ts';
import { distinct } from '#resources/words/distinct.ts';
import { problemOf } from '../problem-of.ts';
import { contextDemands, hostDemands } from './client-demands.ts';
import { type HostTls, resolveTls } from './host-tls.ts';

/** What happens to a request for a Host that came without TLS. */
export type InsecureAction = 'Redirect' | 'Reject' | 'Route';

type Context = Resource<'TLSContext'>;
type Host = Resource<'Host'>;

/** A Host as the edge serves it. */
export type EdgeHost = {
  readonly hostname: string;
  readonly id: string;
  readonly namespace: string;
  readonly labels: Readonly<Record<string, string>>;
  /** By what it chooses Mappings. Absent: it has all that are for its names. */
  readonly mappingSelector?: LabelSelector;
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
  /** Ids of the TLSContexts that they use, or that close them. */
  readonly contexts: ReadonlySet<string>;
  readonly problems: readonly Problem[];
};

/**
 * Returns the Hosts of the edge, each hostname once. The first by id has it, and those without an
 * error come first. A name is closed when another Host or a TLSContext demands more of its clients.
 */
export function edgeHosts(resources: ResourceSet): EdgeHosts {
  const owners = new Map<string, EdgeHost>();
  const served = new Map<string, Host>();
  // A Problem of a TLSContext shows at each of its Hosts.
  const problems: Problem[] = [];
  const contexts = new Set<string>();
  const closeWithout = (demands: readonly string[], host: Host, by: string) => {
    const { hostname } = host.spec;
    const owner = owners.get(hostname);
    if (owner === undefined || owner.origins.includes(by)) return [];
    const own = hostDemands(host, owner.insecure === 'Route', resources);
    const unmet = demands.filter(demand => !own.includes(demand));
    const origins = [...owner.origins, by];
    if (unmet.length > 0) owners.set(hostname, { ...owner, ...CLOSED, origins });
    return unmet;
  };
  for (const host of resources.hosts) {
    const { hostname } = host.spec;
    const { context, problems: found, tls } = resolveTls(host, resources);
    const edgeHost = toEdgeHost(host, tls, context);
    const first = served.get(hostname);
    if (first !== undefined) {
      const demands = hostDemands(host, edgeHost.insecure === 'Route', resources);
      problems.push(takenProblem(host, first, closeWithout(demands, first, host.id)));
      continue;
    }
    problems.push(...found, ...redirectProblems(host, context));
    if (context !== undefined) contexts.add(context.id);
    owners.set(hostname, edgeHost);
    served.set(hostname, host);
  }
  for (const rejected of resources.closed) {
    if (rejected.kind === 'Host' && rejected.hosts === undefined)
      problems.push(unreadProblem(rejected));
    for (const host of closedHosts(rejected))
      if (!owners.has(host.hostname)) owners.set(host.hostname, host);
  }
  for (const { context, demands, names } of demandingContexts(resources)) {
    const lone = names.filter(hostname => !owners.has(hostname));
    if (lone.length > 0) {
      contexts.add(context.id);
      problems.push(demandProblem(context, lone));
    }
    for (const hostname of lone)
      owners.set(hostname, { ...closedHost(hostname, context), contextOnly: true });
    for (const host of names.flatMap(hostname => served.get(hostname) ?? [])) {
      const unmet = closeWithout(demands, host, context.id);
      if (unmet.length === 0) continue;
      contexts.add(context.id);
      problems.push(unmetProblem(host, context, unmet));
    }
  }
  return { hosts: [...owners.values()], contexts, problems: distinct(problems) };
}

/**
 * Returns the TLSContexts that demand something of clients, with the hostnames that they are for.
 * Which Hosts a rejected one is for is known in part.
 */
function demandingContexts({ closed, hosts, tlsContexts }: ResourceSet) {
  const rejected = closed.filter(({ kind }) => kind === 'TLSContext');
  const found = [...tlsContexts, ...rejected]
    .map(context => ({ context, demands: contextDemands(context) }))
    .filter(({ demands }) => demands.length > 0);
  if (found.length === 0) return [];
  const beside = new Map(
    hosts.map(({ name, namespace, spec: { hostname } }) => [
      resourceId('TLSContext', namespace, `${name}-context`),
      hostname,
    ]),
  );
  return found.map(({ context, demands }) => {
    const listed = 'spec' in context ? context.spec.hosts : context.hosts;
    const names = [...new Set([listed ?? [], beside.get(context.id) ?? []].flat())];
    return { context, demands, names };
  });
}

function toEdgeHost(
  { id, metadata, namespace, spec }: Host,
  tls: EdgeHost['tls'],
  context: Context | undefined,
): EdgeHost {
  const { hostname, hsts, requestPolicy } = spec;
  return {
    hostname,
    id,
    namespace,
    labels: metadata?.labels ?? {},
    ...selectorOf(spec),
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
  return { hostname, id, namespace, labels: {}, origins: [id], ...CLOSED };
}

const CLOSED = { tls: 'broken', insecure: 'closed' } as const;

/** Returns whether requests without TLS are redirected whatever the Host says of them. */
function redirectsAll(
  { requestPolicy, tls }: Resource<'Host'>['spec'],
  context: Context | undefined,
): boolean {
  const { redirect_cleartext_from } = tls ?? context?.spec ?? {};
  return redirect_cleartext_from !== undefined && requestPolicy.insecure.action === 'Route';
}

function redirectProblems(host: Host, context: Context | undefined): readonly Problem[] {
  if (!redirectsAll(host.spec, context)) return [];
  const message = 'requests without TLS are still redirected, as `redirect_cleartext_from` says';
  return [problemOf(host, 'warning', 'spec.requestPolicy.insecure.action', message)];
}

function demandProblem(context: Context | Rejected, hostnames: readonly string[]): Problem {
  const names = hostnames.map(hostname => `"${hostname}"`).join(', ');
  const message = `no Host has ${names}, so what the TLSContext demands of clients cannot be asked: they answer 500. Write a Host for each`;
  return problemOf(context, 'error', 'spec.hosts', message);
}

function unreadProblem(rejected: Rejected): Problem {
  const message =
    'its hostname cannot be read: every name that no other Host has answers 500 until then';
  return problemOf(rejected, 'error', 'spec.hostname', message);
}

function takenProblem(host: Host, owner: Host, unmet: readonly string[]): Problem {
  const counts = `the hostname "${host.spec.hostname}" is already that of ${owner.id}. That one counts`;
  const closed = `, but it lacks what this one demands of clients (${unmet.join(', ')}), so the name answers 500. Remove one`;
  return problemOf(host, 'error', 'spec.hostname', unmet.length === 0 ? counts : counts + closed);
}

function unmetProblem(host: Host, context: Context | Rejected, unmet: readonly string[]): Problem {
  const { name, namespace } = context;
  const what = `the Host lacks what TLSContext ${namespace}/${name} demands of the clients of "${host.spec.hostname}" (${unmet.join(', ')}), so it answers 500`;
  const remedy =
    'spec' in context
      ? 'Demand the same here, or name the TLSContext in `tlsContext`'
      : 'Mend the TLSContext';
  return problemOf(host, 'error', 'spec.tlsContext', `${what}. ${remedy}`);
}
