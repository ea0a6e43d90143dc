import type { FrontendValidation } from '#resources/kinds/gateway/frontend-tls.ts';
import type { SecretRef } from '#resources/kinds/gateway-api/object-ref.ts';
import type { Resource } from '#resources/resource.ts';
import type { Fault } from './condition.ts';
import type { ObjectsContext } from './gateway-context.ts';
import { authorityKind, noAuthorities, notTrusted, type Referrer } from './reference.ts';
import { kindText, notPermitted } from './reference-faults.ts';
import type { Ask } from './remembered.ts';
import type { WrittenListener } from './route-parent.ts';
import type { CaSource, ClientValidation, ListenerTls, SecretName } from './served-gateway.ts';

/** What TLS of a listener comes to. */
export type ListenerTlsVerdict = {
  /** Undefined when the listener has none, or cannot be served without. */
  readonly tls: ListenerTls | undefined;
  readonly accepted: readonly Fault[];
  readonly resolved: readonly Fault[];
};

const NONE: ListenerTlsVerdict = { tls: undefined, accepted: [], resolved: [] };

/** Resolves the certificates and authorities of a listener of this Gateway or of a ListenerSet. */
export function listenerTls(
  listener: WrittenListener,
  gateway: Resource<'Gateway'>,
  ask: Ask<ObjectsContext>,
): ListenerTlsVerdict {
  const { protocol, spec } = listener;
  if (protocol !== 'HTTPS' && protocol !== 'TLS') return NONE;
  if (spec.tls?.mode === 'Passthrough')
    return { ...NONE, tls: { mode: 'Passthrough', certificates: [] } };
  const { certificates, faults } = certificatesOf(listener, ask);
  const validation = protocol === 'HTTPS' ? validationOf(gateway, spec.port) : undefined;
  const clients = validation && clientsOf(validation, listener, gateway, ask);
  const accepted = clients?.accepted ?? [];
  const isWhole = certificates.length > 0 && accepted.length === 0;
  return {
    tls: isWhole
      ? {
          mode: 'Terminate',
          certificates,
          ...(clients === undefined ? {} : { clients: clients.value }),
        }
      : undefined,
    accepted,
    resolved: [...faults, ...(clients?.resolved ?? [])],
  };
}

/** The option of a listener's `tls` with which the built-in authority issues its certificate. */
export const ISSUER_OPTION = 'gateway.internal/issuer';

type Certificates = {
  readonly certificates: ListenerTls['certificates'];
  readonly faults: readonly Fault[];
};

function certificatesOf(
  { origin, spec, field }: WrittenListener,
  ask: Ask<ObjectsContext>,
): Certificates {
  const refs = spec.tls?.certificateRefs ?? [];
  if (refs.length === 0 && spec.tls?.options?.[ISSUER_OPTION] === 'gateway')
    return { certificates: [{ issuedFor: spec.hostname ?? '*' }], faults: [] };
  if (refs.length === 0) {
    const message = 'a certificate is required to terminate TLS';
    const reason = 'InvalidCertificateRef';
    return { certificates: [], faults: [{ reason, field: `${field}.tls`, message }] };
  }
  const found = refs.map((ref, index) =>
    keyPairNamed(ref, origin, ask, {
      field: `${field}.tls.certificateRefs[${index}]`,
      invalid: 'InvalidCertificateRef',
    }),
  );
  return {
    certificates: found.filter(each => 'name' in each),
    faults: found.filter(each => 'reason' in each),
  };
}

/** Returns the Secret that holds a certificate and its key, or why it cannot be used. */
export function keyPairNamed(
  { group, kind, name, namespace: other }: SecretRef,
  from: Referrer,
  ask: Ask<ObjectsContext>,
  { field, invalid }: { readonly field: string; readonly invalid: string },
): SecretName | Fault {
  if (group !== '' || kind !== 'Secret') {
    const message = `${kindText(group, kind)} is not served here. Name a Secret`;
    return { reason: invalid, field, message };
  }
  const namespace = other ?? from.namespace;
  const referrer = { kind: from.kind, namespace: from.namespace };
  if (!ask(context => context.permits(referrer, { group, kind, namespace, name })))
    return notPermitted(field, `Secret ${namespace}/${name}`);
  const fault = ask(context => context.keyPairFault(namespace, name));
  if (fault === undefined) return { namespace, name };
  return {
    reason: invalid,
    field,
    message: `the Secret ${namespace}/${name} cannot be used: ${fault}`,
  };
}

type Validation = { readonly spec: FrontendValidation; readonly field: string };

/** What holds for a port wins over what holds for all. */
function validationOf({ spec }: Resource<'Gateway'>, port: number): Validation | undefined {
  const { frontend } = spec.tls ?? {};
  if (frontend === undefined) return undefined;
  const at = frontend.perPort.findIndex(each => each.port === port);
  const { validation } = frontend.perPort[at]?.tls ?? frontend.default;
  const field = at < 0 ? 'default' : `perPort[${at}].tls`;
  return validation && { spec: validation, field: `spec.tls.frontend.${field}.validation` };
}

function clientsOf(
  { spec, field }: Validation,
  listener: WrittenListener,
  gateway: Resource<'Gateway'>,
  ask: Ask<ObjectsContext>,
): {
  readonly value: ClientValidation;
  readonly accepted: readonly Fault[];
  readonly resolved: readonly Fault[];
} {
  const isOwn = listener.origin === gateway;
  const place = (at: string) => (isOwn ? at : listener.field);
  const found = spec.caCertificateRefs.map((ref, index) =>
    authorityNamed(ref, gateway, ask, place(`${field}.caCertificateRefs[${index}]`)),
  );
  const authorities = found.filter(each => 'pem' in each);
  const none: Fault = {
    reason: 'NoValidCACertificate',
    field: place(field),
    message: 'no authority of clients is valid, so no client may connect',
  };
  return {
    value: { mode: spec.mode, authorities },
    accepted: authorities.length === 0 ? [none] : [],
    resolved: found.filter(each => 'reason' in each),
  };
}

function authorityNamed(
  ref: FrontendValidation['caCertificateRefs'][number],
  from: Resource<'Gateway'>,
  ask: Ask<ObjectsContext>,
  field: string,
): CaSource | Fault {
  const { group, name } = ref;
  const kind = authorityKind(ref);
  if (kind === undefined)
    return { reason: 'InvalidCACertificateKind', field, message: noAuthorities(ref) };
  const isOfCluster = kind === 'ClusterTrustBundle';
  const namespace = isOfCluster ? '' : (ref.namespace ?? from.namespace);
  const referrer = { kind: from.kind, namespace: from.namespace };
  if (!isOfCluster && !ask(context => context.permits(referrer, { group, kind, namespace, name })))
    return notPermitted(field, `${kind} ${namespace}/${name}`);
  const found = ask(context => context.authorities(kind, namespace, name));
  if (typeof found !== 'string') return found;
  const message = notTrusted(kind, namespace, name, found);
  return { reason: 'InvalidCACertificateRef', field, message };
}
