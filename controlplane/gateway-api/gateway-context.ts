import type { Memo } from '#controlplane/compile/memo.ts';
import type { LabelSelector } from '#resources/kinds/gateway-api/label-selector.ts';
import { type Resource, resourceId } from '#resources/resource.ts';
import type { ResourceSet } from '#resources/resource-set.ts';
import {
  type Authorities,
  type BackendTlsPolicies,
  backendTlsPolicies,
} from './backend-tls-policies.ts';
import { authoritiesIn, keyPairFault } from './certificate-objects.ts';
import { edgePorts } from './edge-ports.ts';
import type { GatewayOptions } from './gateway-options.ts';
import { type Labels, selects } from './label-selector.ts';
import { type Filters, grantsOf, type Referent, type Referrer } from './reference.ts';
import type { RouteParent } from './route-parent.ts';
import type { CaSource } from './served-gateway.ts';
import { type TargetedPolicies, targetedPolicies } from './targeted-policies.ts';

/** Namespaces that a listener or a Gateway allows. */
export type AllowedNamespaces = {
  readonly from: 'All' | 'Selector' | 'Same' | 'None';
  readonly selector?: LabelSelector;
};

/**
 * Answers questions about the resources. Answers are texts, booleans, or objects that stay the same
 * while what they tell stays the same.
 */
export type GatewayContext = Filters &
  Authorities & {
    /** Whether the Services are all that exist. */
    readonly knowsServices: boolean;
    service(namespace: string, name: string): Resource<'Service'> | undefined;
    proxyConfig(namespace: string, name: string): Resource<'ProxyConfig'> | undefined;
    /** Returns whether the edge that Gateways share serves Mappings at a port. */
    isEdgePort(port: number): boolean;
    /** Returns whether there is such a Gateway or ListenerSet, of whichever controller. */
    knowsParent(id: string): boolean;
    /** Returns one of our Gateways or ListenerSets. */
    parent(id: string): RouteParent | undefined;
    /** The ids of our default Gateways, in one text. */
    readonly defaultGateways: string;
    permits(from: Referrer, to: Referent): boolean;
    /** Returns whether what is in `namespace` may attach to an object of the namespace `home`. */
    admits(allowed: AllowedNamespaces, home: string, namespace: string): boolean;
    /** Returns why a Secret cannot be presented as a certificate. */
    keyPairFault(namespace: string, name: string): string | undefined;
    /** Returns what the policy in force for a port of a Service asks for. */
    backendTls: BackendTlsPolicies['inForce'];
    readonly targeted: TargetedPolicies;
  };

/** A context before the parents of routes are known. */
export type ObjectsContext = Omit<GatewayContext, 'defaultGateways' | 'parent'> & {
  readonly policies: BackendTlsPolicies;
};

/** A context, and where results about it are kept. */
export type Known = { readonly context: ObjectsContext; readonly memo: Memo };

type AuthorityObject = Resource<CaSource['kind']>;

/** Creates what answers about these resources. */
export function objectsContext(
  resources: ResourceSet,
  options: GatewayOptions,
  memo: Memo,
): ObjectsContext {
  const services = byId(resources.services);
  const filters = byId(resources.filters);
  const proxyConfigs = byId(resources.proxyConfigs);
  const secrets = byId(resources.secrets);
  const { clusterTrustBundles, configMaps } = resources;
  const authorities = byId<AuthorityObject>([
    ...clusterTrustBundles,
    ...configMaps,
    ...resources.secrets,
  ]);
  const namespaces = byId(resources.namespaces);
  const taken = edgePorts(resources, options);
  const parents = new Set([...resources.gateways, ...resources.listenerSets].map(({ id }) => id));
  const isSelected: SelectsNamespace = (selector, name) => {
    const found = namespaces.get(`Namespace//${name}`);
    // In a cluster each has labels, which the gateway may have no right to read.
    const areAll = found !== undefined || !resources.knowsServices;
    return selects(selector, namespaceLabels(name, found), areAll);
  };
  const context: ObjectsContext = {
    options,
    knowsServices: resources.knowsServices,
    service: (namespace, name) => services.get(resourceId('Service', namespace, name)),
    filter: (namespace, name) => filters.get(resourceId('Filter', namespace, name)),
    proxyConfig: (namespace, name) => proxyConfigs.get(resourceId('ProxyConfig', namespace, name)),
    isEdgePort: port => taken.includes(port),
    knowsParent: id => parents.has(id),
    permits: grantsOf(resources.referenceGrants),
    admits: (allowed, home, namespace) => admits(allowed, home, namespace, isSelected),
    keyPairFault: (namespace, name) =>
      keyPairFault(secrets.get(resourceId('Secret', namespace, name)), memo),
    authorities: (kind, namespace, name) =>
      authoritiesIn(authorities.get(resourceId(kind, namespace, name)), memo),
    backendTls: (...of) => context.policies.inForce(...of),
    targeted: targetedPolicies(resources, memo),
    policies: backendTlsPolicies(resources, memo, () => context),
  };
  return context;
}

function byId<T extends { readonly id: string }>(resources: readonly T[]): ReadonlyMap<string, T> {
  return new Map(resources.map(resource => [resource.id, resource]));
}

/** Kubernetes labels every namespace with its name. */
function namespaceLabels(name: string, namespace: Resource<'Namespace'> | undefined): Labels {
  return { 'kubernetes.io/metadata.name': name, ...namespace?.metadata?.labels };
}

type SelectsNamespace = (selector: LabelSelector, namespace: string) => boolean;

function admits(
  { from, selector }: AllowedNamespaces,
  home: string,
  namespace: string,
  isSelected: SelectsNamespace,
): boolean {
  switch (from) {
    case 'All':
      return true;
    case 'Same':
      return namespace === home;
    case 'Selector':
      return selector !== undefined && isSelected(selector, namespace);
    case 'None':
      return false;
  }
}
