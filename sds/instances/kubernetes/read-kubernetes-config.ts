import { resolve } from 'node:path';
import { type FollowedNamespaces, readKubernetesNamespaces } from './read-kubernetes-namespaces.ts';

export type KubernetesConfig = FollowedNamespaces & {
  /** Absolute path of a kubeconfig. Undefined means the service account of the container. */
  readonly kubeconfig: string | undefined;
};

/**
 * Reads INSTANCES_KUBERNETES and KUBECONFIG.
 * @returns undefined when instances are not looked for in Kubernetes
 * @throws an Error that names the variable
 */
export function readKubernetesConfig(
  namespaces: string,
  kubeconfig: string,
): KubernetesConfig | undefined {
  const found = readKubernetesNamespaces('INSTANCES_KUBERNETES', namespaces);
  return found && { ...found, kubeconfig: kubeconfig === '' ? undefined : resolve(kubeconfig) };
}
