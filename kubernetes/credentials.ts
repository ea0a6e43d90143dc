import { accessSync, existsSync, readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import type { Agent } from 'node:http';
import type { RequestOptions } from 'node:https';
import { isIPv6 } from 'node:net';
import { join, resolve } from 'node:path';
import { ClusterError } from './cluster-error.ts';
import { execPlugin, type PluginCredential } from './exec-plugin.ts';
import {
  type Fields,
  fieldsOf,
  type Kubeconfig,
  KubeconfigError,
  readKubeconfig,
  textOf,
  textsOf,
} from './kubeconfig.ts';

/** What this process proves to the API, and what the API proves to it. */
export type Credentials = {
  readonly server: string;
  /** The namespace of the kubeconfig's context, or the process's own one in a cluster. */
  readonly namespace: string;
  /**
   * Returns the TLS options and headers of a request. Files of tokens, certificates and authorities
   * are read each time.
   */
  options(): Promise<RequestOptions>;
};

export type CredentialsSource = {
  /** Path of a kubeconfig. Absent: what the orchestrator puts into a container. */
  readonly kubeconfig?: string | undefined;
  /** Prefix of the paths of the orchestrator's files, for tests. Default: ''. */
  readonly root?: string | undefined;
};

const SERVICE_ACCOUNT = '/var/run/secrets/kubernetes.io/serviceaccount';

/**
 * Reads a kubeconfig (with its client certificates, tokens, exec plugins and proxies) or the
 * service account of a container.
 * @throws ClusterError when there is neither, or when it asks for what is not supported
 */
export async function loadCredentials({
  kubeconfig,
  root = '',
}: CredentialsSource): Promise<Credentials> {
  const folder = join(root, SERVICE_ACCOUNT);
  try {
    if (kubeconfig === undefined) return await credentialsOf(readServiceAccount(folder), NOWHERE);
    const nowhere = `The current context of the kubeconfig ${kubeconfig} names no server`;
    return await credentialsOf(readKubeconfig(kubeconfig), nowhere);
  } catch (error) {
    if (error instanceof ClusterError) throw error;
    throw new ClusterError(whyNot(kubeconfig, join(folder, 'token'), error), undefined, {
      cause: error,
    });
  }
}

const NOWHERE = 'KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT do not say where the API is';

/** Returns what the orchestrator put into `folder`, in the words of a kubeconfig. */
function readServiceAccount(folder: string): Kubeconfig {
  accessSync(join(folder, 'token'));
  const { KUBERNETES_SERVICE_HOST: host = '', KUBERNETES_SERVICE_PORT: port = '' } = process.env;
  const namespace = join(folder, 'namespace');
  return {
    folder,
    cluster: {
      server: host && port && `https://${isIPv6(host) ? `[${host}]` : host}:${port}`,
      'certificate-authority': 'ca.crt',
    },
    user: { tokenFile: 'token' },
    namespace: existsSync(namespace) ? readFileSync(namespace, 'utf8').trim() : undefined,
  };
}

function whyNot(kubeconfig: string | undefined, token: string, error: unknown): string {
  const reason = reasonOf(error);
  if (kubeconfig !== undefined) return `Cannot read the kubeconfig ${kubeconfig}: ${reason}`;
  return `This is not a container of a cluster (cannot read ${token}: ${reason}). Set KUBECONFIG to a kubeconfig`;
}

/** Messages of other errors may quote the file. */
function reasonOf(error: unknown): string {
  if (error instanceof KubeconfigError) return error.message;
  return error instanceof Error && 'code' in error ? String(error.code) : 'it is malformed';
}

async function credentialsOf(config: Kubeconfig, nowhere: string): Promise<Credentials> {
  const { cluster } = config;
  const server = textOf(cluster, 'server') ?? '';
  if (!URL.canParse(server) || !/^https?:/.test(server)) throw new ClusterError(nowhere);
  const insecure = cluster['insecure-skip-tls-verify'] === true;
  if (server.startsWith('http:') && !insecure)
    throw new ClusterError(
      `The Kubernetes API at ${server} would get the token in plain text. Use https, or set insecure-skip-tls-verify`,
    );
  const servername = textOf(cluster, 'tls-server-name');
  const agent = await proxyAgent(textOf(cluster, 'proxy-url'));
  const ca = contentOf(config, cluster, 'certificate-authority');
  const identity = identityOf(config);
  return {
    server: server.replace(/\/+$/, ''),
    namespace: config.namespace?.trim() || 'default',
    options: async () => ({
      ...(insecure && { rejectUnauthorized: false }),
      ...(servername !== undefined && { servername }),
      ...(agent !== undefined && { agent }),
      ...present({ ca: await ca() }),
      ...(await identity()),
    }),
  };
}

/** Only kubeconfigs ask for proxies, so the packages are loaded on demand. */
async function proxyAgent(url: string | undefined): Promise<Agent | undefined> {
  if (url === undefined) return undefined;
  const scheme = URL.canParse(url) ? new URL(url).protocol : '';
  if (/^https?:$/.test(scheme)) return new (await import('https-proxy-agent')).HttpsProxyAgent(url);
  if (/^socks[45]?[ah]?:$/.test(scheme))
    return new (await import('socks-proxy-agent')).SocksProxyAgent(url);
  throw new KubeconfigError('proxy-url is no URL of an http, https or socks5 proxy');
}

/** Returns a function that gives what a user of a kubeconfig adds to each request. */
function identityOf(config: Kubeconfig): () => Promise<RequestOptions> {
  const { user } = config;
  const cert = contentOf(config, user, 'client-certificate');
  const key = contentOf(config, user, 'client-key');
  const username = textOf(user, 'username');
  const auth = username && `${username}:${textOf(user, 'password') ?? ''}`;
  const impersonation = impersonationOf(user);
  const secret = secretOf(config);
  return async () => {
    const { token, ...pair } = await secret();
    const authorization = token && `Bearer ${token}`;
    return {
      ...present({ cert: await cert(), key: await key(), auth }),
      ...pair,
      headers: { ...impersonation, ...present({ authorization }) },
    };
  };
}

/** A plugin has priority over a file, and a file over a token, as in client-go. */
function secretOf({ folder, user }: Kubeconfig): () => Promise<PluginCredential> {
  const provider = fieldsOf(user['auth-provider']).name;
  if (provider !== undefined)
    throw new KubeconfigError(`auth-provider ${provider} is not supported, use an exec plugin`);
  if (user.exec) return execPlugin(fieldsOf(user.exec), folder);
  const file = textOf(user, 'tokenFile');
  if (file !== undefined)
    return async () => ({ token: (await readFile(resolve(folder, file), 'utf8')).trim() });
  const token = textOf(user, 'token');
  return async () => present({ token });
}

/** Source: https://kubernetes.io/docs/reference/access-authn-authz/user-impersonation/ */
function impersonationOf(user: Fields): Record<string, string | readonly string[]> {
  const extra = fieldsOf(user['as-user-extra']);
  const groups = textsOf(user, 'as-groups');
  return {
    ...present({
      'impersonate-user': textOf(user, 'as'),
      'impersonate-uid': textOf(user, 'as-uid'),
      'impersonate-group': groups.length === 0 ? undefined : groups,
    }),
    ...Object.fromEntries(
      Object.keys(extra).map(name => [
        `impersonate-extra-${encodeURIComponent(name)}`,
        textsOf(extra, name),
      ]),
    ),
  };
}

/** Returns a function that gives the content of a field `<name>-data`, or else of the file. */
function contentOf(
  { folder }: Kubeconfig,
  fields: Fields,
  name: string,
): () => Promise<Buffer | undefined> {
  const data = textOf(fields, `${name}-data`);
  const file = textOf(fields, name);
  if (data !== undefined) return async () => Buffer.from(data, 'base64');
  return async () => (file === undefined ? undefined : readFile(resolve(folder, file)));
}

/** Returns the fields that are not undefined. */
function present<T extends Readonly<Record<string, unknown>>>(
  fields: T,
): { [K in keyof T]?: Exclude<T[K], undefined | ''> } {
  return Object.fromEntries(
    Object.entries(fields).filter(([, value]) => value !== undefined && value !== ''),
  ) as { [K in keyof T]?: Exclude<T[K], undefined | ''> };
}
