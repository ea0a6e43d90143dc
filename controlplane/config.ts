import { existsSync } from 'node:fs';
import { delimiter, resolve } from 'node:path';
import { type ConsoleConfig, readConsole } from '#controlplane/console/console-config.ts';
import type { EdgeSystem } from '#controlplane/edges/edge-gateway.ts';
import {
  DEFAULT_CONTROLLER,
  type GatewayOptions,
} from '#controlplane/gateway-api/gateway-options.ts';
import { formatHostPort, type HostPort } from '#grpc/host-port.ts';
import {
  type Environment,
  parseAddress,
  parseList,
  parseLogLevel,
  parseServerAddress,
  readFigures,
  readTrustDomain,
  variablesOf,
} from '#process/environment.ts';
import { ENVOY_VERSION } from '#protos/envoy-api/envoy-files.ts';

export type Config = {
  /** Folders with the operator's resources. */
  readonly resources: readonly string[];
  /** Objects of a Kubernetes API are resources, too. */
  readonly kubernetes?: KubernetesConfig;
  /** Folder for state that must survive a restart. */
  readonly state: string;
  readonly xds: HostPort;
  readonly http: HostPort;
  /** Address of the edge when no ProxyConfig gives one. */
  readonly edge: HostPort;
  /** Address of the edge for TLS when a Host has TLS. */
  readonly edgeTls: HostPort;
  /** The port of https in redirects to clients. Default: the port of `edgeTls`. */
  readonly httpsPort?: number;
  /** The built-in discovery service of instances. */
  readonly sds: HostPort;
  /** The built-in service that runs Filters. */
  readonly extAuthz: HostPort;
  /** The built-in rate limit service. */
  readonly rateLimit: HostPort;
  /** Certificates that `https://` services are checked against: a file on the proxies' machines. */
  readonly caFile: string;
  /**
   * The folder with the control plane's identity. With it, the control plane accepts mutual TLS
   * only, and so do the services on other machines.
   */
  readonly tlsFolder: string | undefined;
  /** Whether proxies speak mutual TLS to each other. */
  readonly hopTls: boolean;
  /** The trust domain in the certificates of the proxies and services. */
  readonly trustDomain: string;
  /** Whether secrets may go to clients on other machines without encryption. */
  readonly plaintextSecrets: boolean;
  /** Whether proxies push statistics and sampled requests to the control plane. */
  readonly figures: boolean;
  /** Who gets the console. */
  readonly console: ConsoleConfig;
  readonly gatewayId: string;
  /** Which Gateways of Gateway API are ours, and whose proxies serve them. */
  readonly gateways: GatewayOptions;
  /** The pods of the proxies that are made for Gateways, and where they reach us. */
  readonly edgePods: Omit<EdgeSystem, 'name' | 'files'>;
  readonly edgeXds: HostPort;
  readonly apiGroups: readonly string[];
  /** Variables whose values Secrets in folders may take, with `*` for any characters. */
  readonly secretVariables: readonly string[];
  /** Folders whose files they may take, beside the folders of resources. */
  readonly secretFiles: readonly string[];
  readonly logLevel: string;
};

export type KubernetesConfig = {
  /** Namespaces whose objects are read. Default: all. */
  readonly namespaces?: readonly string[];
  /** Path of a kubeconfig. Default: the service account that the orchestrator provides. */
  readonly kubeconfig?: string;
};

/** The usual paths: Debian and Envoy's images, Red Hat, macOS and Alpine. */
const CA_FILES = [
  '/etc/ssl/certs/ca-certificates.crt',
  '/etc/pki/tls/certs/ca-bundle.crt',
  '/etc/ssl/cert.pem',
] as const;

/**
 * Reads the control plane's configuration from the environment. Throws an Error that names the
 * variable and what it should be.
 */
