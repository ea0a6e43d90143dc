import { Resolver } from 'node:dns';
import { delimiter, resolve } from 'node:path';
import type { HostPort } from '#grpc/host-port.ts';
import {
  type Environment,
  parseAddress,
  parseInteger,
  parseList,
  parseLogLevel,
  type ReadVariable,
  variablesOf,
} from '#process/environment.ts';
import {
  type KubernetesConfig,
  readKubernetesConfig,
} from './instances/kubernetes/read-kubernetes-config.ts';
import { readSecretsConfig, type SecretsConfig } from './secrets/read-secrets-config.ts';

export type Config = {
  readonly host: string;
  /** 0 means any free port. */
  readonly port: number;
  /**
   * Absolute paths of the files that declare instances. A service has the instances of all of them.
   */
  readonly instancesFiles: readonly string[];
  /** Absolute path of the folder where is kept what these files said last. */
  readonly stateFolder: string;
  /** Undefined when instances are not looked for in Kubernetes. */
  readonly instancesKubernetes: KubernetesConfig | undefined;
  /**
   * Name servers for the names in those files, `address` or `address:port`. Empty means those of
   * the system.
   */
  readonly dnsServers: readonly string[];
  /** The longest time between two queries for a DNS record, even if its own TTL is longer. */
  readonly dnsMaxTtlSeconds: number;
  /** Undefined when no secrets are served. */
  readonly secrets: SecretsConfig | undefined;
  /**
   * Absolute path of the folder with the identity that this port and the control plane connection
   * use. Undefined when all is plain.
   */
  readonly tlsFolder: string | undefined;
  /** Where probes and monitoring are answered in plain HTTP, beside the port. */
  readonly http: HostPort | undefined;
  readonly logLevel: string;
};

const SERVED = ['instances', 'secrets'];

const LARGEST_MAX_TTL_SECONDS = 86_400;

/**
 * Reads the configuration from the environment.
 * - SERVES: instances,secrets
 * - ADDRESS: 127.0.0.1:18003
 * - INSTANCES_FILE: files, with `:` between.
 * - INSTANCES_KUBERNETES: namespaces, or * for all. With instances, it or INSTANCES_FILE is
 *   required.
 * - KUBECONFIG, TLS_FOLDER and HTTP_ADDRESS.
 * - DNS_SERVERS: comma-separated, default: the system's.
 * - DNS_MAX_TTL_SECONDS: 60. Set less where a name server gives longer TTLs than the instances
 *   live.
 * - LOG_LEVEL: info
 * - The variables of readSecretsConfig.
 * An empty variable counts as not set.
 * @throws an Error that names the variable and what it should be
 */
export function readConfig(env: Environment): Config {
  const text = variablesOf(env);
  const serves = parseServes(text('SERVES', SERVED.join(',')));
  const instances = readInstances(text, serves.includes('instances'));
  const tlsFolder = text('TLS_FOLDER', '');
  const http = text('HTTP_ADDRESS', '');
  const secrets = readSecretsConfig(text);
  return {
    ...parseAddress('ADDRESS', text('ADDRESS', '127.0.0.1:18003')),
    ...instances,
    stateFolder: resolve(text('STATE', '.gateway')),
    secrets: serves.includes('secrets') ? secrets : undefined,
    tlsFolder: tlsFolder === '' ? undefined : resolve(tlsFolder),
    http: http === '' ? undefined : parseAddress('HTTP_ADDRESS', http),
    dnsServers: parseDnsServers(text('DNS_SERVERS', '')),
    dnsMaxTtlSeconds: parseInteger(
      'DNS_MAX_TTL_SECONDS',
      text('DNS_MAX_TTL_SECONDS', '60'),
      LARGEST_MAX_TTL_SECONDS,
      ' of seconds',
    ),
    logLevel: parseLogLevel(text('LOG_LEVEL', 'info')),
  };
}

function parseServes(text: string): readonly string[] {
  const items = text.split(',').map(item => item.trim());
  if (items.every(item => SERVED.includes(item))) return items;
  throw new Error(`SERVES is "${text}": want instances, secrets, or both separated by a comma`);
}

function readInstances(text: ReadVariable, served: boolean) {
  const files = parseList('INSTANCES_FILE', text('INSTANCES_FILE', ''), delimiter);
  const kubernetes = readKubernetesConfig(text('INSTANCES_KUBERNETES', ''), text('KUBECONFIG', ''));
  if (!served) return { instancesFiles: [], instancesKubernetes: undefined };
  if (files.length === 0 && kubernetes === undefined)
    throw new Error(
      'INSTANCES_FILE is not set: want the path of a YAML file with "services", or INSTANCES_KUBERNETES',
    );
  return { instancesFiles: files.map(file => resolve(file)), instancesKubernetes: kubernetes };
}

function parseDnsServers(text: string): readonly string[] {
  const servers = parseList('DNS_SERVERS', text, ',');
  try {
    new Resolver().setServers(servers);
  } catch {
    throw new Error(
      `DNS_SERVERS is "${text}": want IP addresses, each with :port or without, separated by commas`,
    );
  }
  return servers;
}
