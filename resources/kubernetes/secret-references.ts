import type { OAuth2Spec } from '#resources/kinds/filter/filter-oauth2.ts';
import type { ObjectRef } from '#resources/kinds/gateway-api/object-ref.ts';
import { CERTIFICATES_GROUP } from '#resources/kinds/known-kinds.ts';
import type { Resource } from '#resources/resource.ts';
import { type SecretReference, splitSecretName } from '#resources/words/secret-reference.ts';

export type SecretName = { readonly namespace: string; readonly name: string };

/**
 * Returns the Secrets that resources name, each once, by `namespace/name`. No other is ever read.
 */
export function secretReferences(resources: Iterable<Resource>): ReadonlyMap<string, SecretName> {
  const found = new Map<string, SecretName>();
  for (const resource of resources) {
    for (const { name, namespace = resource.namespace } of referencesOf(resource)) {
      found.set(`${namespace}/${name}`, { namespace, name });
    }
  }
  return found;
}

function referencesOf(resource: Resource): readonly SecretReference[] {
  switch (resource.kind) {
    case 'Filter': {
      const { OAuth2, JWT } = resource.spec;
      const authorities = (OAuth2 ?? JWT)?.caSecret;
      return [...clientReference(OAuth2), ...(authorities === undefined ? [] : [authorities])];
    }
    case 'Host': {
      const { tlsSecret, tls } = resource.spec;
      return [...(tlsSecret === undefined ? [] : [tlsSecret]), ...tlsReferences(tls ?? {})];
    }
    case 'TLSContext':
      return tlsReferences(resource.spec);
    default:
      return gatewayApiReferences(resource).filter(isOf('Secret'));
  }
}

/** Returns the ConfigMaps that resources name, each once, by `namespace/name`. */
export function configMapReferences(
  resources: Iterable<Resource>,
): ReadonlyMap<string, SecretName> {
  const found = new Map<string, SecretName>();
  for (const resource of resources) {
    for (const { name, namespace = resource.namespace } of gatewayApiReferences(resource).filter(
      isOf('ConfigMap'),
    ))
      found.set(`${namespace}/${name}`, { namespace, name });
  }
  return found;
}

/** Returns the names of the ClusterTrustBundles that resources name. */
export function trustBundleReferences(resources: Iterable<Resource>): ReadonlySet<string> {
  const references = [...resources].flatMap(gatewayApiReferences);
  const bundles = references.filter(
    ({ group, kind }) => group === CERTIFICATES_GROUP && kind === 'ClusterTrustBundle',
  );
  return new Set(bundles.map(({ name }) => name));
}

function isOf(wanted: string) {
  return ({ group, kind }: ObjectRef) => group === '' && kind === wanted;
}

/** Returns what a resource of Gateway API names that holds certificates. */
function gatewayApiReferences(resource: Resource): readonly ObjectRef[] {
  switch (resource.kind) {
    case 'Gateway': {
      const { listeners, tls } = resource.spec;
      const { backend, frontend } = tls ?? {};
      const client = backend?.clientCertificateRef;
      const validations = [frontend?.default, ...(frontend?.perPort ?? []).map(each => each.tls)];
      return [
        ...listeners.flatMap(each => each.tls?.certificateRefs ?? []),
        ...(client === undefined ? [] : [client]),
        ...validations.flatMap(each => each?.validation?.caCertificateRefs ?? []),
      ];
    }
    case 'ListenerSet':
      return resource.spec.listeners.flatMap(({ tls }) => tls?.certificateRefs ?? []);
    case 'BackendTLSPolicy':
      return resource.spec.validation.caCertificateRefs;
    default:
      return [];
  }
}

function clientReference(
  oauth2: Pick<OAuth2Spec, 'secretName' | 'secretNamespace'> = {},
): readonly SecretReference[] {
  const { secretName: name, secretNamespace: namespace } = oauth2;
  if (name === undefined) return [];
  return [namespace === undefined ? { name } : { name, namespace }];
}

type Tls = {
  readonly secret?: string;
  readonly ca_secret?: string;
  readonly secret_namespacing?: boolean;
};

function tlsReferences({
  secret,
  ca_secret,
  secret_namespacing = true,
}: Tls): readonly SecretReference[] {
  const texts = [secret, ca_secret].filter(text => text !== undefined);
  return texts.map(text => splitSecretName(text, secret_namespacing));
}
