import { resolve } from 'node:path';
import { parseList } from '#process/environment.ts';

export type KubernetesConfig = {
  /** The namespaces whose services are followed. Undefined means all. */
  readonly namespaces: readonly string[] | undefined;
  /** Absolute path of a kubeconfig. Undefined means the service account of the container. */
  readonly kubeconfig: string | undefined;
};

const NAMESPACE = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/;

/**
 * Reads INSTANCES_KUBERNETES and KUBECONFIG.
 * @returns undefined when instances are not looked for in Kubernetes
 * @throws an Error that names the variable
 */
export function readKubernetesConfig(
  namespaces: string,
  kubeconfig: string,
): KubernetesConfig | undefined {
  const names = parseList('INSTANCES_KUBERNETES', namespaces, ',');
  if (names.length === 0) return undefined;
  const wrong = names.find(name => name !== '*' && !NAMESPACE.test(name));
  if (wrong !== undefined)
    throw new Error(
      `INSTANCES_KUBERNETES has "${wrong}": want names of namespaces with commas between, or * for all`,
    );
  return {
    namespaces: names.includes('*') ? undefined : [...new Set(names)],
    kubeconfig: kubeconfig === '' ? undefined : resolve(kubeconfig),
  };
}
