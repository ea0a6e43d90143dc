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
  const body = await ask(cluster, group);
  const { versions } = isRecord(body) ? body : {};
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
  const body = await ask(cluster, `${group}/${version}`);
  const { resources } = isRecord(body) ? body : {};
  if (!Array.isArray(resources)) return [];
  return resources.flatMap(resource => {
    const { kind, name, namespaced } = isRecord(resource) ? resource : {};
    // `mappings/status` is a part of one.
    if (typeof kind !== 'string' || typeof name !== 'string' || name.includes('/')) return [];
    const scope = namespaced === false ? { clusterWide: true } : {};
    return [{ kind, plural: name, version, ...scope }];
  });
}

/** @returns undefined when there is no such group or version */
async function ask(cluster: Cluster, place: string): Promise<unknown> {
  const { status, body } = await cluster.call({ method: 'GET', path: `/apis/${place}` });
  if (status === 404) return undefined;
  if (status === 200 && isRecord(body)) return body;
  throw new ClusterError(
    `The Kubernetes API at ${cluster.server} does not say which kinds it has in ${place}: ${status} ${statusMessage(body)}`,
    status,
  );
}
