import type { Problem } from '#resources/problem.ts';
import type { Resource } from '#resources/resource.ts';
import { resourceId } from '#resources/resource.ts';
import type { ResourceSet } from '#resources/resource-set.ts';
import type { Parsed } from '#resources/words/parsed-string.ts';
import type { SecretReference } from '#resources/words/secret-reference.ts';
import { keptFilter } from '../kept-lists.ts';
import { problemOf } from '../problem-of.ts';
import {
  authoritiesFile,
  authoritiesOf,
  keyPairFiles,
  keyPairOf,
  type ProxySecret,
} from './proxy-secret.ts';
import { contextAuthorities, contextCertificate, type SecretUse } from './secret-use.ts';

type Context = Resource<'TLSContext'>;
type Mapping = Resource<'Mapping'>;
type Secrets = ResourceSet['secrets'];

/** A TLSContext for connections to services, and its secrets, where it names them. */
export type ServiceContext = {
  readonly context: Context;
  readonly certificate: ProxySecret | undefined;
  readonly authorities: ProxySecret | undefined;
};

/**
 * Returns the TLSContext for connections to a Mapping's service.
 * @returns undefined when it names none, or no service gets its requests
 */
export function contextNamedBy(mapping: Mapping): Required<SecretReference> | undefined {
  const { host_redirect, tls } = mapping.spec;
  if (typeof tls === 'boolean' || host_redirect) return undefined;
  return { namespace: mapping.namespace, ...tls };
}

/** Returns the id of that TLSContext. */
export function contextIdOf(mapping: Mapping): string | undefined {
  const named = contextNamedBy(mapping);
  return named === undefined ? undefined : resourceId('TLSContext', named.namespace, named.name);
}

/** Returns the Mappings that name one. */
export const namingContext = keptFilter((mapping: Mapping) => contextIdOf(mapping) !== undefined);

/** Returns the TLSContexts in force that Mappings name. */
export function serviceContexts({ mappings, tlsContexts }: ResourceSet): readonly Context[] {
  if (tlsContexts.length === 0) return [];
  const named = new Set(namingContext(mappings).map(contextIdOf));
  return tlsContexts.filter(({ id }) => named.has(id));
}

/** Returns the TLSContext with its secrets, or the Problems of these. */
export function resolveServiceContext(
  context: Context,
  secrets: Secrets,
): ServiceContext | { readonly problems: readonly Problem[] } {
  const certificate = certificateOf(context, secrets);
  const authorities = trustedBy(context, secrets);
  if ('value' in certificate && 'value' in authorities)
    return { context, certificate: certificate.value, authorities: authorities.value };
  return {
    problems: [certificate, authorities].flatMap(part => ('problem' in part ? [part.problem] : [])),
  };
}

type Part = { readonly value: ProxySecret | undefined } | { readonly problem: Problem };

function certificateOf(context: Context, secrets: Secrets): Part {
  const use = contextCertificate(context);
  if (use !== undefined) return read(use, keyPairOf(use.reference, secrets));
  const { cert_chain_file: chain, private_key_file: key } = context.spec;
  return {
    value: chain === undefined || key === undefined ? undefined : keyPairFiles(context, chain, key),
  };
}

function trustedBy(context: Context, secrets: Secrets): Part {
  const use = contextAuthorities(context);
  if (use !== undefined) return read(use, authoritiesOf(use.reference, secrets));
  const { cacert_chain_file: file } = context.spec;
  return { value: file === undefined ? undefined : authoritiesFile(context, file) };
}

function read({ by, field }: SecretUse, parsed: Parsed<ProxySecret>): Part {
  if ('value' in parsed) return parsed;
  const message = `${parsed.error}: Mappings that name the TLSContext in \`tls\` answer 500 until that is fixed`;
  return { problem: problemOf(by, 'error', field, message) };
}
