import { formatHostPort } from '#grpc/host-port.ts';
import type { MappingSpec } from '#resources/kinds/mapping/mapping-spec.ts';
import type { Problem } from '#resources/problem.ts';
import type { Resource } from '#resources/resource.ts';
import type { HostPort } from '#resources/words/host.ts';
import { isLoopback } from '#resources/words/origin.ts';
import { hasKeys } from '../has-keys.ts';
import { keptFilter } from '../kept-lists.ts';
import { problemOf } from '../problem-of.ts';

/**
 * Returns a Problem for each Mapping whose service is one of the addresses at which its own proxies
 * listen, when they match the request again there. A name that leads here by DNS is not known.
 */
export function loopProblems(
  mappings: readonly Resource<'Mapping'>[],
  listeners: readonly HostPort[],
): readonly Problem[] {
  return asking(mappings)
    .filter(({ spec }) => listeners.some(address => leadsTo(spec.service, address)))
    .map(mapping => {
      const { service } = mapping.spec;
      return problemOf(mapping, 'warning', 'spec.service', messageOf(service));
    });
}

/**
 * Returns a Problem for each Mapping that redirects the requests of its host to this host again,
 * with a path that it matches. Of a Mapping for all hosts it is not known which lead here.
 */
export function redirectLoopProblems(
  mappings: readonly Resource<'Mapping'>[],
  listeners: readonly HostPort[],
): readonly Problem[] {
  return redirecting(mappings)
    .filter(({ spec }) => redirectsToItself(spec, listeners))
    .map(mapping => problemOf(mapping, 'warning', 'spec.service', REDIRECTED_AGAIN));
}

const asking = keptFilter(
  ({ spec }: Resource<'Mapping'>) =>
    !spec.host_redirect && spec.resolver !== 'sds' && comesAgain(spec),
);

const redirecting = keptFilter(({ spec }: Resource<'Mapping'>) => spec.host_redirect);

const REDIRECTED_AGAIN =
  'it redirects to itself: the new URL has the host and the path that it matches, so clients come back until they give up. Write another host, `path_redirect` or `prefix_redirect`';

/**
 * Something else may listen at a port that is not the gateway's. Another Mapping may get what comes
 * by https, or without a header.
 */
function redirectsToItself(spec: MappingSpec, listeners: readonly HostPort[]): boolean {
  const { headers, host, host_regex, path_redirect, prefix_redirect, regex_headers } = spec;
  const { host: to, port, portGiven, scheme } = spec.service;
  if (host_regex || host !== to || scheme === 'https') return false;
  if (hasKeys(headers) || hasKeys(regex_headers)) return false;
  if (portGiven && !listeners.some(listener => listener.port === port)) return false;
  return [path_redirect, prefix_redirect, spec.regex_redirect].every(path => path === undefined);
}

function messageOf(service: HostPort): string {
  return `this gateway itself listens at ${formatHostPort(service)} (by EDGE_ADDRESS or a Listener), and there the same Mapping gets the request again. It goes round until its headers are too large, and is answered 431. Write the address of the service`;
}

function leadsTo({ host, port }: HostPort, listener: HostPort): boolean {
  if (port !== listener.port) return false;
  return host === listener.host || (isLoopback(host) && takesLoopback(listener.host));
}

function takesLoopback(host: string): boolean {
  return isLoopback(host) || host === '0.0.0.0' || host === '::';
}

/** Whether the path is below the prefix still, and the host is the one that was asked for. */
function comesAgain(spec: MappingSpec): boolean {
  const { prefix, prefix_exact, prefix_regex, regex_rewrite, rewrite } = spec;
  if (regex_rewrite !== undefined || changesHost(spec)) return false;
  if (prefix_regex || rewrite === '' || rewrite === prefix) return true;
  return !prefix_exact && rewrite.startsWith(prefix.endsWith('/') ? prefix : `${prefix}/`);
}

function changesHost({ auto_host_rewrite, host, host_rewrite }: MappingSpec): boolean {
  return host !== '*' && (auto_host_rewrite || host_rewrite !== undefined);
}
