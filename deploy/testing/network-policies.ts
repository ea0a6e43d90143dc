import type { Manifest } from './manifests.ts';

type Labels = Readonly<Record<string, string>>;
export type Selector = {
  readonly matchLabels?: Labels;
  readonly matchExpressions?: readonly {
    readonly key: string;
    readonly operator: string;
    readonly values?: readonly string[];
  }[];
};
type Peer = {
  readonly podSelector?: Selector;
  readonly namespaceSelector?: Selector;
  readonly ipBlock?: { readonly cidr: string; readonly except?: readonly string[] };
};
type Rule = { readonly ports?: readonly { readonly protocol: string; readonly port: number }[] };
export type NetworkPolicy = Manifest & {
  readonly spec: {
    readonly podSelector: Selector;
    readonly policyTypes: readonly string[];
    readonly ingress?: readonly (Rule & { readonly from?: readonly Peer[] })[];
    readonly egress?: readonly (Rule & { readonly to?: readonly Peer[] })[];
  };
};

/** A pod of the namespace, or a peer elsewhere. */
export type Party = { readonly labels: Labels } | 'outside';

/**
 * Tells whether the policies of a namespace let TCP pass, without `endPort` and named ports.
 * Source: Kubernetes' page "Network Policies".
 */
export function mayConnect(
  policies: readonly NetworkPolicy[],
  from: Party,
  to: Party,
  port: number,
): boolean {
  return leaves(policies, from, to, port) && enters(policies, from, to, port);
}

function leaves(policies: readonly NetworkPolicy[], from: Party, to: Party, port: number): boolean {
  const mine = ofPod(policies, from, 'Egress');
  const rules = mine.flatMap(({ spec }) => spec.egress ?? []);
  return mine.length === 0 || rules.some(rule => hasPort(rule, port) && isPeer(rule.to, to));
}

function enters(policies: readonly NetworkPolicy[], from: Party, to: Party, port: number): boolean {
  const mine = ofPod(policies, to, 'Ingress');
  const rules = mine.flatMap(({ spec }) => spec.ingress ?? []);
  return mine.length === 0 || rules.some(rule => hasPort(rule, port) && isPeer(rule.from, from));
}

/** A pod that no policy selects is open to all. */
function ofPod(
  policies: readonly NetworkPolicy[],
  party: Party,
  type: string,
): readonly NetworkPolicy[] {
  if (party === 'outside') return [];
  return policies.filter(
    ({ spec }) => spec.policyTypes.includes(type) && selects(spec.podSelector, party.labels),
  );
}

function hasPort({ ports }: Rule, port: number): boolean {
  return ports === undefined || ports.some(each => each.protocol === 'TCP' && each.port === port);
}

/**
 * `outside` is any address. Blocks of a few addresses do not count as outside, and pods are not
 * matched by blocks.
 */
function isPeer(peers: readonly Peer[] | undefined, party: Party): boolean {
  if (peers === undefined) return true;
  return peers.some(({ podSelector, namespaceSelector, ipBlock }) => {
    if (party === 'outside') return ipBlock?.cidr.endsWith('/0') === true;
    return (
      namespaceSelector === undefined &&
      podSelector !== undefined &&
      selects(podSelector, party.labels)
    );
  });
}

export function selects(
  { matchLabels = {}, matchExpressions = [] }: Selector,
  labels: Labels,
): boolean {
  return (
    Object.entries(matchLabels).every(([key, value]) => labels[key] === value) &&
    matchExpressions.every(({ key, operator, values = [] }) => {
      const isOne = values.includes(labels[key] ?? '');
      if (operator === 'In') return isOne;
      if (operator === 'NotIn') return !isOne;
      throw new Error(`the tests know no operator ${operator}`);
    })
  );
}
