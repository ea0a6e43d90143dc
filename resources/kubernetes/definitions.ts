import type { Cluster } from '#kubernetes/cluster.ts';
import { ClusterError, statusMessage } from '#kubernetes/cluster-error.ts';
import { isRecord } from '#kubernetes/kubernetes-object.ts';
import {
  CERTIFICATES_GROUP,
  GATEWAY_API_GROUP,
  GATEWAY_API_VERSIONS,
  NOT_SERVED,
  TRUST_BUNDLE_VERSIONS,
} from '#resources/kinds/known-kinds.ts';
import { VERSION } from '#resources/parse/envelope.ts';
import { isServedKind } from './served-kinds.ts';

/** A kind that the API has in one of the groups that are read. */
export type DefinedKind = {
  readonly kind: string;
  readonly plural: string;
  readonly version: string;
  /** Whether its objects have no namespace. */
  readonly clusterWide?: boolean;
};

/** The kinds of a group, each in one version. */
export type DefinedKinds = {
  /**
   * Those that are read: the gateway's kinds, and Ambassador's kinds that are not served and may
   * restrict access.
   */
  readonly read: readonly DefinedKind[];
  /** Names of all other kinds, which the gateway does not know. */
  readonly unknown: readonly string[];
};

/**
 * Returns which kinds the API has in this group. There are none when it does not know the group.
 * Every account may ask this. See Kubernetes API concepts, "API discovery" (APIGroup,
 * APIResourceList).
 * @throws ClusterError
 */
export async function definedKinds(cluster: Cluster, group: string): Promise<DefinedKinds> {
  const all: DefinedKind[] = [];
  for (const version of await versionsOf(cluster, group))
    all.push(...(await kindsOf(cluster, group, version)));
  all.sort((a, b) => (a.kind < b.kind ? -1 : Number(a.kind > b.kind)));
  if (group === GATEWAY_API_GROUP) return ofVersions(all, GATEWAY_API_VERSIONS);
  if (group === CERTIFICATES_GROUP) return ofVersions(all, TRUST_BUNDLE_VERSIONS);
  return ofOwnGroup(all);
}

/** The gateway's kinds are read in one version only, and others in the first that there is. */
function ofOwnGroup(all: readonly DefinedKind[]): DefinedKinds {
  const first = all.filter(
    ({ kind }, index) => all.findIndex(other => other.kind === kind) === index,
  );
  const isKnown = ({ kind }: DefinedKind) => isServedKind(kind) || Object.hasOwn(NOT_SERVED, kind);
  return {
    read: first.filter(
      each => isKnown(each) && (!isServedKind(each.kind) || each.version === VERSION),
    ),
    unknown: first.filter(each => !isKnown(each)).map(({ kind }) => kind),
  };
}

/** Each kind is read in the newest version that the API has. Its other kinds mean nothing here. */
function ofVersions(
  all: readonly DefinedKind[],
  wanted: Readonly<Record<string, readonly string[]>>,
): DefinedKinds {
  const read = Object.entries(wanted).flatMap(([kind, versions]) => {
    const defined = versions.map(version =>
      all.find(each => each.kind === kind && each.version === version),
    );
    return defined.find(each => each !== undefined) ?? [];
  });
  return { read, unknown: [] };
}

/** Lists the gateway's own version first. */
async function versionsOf(cluster: Cluster, group: string): Promise<readonly string[]> {
  const known = await ask(cluster, `/apis/${group}`, 'APIGroup');
  if (known === undefined) await confirmUnknown(cluster, group);
  const { versions } = known ?? {};
  const names = Array.isArray(versions)
    ? versions.map(each => (isRecord(each) ? each.version : ''))
    : [];
  const others = names.filter(name => typeof name === 'string' && name !== VERSION && name !== '');
  return names.includes(VERSION) ? [VERSION, ...(others as string[])] : (others as string[]);
}

async function kindsOf(
  cluster: Cluster,
  group: string,
  version: string,
): Promise<readonly DefinedKind[]> {
  const path = `/apis/${group}/${version}`;
  const known = await ask(cluster, path, 'APIResourceList');
  if (known === undefined) throw unclear(cluster, path, '404 for a version that it has named');
  const { resources } = known;
  if (!Array.isArray(resources)) return [];
  return resources.flatMap(resource => {
    const { kind, name, namespaced } = isRecord(resource) ? resource : {};
    // `mappings/status` is a part of one.
    if (typeof kind !== 'string' || typeof name !== 'string' || name.includes('/')) return [];
    const scope = namespaced === false ? { clusterWide: true } : {};
    return [{ kind, plural: name, version, ...scope }];
  });
}

/**
 * A load balancer that has lost the API answers 404, too. To take that for an empty group would
 * drop all that is in force.
 */
async function confirmUnknown(cluster: Cluster, group: string): Promise<void> {
  const { groups } = (await ask(cluster, '/apis', 'APIGroupList')) ?? {};
  const isNamed = (each: unknown) => isRecord(each) && each.name === group;
  if (!Array.isArray(groups) || groups.some(isNamed))
    throw unclear(cluster, `/apis/${group}`, '404, and its list of groups does not confirm it');
}

/** @returns undefined when the answer is 404 */
async function ask(cluster: Cluster, path: string, kind: string) {
  const { status, body } = await cluster.call({ method: 'GET', path });
  if (status === 404) return undefined;
  if (status === 200 && isRecord(body) && body.kind === kind) return body;
  throw unclear(cluster, path, `${status} ${statusMessage(body)}`, status);
}

function unclear({ server }: Cluster, path: string, what: string, status?: number): ClusterError {
  return new ClusterError(
    `The Kubernetes API at ${server} does not say which kinds it has at ${path}: ${what}`,
    status,
  );
}
