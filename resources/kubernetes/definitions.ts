import type { Cluster } from '#kubernetes/cluster.ts';
import { ClusterError, statusMessage } from '#kubernetes/cluster-error.ts';
import { isRecord } from '#kubernetes/kubernetes-object.ts';
import { isKind, NOT_SERVED } from '#resources/kinds/known-kinds.ts';
import { VERSION } from '#resources/parse/envelope.ts';

/** A kind that the API has in one of the groups that are read. */
export type DefinedKind = {
  readonly kind: string;
  readonly plural: string;
  readonly version: string;
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
  const found = new Map<string, DefinedKind>();
  for (const version of await versionsOf(cluster, group))
    for (const each of await kindsOf(cluster, group, version))
      if (!found.has(each.kind)) found.set(each.kind, each);
  const all = [...found.values()].sort((a, b) => (a.kind < b.kind ? -1 : 1));
  const isKnown = ({ kind }: DefinedKind) => isKind(kind) || Object.hasOwn(NOT_SERVED, kind);
  return {
    // The gateway's kinds are read in one version only.
    read: all.filter(each => isKnown(each) && (!isKind(each.kind) || each.version === VERSION)),
    unknown: all.filter(each => !isKnown(each)).map(({ kind }) => kind),
  };
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
    const { kind, name } = isRecord(resource) ? resource : {};
    // `mappings/status` is a part of one.
    if (typeof kind !== 'string' || typeof name !== 'string' || name.includes('/')) return [];
    return [{ kind, plural: name, version }];
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
