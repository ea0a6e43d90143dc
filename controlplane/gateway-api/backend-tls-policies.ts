import type { Memo } from '#controlplane/compile/memo.ts';
import { isReadableTarget } from '#resources/kinds/gateway-api/policy-target.ts';
import type { Rejected, Resource } from '#resources/resource.ts';
import type { ResourceSet } from '#resources/resource-set.ts';
import { byAge } from './by-age.ts';
import type { Fault } from './condition.ts';
import { authorityKind, noAuthorities, notTrusted } from './reference.ts';
import { isService } from './reference-faults.ts';
import { type Ask, remembered } from './remembered.ts';
import type { BackendTls, CaSource } from './served-gateway.ts';

type Policy = Resource<'BackendTLSPolicy'>;

export type PolicyVerdict = {
  readonly tls: BackendTls;
  /** Why it is not accepted, beside conflicts. */
  readonly accepted: readonly Fault[];
  readonly resolved: readonly Fault[];
};

export type BackendTlsPolicies = {
  /**
   * Returns what holds for a port. A policy for the port wins over one for the whole Service. A
   * rejected one closes what it names, and all Services of its namespace where that cannot be read.
   * A port of which nothing is known may be the one of a policy, which closes it.
   */
  inForce(
    namespace: string,
    service: string,
    port: { readonly name?: string } | undefined,
  ): BackendTls | undefined;
  verdict(policy: Policy): PolicyVerdict;
  /**
   * Returns the policy that has precedence over this one for a target: a rejected one, the older
   * one, or the first by name.
   */
  overruledBy(policy: Policy, name: string, sectionName?: string): Policy | Rejected | undefined;
};

/** Knows the objects that hold authorities. */
export type Authorities = {
  /** Returns the authorities in an object, or why there are none. */
  authorities(kind: CaSource['kind'], namespace: string, name: string): CaSource | string;
};

/** Finds the policy for every port of every Service. */
export function backendTlsPolicies(
  { backendTlsPolicies: policies, closed }: Pick<ResourceSet, 'backendTlsPolicies' | 'closed'>,
  memo: Memo,
  context: () => Authorities,
): BackendTlsPolicies {
  const first = new Map<string, Policy | Rejected>();
  const add = (key: string, policy: Policy | Rejected) => first.has(key) || first.set(key, policy);
  for (const rejected of closed.filter(({ kind }) => kind === 'BackendTLSPolicy')) {
    for (const target of rejected.targets ?? []) {
      const { namespace } = rejected;
      // What cannot be read may be for any Service.
      const key = isReadableTarget(target)
        ? keyOf(namespace, target.name, target.sectionName)
        : keyOf(namespace, ANY_SERVICE);
      add(key, rejected);
    }
  }
  for (const policy of [...policies].sort(byAge)) {
    for (const { group, kind, name, sectionName } of policy.spec.targetRefs)
      if (isService(group, kind)) add(keyOf(policy.namespace, name, sectionName), policy);
  }
  const withPorts = new Set([...first.keys()].filter(isOfPort).map(wholeOf));
  const verdict = (policy: Policy) =>
    remembered({ memo, context: context() }, policy, 'backend TLS', [], ask => judge(policy, ask));
  const winnerOf = (namespace: string, service: string, portName?: string) =>
    first.get(keyOf(namespace, ANY_SERVICE)) ?? first.get(keyOf(namespace, service, portName));
  return {
    inForce: (namespace, service, port) => {
      if (port === undefined && withPorts.has(keyOf(namespace, service))) return 'closed';
      const ofPort = port?.name === undefined ? undefined : winnerOf(namespace, service, port.name);
      const policy = ofPort ?? winnerOf(namespace, service);
      return policy && ('spec' in policy ? verdict(policy).tls : 'closed');
    },
    verdict,
    overruledBy: (policy, name, sectionName) => {
      const winner = winnerOf(policy.namespace, name, sectionName);
      return winner === policy ? undefined : winner;
    },
  };
}

/** No Service has this name. */
const ANY_SERVICE = '*';

function keyOf(namespace: string, service: string, sectionName = ''): string {
  return `${namespace}/${service}/${sectionName}`;
}

function isOfPort(key: string): boolean {
  return !key.endsWith('/');
}

/** Returns the key of the whole Service for one of its ports. */
function wholeOf(key: string): string {
  return key.slice(0, key.lastIndexOf('/') + 1);
}

function judge(policy: Policy, ask: Ask<Authorities>): PolicyVerdict {
  const { validation } = policy.spec;
  const { hostname, wellKnownCACertificates: wellKnown } = validation;
  const subjectAltNames = validation.subjectAltNames.map(({ type, hostname = '', uri = '' }) => ({
    type,
    value: type === 'Hostname' ? hostname : uri,
  }));
  const served = { hostname, policy: policy.id, subjectAltNames };
  if (wellKnown === 'System')
    return { tls: { ...served, authorities: 'System' }, accepted: [], resolved: [] };
  if (wellKnown !== undefined) return closed([unknownSet(wellKnown)], []);
  const found = validation.caCertificateRefs.map((_, index) => authorityOf(policy, index, ask));
  const authorities = found.filter(each => 'pem' in each);
  const resolved = found.filter(each => 'reason' in each);
  if (authorities.length === 0) return closed([NO_AUTHORITY], resolved);
  return { tls: { ...served, authorities }, accepted: [], resolved };
}

function closed(accepted: readonly Fault[], resolved: readonly Fault[]): PolicyVerdict {
  return { tls: 'closed', accepted, resolved };
}

const NO_AUTHORITY: Fault = {
  reason: 'NoValidCACertificate',
  field: 'spec.validation.caCertificateRefs',
  message: 'no reference is valid, so requests are answered 5xx',
};

function unknownSet(name: string): Fault {
  return {
    reason: 'Invalid',
    field: 'spec.validation.wellKnownCACertificates',
    message: `"${name}" is not served. Write System. Until then requests are answered 5xx`,
  };
}

const NO_REF = { group: '', kind: '', name: '' };

function authorityOf(policy: Policy, index: number, ask: Ask<Authorities>): CaSource | Fault {
  const field = `spec.validation.caCertificateRefs[${index}]`;
  const ref = policy.spec.validation.caCertificateRefs[index] ?? NO_REF;
  const kind = authorityKind(ref);
  if (kind === undefined) return { reason: 'InvalidKind', field, message: noAuthorities(ref) };
  const namespace = kind === 'ClusterTrustBundle' ? '' : policy.namespace;
  const { name } = ref;
  const found = ask(context => context.authorities(kind, namespace, name));
  return typeof found === 'string'
    ? {
        reason: 'InvalidCACertificateRef',
        field,
        message: notTrusted(kind, namespace, name, found),
      }
    : found;
}
