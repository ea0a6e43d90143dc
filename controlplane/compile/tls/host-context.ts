import type { Resource } from '#resources/resource.ts';
import { resourceId } from '#resources/resource.ts';
import type { ResourceSet } from '#resources/resource-set.ts';
import type { Parsed } from '#resources/words/parsed-string.ts';

type Context = Resource<'TLSContext'>;
type Contexts = Pick<ResourceSet, 'closed' | 'tlsContexts'>;

/**
 * Returns the TLSContext of a Host. It is the one that the Host names, else `<name>-context` beside
 * it, else the first that lists its hostname. An error means that the TLSContext is not in force,
 * or may not be. What it requires of clients is unknown, so the Host must not be served without it.
 * Source: Ambassador's page "TLS termination".
 */
export function contextOf(
  host: Resource<'Host'>,
  resources: Contexts,
): Parsed<Context | undefined> {
  const { hostname, tls, tlsContext } = host.spec;
  if (tlsContext !== undefined)
    return named(tlsContext.namespace ?? host.namespace, tlsContext.name, resources);
  if (tls !== undefined) return { value: undefined };
  const beside = `${host.name}-context`;
  const rejected = resources.closed.filter(({ kind }) => kind === 'TLSContext');
  if (
    rejected.some(({ id }) => id === resourceId('TLSContext', host.namespace, beside)) ||
    find(host.namespace, beside, resources) !== undefined
  )
    return named(host.namespace, beside, resources);
  const meant = rejected.find(({ hosts }) => hosts === undefined || hosts.includes(hostname));
  if (meant !== undefined) return missing(meant.namespace, meant.name);
  return { value: resources.tlsContexts.find(({ spec }) => spec.hosts.includes(hostname)) };
}

function named(namespace: string, name: string, resources: Contexts): Parsed<Context> {
  const found = find(namespace, name, resources);
  return found === undefined ? missing(namespace, name) : { value: found };
}

function find(namespace: string, name: string, { tlsContexts }: Contexts): Context | undefined {
  return tlsContexts.find(context => context.namespace === namespace && context.name === name);
}

/** The error of a Host whose TLSContext this is. */
export function missing(namespace: string, name: string): { readonly error: string } {
  return { error: `there is no TLSContext ${namespace}/${name} in force` };
}
