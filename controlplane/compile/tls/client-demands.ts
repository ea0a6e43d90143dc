import type { Rejected, Resource } from '#resources/resource.ts';
import type { ResourceSet } from '#resources/resource-set.ts';
import type { TlsSettings } from '#resources/traffic/tls-settings.ts';
import { contextOf, missing } from './host-context.ts';
import { authoritiesUse, contextAuthorities, type SecretUse } from './secret-use.ts';

type Host = Resource<'Host'>;
type Context = Resource<'TLSContext'>;

/**
 * Returns what a TLSContext demands of clients, in words. Equal demands have equal words. Those of
 * a rejected one are unknown.
 */
export function contextDemands(context: Context | Rejected): readonly string[] {
  if (!('spec' in context)) return [missing(context.namespace, context.name).error];
  const { cert_required, redirect_cleartext_from } = context.spec;
  return [
    ...(cert_required ? [certificatesOf(contextAuthorities(context), context.spec)] : []),
    ...(redirect_cleartext_from === undefined ? [] : [TLS]),
  ];
}

/** Returns what a Host demands of clients. `servesCleartext`: it serves requests without TLS. */
export function hostDemands(
  host: Host,
  servesCleartext: boolean,
  resources: ResourceSet,
): readonly string[] {
  const found = contextOf(host, resources);
  if ('error' in found) return [found.error];
  const settings = host.spec.tls ?? found.value?.spec;
  return [
    ...(settings?.cert_required === true
      ? [certificatesOf(authoritiesUse(host, found.value), settings)]
      : []),
    ...(servesCleartext ? [] : [TLS]),
  ];
}

const TLS = 'TLS of every request';

function certificatesOf(use: SecretUse | undefined, { cacert_chain_file }: TlsSettings): string {
  const { name, namespace } = use?.reference ?? {};
  const authorities = use === undefined ? cacert_chain_file : `the Secret ${namespace}/${name}`;
  return `client certificates by ${authorities}`;
}
