import type { SecretRef } from '#resources/kinds/gateway-api/object-ref.ts';
import { resourceId } from '#resources/resource.ts';
import type { ResourceSet } from '#resources/resource-set.ts';
import { DEFAULT_CONTROLLER } from './gateway-options.ts';
import { ANY_HOSTNAME } from './hostnames.ts';
import { grantsOf } from './reference.ts';
import type { ListenerOrigin } from './route-parent.ts';
import type { SecretName } from './served-gateway.ts';

/** A Secret that a listener names, and may, for its certificate. */
export type ListenerCertificate = {
  readonly origin: ListenerOrigin;
  readonly listener: string;
  /** Path of the reference. */
  readonly field: string;
  readonly hostname: string;
  readonly secret: SecretName;
};

type Resources = Pick<
  ResourceSet,
  'gatewayClasses' | 'gateways' | 'listenerSets' | 'referenceGrants'
>;

/** Returns the Secrets with certificates of the listeners of our Gateways. */
export function listenerCertificates(
  { gatewayClasses, gateways, listenerSets, referenceGrants }: Resources,
  controller = DEFAULT_CONTROLLER,
): readonly ListenerCertificate[] {
  const classes = new Set(
    gatewayClasses.flatMap(({ name, spec }) => (spec.controllerName === controller ? name : [])),
  );
  const ours = gateways.filter(({ spec }) => classes.has(spec.gatewayClassName));
  const ids = new Set(ours.map(({ id }) => id));
  const sets = listenerSets.filter(({ namespace: home, spec: { parentRef } }) =>
    ids.has(resourceId('Gateway', parentRef.namespace ?? home, parentRef.name)),
  );
  const permits = grantsOf(referenceGrants);
  return [...ours, ...sets].flatMap(origin =>
    namedSecrets(origin).filter(({ secret }) =>
      permits(origin, { group: '', kind: 'Secret', ...secret }),
    ),
  );
}

/** Returns the Secrets that the listeners of a Gateway or ListenerSet name. */
export function namedSecrets(origin: ListenerOrigin): readonly ListenerCertificate[] {
  return origin.spec.listeners.flatMap(({ hostname = ANY_HOSTNAME, name, tls }, index) => {
    const refs: readonly SecretRef[] =
      tls?.mode === 'Passthrough' ? [] : (tls?.certificateRefs ?? []);
    return refs.flatMap((ref, at) => {
      if (ref.group !== '' || ref.kind !== 'Secret') return [];
      const secret = { namespace: ref.namespace ?? origin.namespace, name: ref.name };
      const field = `spec.listeners[${index}].tls.certificateRefs[${at}]`;
      return [{ origin, listener: name, field, hostname, secret }];
    });
  });
}