export function readConfig(env: Environment): Config {
  const text = variablesOf(env);
  const list = (name: string, otherwise: string, separator: string) =>
    parseList(name, text(name, otherwise), separator);
  const address = (name: string, otherwise: string) => parseAddress(name, text(name, otherwise));
  const server = (name: string, otherwise: string) =>
    parseServerAddress(name, text(name, otherwise));
  const namespaces = list('RESOURCES_KUBERNETES', '', ',');
  const edge = address('EDGE_ADDRESS', '127.0.0.1:8080');
  const edgeTls = address('EDGE_TLS_ADDRESS', '127.0.0.1:8443');
  if (formatHostPort(edge) === formatHostPort(edgeTls))
    throw new Error(
      `EDGE_TLS_ADDRESS is "${formatHostPort(edge)}", which is EDGE_ADDRESS: want another port`,
    );
  const httpsPort = text('EDGE_HTTPS_PORT', '');
  const http = address('HTTP_ADDRESS', '127.0.0.1:8877');
  const kubeconfig = text('KUBECONFIG', '');
  const apiGroups = parseDomains(
    'API_GROUPS',
    list('API_GROUPS', 'gateway.internal,getambassador.io', ','),
    'domain names with commas between, for example gateway.internal',
  );
  const folders = namespaces.length > 0 ? '' : 'envoy/resources';
  return {
    resources: list('RESOURCES', folders, delimiter).map(folder => resolve(folder)),
    ...(namespaces.length > 0 ? { kubernetes: parseKubernetes(namespaces, kubeconfig) } : {}),
    state: resolve(text('STATE', '.gateway')),
    xds: address('XDS_ADDRESS', '127.0.0.1:18000'),
    http,
    console: readConsole(text, http.host),
    edge,
    edgeTls,
    ...(httpsPort === '' ? {} : { httpsPort: parsePort('EDGE_HTTPS_PORT', httpsPort) }),
    sds: server('SDS_ADDRESS', '127.0.0.1:18003'),
    extAuthz: server('EXT_AUTHZ_ADDRESS', '127.0.0.1:18001'),
    rateLimit: server('RATELIMIT_ADDRESS', '127.0.0.1:18002'),
    caFile: text('CA_FILE', CA_FILES.find(file => existsSync(file)) ?? CA_FILES[0]),
    tlsFolder: text('TLS_FOLDER', '') || undefined,
    hopTls: parseFlag('HOP_TLS', text('HOP_TLS', 'false')),
    trustDomain: readTrustDomain(text),
    plaintextSecrets: parseFlag('XDS_PLAINTEXT_SECRETS', text('XDS_PLAINTEXT_SECRETS', 'false')),
    figures: readFigures(text),
    gatewayId: text('GATEWAY_ID', 'default'),
    apiGroups,
    secretVariables: parseVariables(list('SECRET_VARIABLES', 'SECRET_*,*_SECRET', ',')),
    secretFiles: list('SECRET_FILES', '', delimiter).map(folder => resolve(folder)),
    gateways: {
      controller: parseController(text('GATEWAY_CONTROLLER', DEFAULT_CONTROLLER)),
      // Outside a cluster nothing starts proxies for a Gateway.
      sharedEdge: parseEdges(text('GATEWAY_EDGES', 'own')) === 'shared' || namespaces.length === 0,
      edge,
      edgeTls,
      apiGroups,
    },
    edgeXds: server('EDGE_XDS_ADDRESS', 'controlplane:18000'),
    edgePods: {
      image: text('EDGE_IMAGE', `envoyproxy/envoy:v${ENVOY_VERSION}`),
      pullSecrets: parseDomains(
        'EDGE_PULL_SECRETS',
        list('EDGE_PULL_SECRETS', '', ','),
        'names of Secrets with commas between, for example registry',
      ),
      fixedUser: parseFlag('EDGE_FIXED_USER', text('EDGE_FIXED_USER', 'true')),
    },
    logLevel: parseLogLevel(text('LOG_LEVEL', 'info')),
  };
}

/** Parses names that are domains, as those of groups and objects in Kubernetes. */
function parseDomains(variable: string, names: readonly string[], want: string): readonly string[] {
  const wrong = names.find(name => !/^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$/.test(name));
  if (wrong === undefined) return names;
  throw new Error(`${variable} has "${wrong}": want ${want}`);
}

/** Parses names of variables, in which `*` stands for any characters. */
function parseVariables(names: readonly string[]): readonly string[] {
  const wrong = names.find(name => !/^[A-Za-z0-9_*]{1,256}$/.test(name));
  if (wrong === undefined) return names;
  throw new Error(
    `SECRET_VARIABLES has "${wrong}": want names of variables with commas between, for example SHOP_*`,
  );
}

/** Parses the name of a controller, which is a domain and a path. */
function parseController(name: string): string {
  if (/^[a-z0-9]([a-z0-9.-]*[a-z0-9])?\/[A-Za-z0-9/._~%!$&'()*+,;=:-]+$/.test(name)) return name;
  throw new Error(
    `GATEWAY_CONTROLLER is "${name}": want a domain and a path, for example ${DEFAULT_CONTROLLER}`,
  );
}

function parseEdges(text: string): 'own' | 'shared' {
  if (text === 'own' || text === 'shared') return text;
  throw new Error(`GATEWAY_EDGES is "${text}": want own or shared`);
}

function parseKubernetes(namespaces: readonly string[], kubeconfig: string): KubernetesConfig {
  const wrong = namespaces.find(
    name => name !== '*' && !/^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/.test(name),
  );
  if (wrong !== undefined)
    throw new Error(
      `RESOURCES_KUBERNETES has "${wrong}": want names of namespaces with commas between, or * for all`,
    );
  return {
    ...(namespaces.includes('*') ? {} : { namespaces: [...new Set(namespaces)] }),
    ...(kubeconfig === '' ? {} : { kubeconfig }),
  };
}

function parseFlag(name: string, text: string): boolean {
  if (text === 'true' || text === 'false') return text === 'true';
  throw new Error(`${name} is "${text}": want true or false`);
}

function parsePort(name: string, text: string): number {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : 0;
  if (port >= 1 && port <= 65_535) return port;
  throw new Error(`${name} is "${text}": want a port from 1 to 65535, for example 443`);
}
