import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Cluster } from '../cluster.ts';
import type { KubernetesObject } from '../kubernetes-object.ts';
import { createObject } from '../write.ts';
import { type KubeApiserver, readText } from './kube-apiserver.ts';

/** A rule of RBAC. Source: rbac.authorization.k8s.io/v1, PolicyRule. */
export type Rule = {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
  readonly resourceNames?: readonly string[];
};

const CORE = { group: '', version: 'v1' };
const RBAC = { group: 'rbac.authorization.k8s.io', version: 'v1' };

/** Makes a namespace, unless it is there already. */
export async function makeNamespace(cluster: Cluster, name: string): Promise<void> {
  await createObject(
    { cluster, resource: { ...CORE, plural: 'namespaces' } },
    { metadata: { name } },
  );
}

/** Makes a service account that may do just this in its namespace. */
export async function makeServiceAccount(
  cluster: Cluster,
  { namespace, name }: { readonly namespace: string; readonly name: string },
  rules: readonly Rule[],
): Promise<void> {
  const metadata = { name, namespace };
  const accounts = { cluster, resource: { ...CORE, plural: 'serviceaccounts', namespace } };
  await createObject(accounts, { metadata });
  await createObject(
    { cluster, resource: { ...RBAC, plural: 'roles', namespace } },
    { metadata, rules },
  );
  const binding = {
    metadata,
    roleRef: { apiGroup: RBAC.group, kind: 'Role', name },
    subjects: [{ kind: 'ServiceAccount', name, namespace }],
  };
  await createObject(
    { cluster, resource: { ...RBAC, plural: 'rolebindings', namespace } },
    binding,
  );
}

/** Makes a ClusterRole, unless it is there, and grants it in all namespaces or in these. */
export async function grantCluster(
  cluster: Cluster,
  { namespace, name }: { readonly namespace: string; readonly name: string },
  role: KubernetesObject,
  namespaces?: readonly string[],
): Promise<void> {
  await createObject({ cluster, resource: { ...RBAC, plural: 'clusterroles' } }, role);
  const binding = {
    metadata: { name: `${name}-${role.metadata.name}` },
    roleRef: { apiGroup: RBAC.group, kind: 'ClusterRole', name: role.metadata.name },
    subjects: [{ kind: 'ServiceAccount', name, namespace }],
  };
  const everywhere = [{ ...RBAC, plural: 'clusterrolebindings' }];
  const places = namespaces?.map(each => ({ ...RBAC, plural: 'rolebindings', namespace: each }));
  for (const resource of places ?? everywhere) await createObject({ cluster, resource }, binding);
}

/** A token of the account, good for an hour, by the TokenRequest API. */
export async function issueToken(
  cluster: Cluster,
  namespace: string,
  name: string,
): Promise<string> {
  const { status, body } = await cluster.call({
    method: 'POST',
    path: `/api/v1/namespaces/${namespace}/serviceaccounts/${name}/token`,
    body: {
      apiVersion: 'authentication.k8s.io/v1',
      kind: 'TokenRequest',
      spec: { expirationSeconds: 3600 },
    },
  });
  if (status !== 201) throw new Error(`no token for ${namespace}/${name}: ${JSON.stringify(body)}`);
  return (body as { status: { token: string } }).status.token;
}

/**
 * Puts into `root` what the orchestrator puts into a container of the account. The token can be
 * written again.
 */
export async function mountServiceAccount(
  root: string,
  api: KubeApiserver,
  namespace: string,
  token: string,
) {
  const folder = join(root, 'var/run/secrets/kubernetes.io/serviceaccount');
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, 'ca.crt'), await readText(api.caFile));
  await writeFile(join(folder, 'namespace'), namespace);
  const writeToken = (next: string) => writeFile(join(folder, 'token'), next);
  await writeToken(token);
  return { folder, writeToken };
}
