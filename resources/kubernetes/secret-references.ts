import type { Resource } from '#resources/resource.ts';

export type SecretName = { readonly namespace: string; readonly name: string };

/** The Secrets that resources name, each once, by `namespace/name`. No other is ever read. */
export function secretReferences(resources: Iterable<Resource>): ReadonlyMap<string, SecretName> {
  const found = new Map<string, SecretName>();
  for (const resource of resources) {
    for (const secret of referencesOf(resource)) found.set(`${secret.namespace}/${secret.name}`, secret);
  }
  return found;
}

function referencesOf(resource: Resource): readonly SecretName[] {
  if (resource.kind !== 'Filter') return [];
  const { secretName: name, secretNamespace = resource.namespace } = resource.spec.OAuth2 ?? {};
  return name === undefined ? [] : [{ namespace: secretNamespace, name }];
}
