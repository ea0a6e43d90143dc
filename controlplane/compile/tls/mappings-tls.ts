import type { Problem } from '#resources/problem.ts';
import type { Resource } from '#resources/resource.ts';
import type { ResourceSet } from '#resources/resource-set.ts';
import { closeMappings } from '../close-mappings.ts';
import type { ServiceTls } from '../clusters/upstream-tls.ts';
import type { Memo } from '../memo.ts';
import { problemOf } from '../problem-of.ts';
import {
  contextIdOf,
  contextNamedBy,
  namingContext,
  resolveServiceContext,
  type ServiceContext,
  serviceContexts,
} from './service-context.ts';

type Mapping = Resource<'Mapping'>;

/** The result of the `tls` of a node group's Mappings. */
export type MappingsTls = {
  /** The group's resources. Mappings whose TLSContext cannot be used are closed in them. */
  readonly resources: ResourceSet;
  /** The TLS of the other Mappings that name one, by the Mapping's id. */
  readonly contexts: ReadonlyMap<string, ServiceTls>;
  readonly problems: readonly Problem[];
};

/**
 * Finds the TLSContexts that the Mappings of `own`, the part of one node group, name among all
 * resources. Without its TLSContext a service gets no request at all: neither in plain text nor by
 * TLS that proves less.
 */
export function mappingsTls(own: ResourceSet, all: ResourceSet, memo: Memo): MappingsTls {
  const { mappings } = own;
  const { secrets, tlsContexts } = all;
  const resolved = new Map(
    serviceContexts({ ...all, mappings }).map(context => [
      context.id,
      resolveServiceContext(context, secrets),
    ]),
  );
  const contexts = new Map<string, ServiceTls>();
  const closing = new Set<Mapping>();
  const problems: Problem[] = [];
  for (const mapping of namingContext(mappings)) {
    const id = contextIdOf(mapping);
    if (id === undefined) continue;
    const found = resolved.get(id);
    if (found === undefined || 'problems' in found) {
      closing.add(mapping);
      problems.push(closedProblem(mapping, found === undefined ? tlsContexts : undefined));
    } else {
      contexts.set(mapping.id, serviceTls(found, memo));
      problems.push(...protocolProblems(mapping, found));
    }
  }
  return { resources: closeMappings(own, closing), contexts, problems };
}

/** Returns the very same object for the same settings and names of secrets. */
function serviceTls({ authorities, certificate, context }: ServiceContext, memo: Memo): ServiceTls {
  const names = [certificate?.name, authorities?.name] as const;
  return memo.of(context.spec, 'service tls', [context.id, ...names], () => ({
    context: context.id,
    settings: context.spec,
    certificate: names[0],
    authorities: names[1],
  }));
}

/** `known` has all TLSContexts, when the named one is none of them. */
function closedProblem(mapping: Mapping, known: ResourceSet['tlsContexts'] | undefined): Problem {
  const { name = '', namespace } = contextNamedBy(mapping) ?? {};
  const place = `${namespace}/${name}`;
  const why =
    known === undefined
      ? `the TLSContext ${place} names a Secret that cannot be used`
      : `there is no TLSContext ${place} in force${elsewhere(name, known)}`;
  const until = mapping.spec.shadow ? 'no copies are sent' : 'the Mapping answers 500';
  return problemOf(mapping, 'error', 'spec.tls', `${why}: ${until} until that is fixed`);
}

/** Ambassador takes one of any namespace. */
function elsewhere(name: string, known: ResourceSet['tlsContexts']): string {
  const other = known.find(context => context.name === name);
  if (other === undefined) return '';
  return `, but one in ${other.namespace}, which is meant by \`tls: { name: ${name}, namespace: ${other.namespace} }\``;
}

/** The Mapping decides the protocol of its cluster. */
function protocolProblems(mapping: Mapping, { context }: ServiceContext): readonly Problem[] {
  const { grpc } = mapping.spec;
  const asked = grpc ? 'h2' : 'http/1.1';
  if (context.spec.alpn_protocols.includes(asked)) return [];
  const place = `${context.namespace}/${context.name}`;
  const message = `the service is asked by ${asked}, which is not among the \`alpn_protocols\` of the TLSContext ${place}. \`grpc: ${!grpc}\` uses the other`;
  return [problemOf(mapping, 'warning', 'spec.tls', message)];
}
