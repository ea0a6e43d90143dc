import { accessSync } from 'node:fs';
import type { RequestOptions } from 'node:https';
import { join } from 'node:path';
import type { KubeConfig } from '@kubernetes/client-node';
import { ClusterError } from './cluster-error.ts';

/** What this process proves to the API, and what the API proves to it. */
export type Credentials = {
  readonly server: string;
  /** The namespace of the kubeconfig's context, or the process's own one in a cluster. */
  readonly namespace: string;
  /**
   * Returns the TLS options and headers of a request. Changed files of tokens and authorities are
   * read again.
   */
  options(): Promise<RequestOptions>;
};

export type CredentialsSource = {
  /** Path of a kubeconfig. Absent: what the orchestrator puts into a container. */
  readonly kubeconfig?: string | undefined;
  /** Prefix of the paths of the orchestrator's files, for tests. Default: ''. */
  readonly root?: string | undefined;
};

const TOKEN = '/var/run/secrets/kubernetes.io/serviceaccount/token';

/**
 * Reads a kubeconfig (with its client certificates, tokens and exec plugins) or the service account
 * of a container. The package is loaded here, so that processes without Kubernetes need no 90 MB
 * for it.
 * @throws ClusterError when there is neither
 */
export async function loadCredentials({
  kubeconfig,
  root = '',
}: CredentialsSource): Promise<Credentials> {
  const { KubeConfig } = await import('@kubernetes/client-node');
  const config = new KubeConfig();
  try {
    if (kubeconfig !== undefined) config.loadFromFile(kubeconfig);
    else {
      accessSync(join(root, TOKEN));
      config.loadFromCluster(root);
    }
  } catch (error) {
    throw new ClusterError(whyNot(kubeconfig, join(root, TOKEN), error), undefined, {
      cause: error,
    });
  }
  return credentialsOf(config, kubeconfig);
}

function whyNot(kubeconfig: string | undefined, token: string, error: unknown): string {
  const reason = error instanceof Error && 'code' in error ? String(error.code) : 'it is malformed';
  if (kubeconfig !== undefined) return `Cannot read the kubeconfig ${kubeconfig}: ${reason}`;
  return `This is not a container of a cluster (cannot read ${token}: ${reason}). Set KUBECONFIG to a kubeconfig`;
}

function credentialsOf(config: KubeConfig, kubeconfig: string | undefined): Credentials {
  const cluster = config.getCurrentCluster();
  const server = cluster?.server ?? '';
  if (!URL.canParse(server) || !/^https?:/.test(server))
    throw new ClusterError(
      kubeconfig === undefined
        ? 'KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT do not say where the API is'
        : `The current context of the kubeconfig ${kubeconfig} names no server`,
    );
  return {
    server: server.replace(/\/+$/, ''),
    namespace: config.getContextObject(config.getCurrentContext())?.namespace?.trim() || 'default',
    async options() {
      const options: RequestOptions = { headers: {} };
      await config.applyToHTTPSOptions(options);
      // The package's agent keeps the authorities that it was made with. It is still needed for a
      // proxy, which only it supports.
      if (!cluster?.proxyUrl) delete options.agent;
      return options;
    },
  };
}
