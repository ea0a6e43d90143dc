import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { BootstrapOptions } from '#envoy/bootstrap.ts';
import { tryHttpRequest } from './http-request.ts';
import type { Part } from './part.ts';
import { instancePorts, type Ports } from './ports.ts';
import { sentListeners } from './sent-listeners.ts';
import type { StateFolder } from './state-folder.ts';

/** The inputs from which the parts of one system are made. */
export type Layout = {
  /** The Node that runs our processes. */
  readonly node: string;
  readonly envoy: string;
  /** The operator's own resources. */
  readonly resources: string;
  /** The instances of the operator's own services, as a file. */
  readonly services?: string;
  /** Whether the resources are the demo's. */
  readonly demo: boolean;
  /** Whether the sample's identity provider runs, for the demo and for other samples. */
  readonly provider: boolean;
  readonly state: StateFolder;
  readonly ports: Ports;
  readonly portOffset: number;
  /** The variables that the whole was started with. The parts have them, too. */
  readonly environment: Readonly<Record<string, string | undefined>>;
};

/** A proxy part, with its bootstrap's parameters for `#envoy/bootstrap.ts`. */
export type EnvoyPart = Part & {
  readonly group: string;
  readonly admin: string;
  readonly listeners?: Pick<BootstrapOptions, 'localAdminAddress' | 'statsAddress'>;
  readonly bootstrapFile: string;
};

/**
 * An Envoy under SIGTERM ends at once, so drain-envoy.ts drains it before. Access logs are written
 * out every second, because Envoy's own 10 s are long for a person who looks. The filter for each
 * try warns of each shadowed request, which has no client.
 */
const ENVOY_ARGS = [
  ...['--disable-hot-restart', '--concurrency', '1', '-l', 'warning'],
  ...['--component-log-level', 'rbac:error'],
  ...['--file-flush-interval-msec', '1000'],
];

export function controlplanePart(layout: Layout): Part {
  const { ports, state } = layout;
  return nodePart(layout, 'controlplane', 'controlplane/main.ts', {
    RESOURCES: [layout.resources, state.resources].join(delimiter),
    STATE: state.path,
    XDS_ADDRESS: loopback(ports.xds),
    HTTP_ADDRESS: loopback(ports.http),
    SDS_ADDRESS: loopback(ports.sds),
    RATELIMIT_ADDRESS: loopback(ports.rateLimit),
    EXT_AUTHZ_ADDRESS: loopback(ports.extAuthz),
    ...edgeAddresses(layout),
    HOP_TLS: 'true',
  });
}

/** Where the edge listens when no resource says so. */
export type EdgeAddresses = Readonly<Record<'EDGE_ADDRESS' | 'EDGE_TLS_ADDRESS', string>>;

/** Returns where the edge of a gateway listens. The demo asks its own on the loopback. */
export function edgeAddresses({
  demo,
  environment,
  ports,
}: Pick<Layout, 'demo' | 'environment' | 'ports'>): EdgeAddresses {
  const { EDGE_ADDRESS, EDGE_TLS_ADDRESS } = demo ? {} : environment;
  return {
    EDGE_ADDRESS: EDGE_ADDRESS?.trim() || loopback(ports.edge),
    EDGE_TLS_ADDRESS: EDGE_TLS_ADDRESS?.trim() || loopback(ports.edgeTls),
  };
}

export function sdsPart(layout: Layout): Part {
  return nodePart(layout, 'sds', 'sds/main.ts', {
    INSTANCES_FILE: [layout.state.instancesFile, layout.services].filter(Boolean).join(delimiter),
    ADDRESS: loopback(layout.ports.sds),
    XDS_ADDRESS: loopback(layout.ports.xds),
    STATE: layout.state.path,
  });
}

/**
 * Is ready when it has its limits. With REDIS_URL in the environment it shares its counters.
 * COUNTERS_REDIS_URL keeps them apart from the sessions, which are at REDIS_URL.
 */
export function rateLimitPart(layout: Layout): Part {
  const { COUNTERS_REDIS_URL: own, REDIS_URL: shared } = layout.environment;
  return nodePart(layout, 'ratelimit-service', 'ratelimit-service/main.ts', {
    ADDRESS: loopback(layout.ports.rateLimit),
    XDS_ADDRESS: loopback(layout.ports.xds),
    WORKERS: own || shared ? workers(layout) : '1',
    ...(own ? { REDIS_URL: own } : {}),
  });
}

/**
 * Is ready when it has its Filters and FilterPolicies. With REDIS_URL in the environment it shares
 * its sessions.
 */
export function extAuthzPart(layout: Layout): Part {
  return nodePart(layout, 'ext-authz', 'ext-authz/main.ts', {
    ADDRESS: loopback(layout.ports.extAuthz),
    XDS_ADDRESS: loopback(layout.ports.xds),
    WORKERS: workers(layout),
    STATE: layout.state.path,
  });
}

/** Each service has one worker by default. A machine that runs all parts has other work to do. */
function workers({ environment }: Layout): string {
  return environment.WORKERS || '1';
}

/** The provider that the demo's users log in at. */
export function identityProviderPart(layout: Layout): Part {
  const { ports, state } = layout;
  return nodePart(layout, 'identity-provider', 'identity-provider/main.ts', {
    ADDRESS: loopback(ports.identityProvider),
    GATEWAY_ORIGINS: [
      `http://${loopback(ports.edge)}`,
      `http://localhost:${ports.edge}`,
      `https://localhost:${ports.edgeTls}`,
    ].join(),
    STATE: state.path,
  });
}

/**
 * Threads that hash passwords share what glibc keeps of their blocks. Otherwise it keeps up to 38
 * MiB for each of them.
 */
const ONE_ARENA = { MALLOC_ARENA_MAX: '1' };

/**
 * Instance `number` of the user service. A DATABASE_URL of the environment has priority over the
 * file.
 */
export function servicePart(layout: Layout, number: number): Part {
  return nodePart(layout, instanceName(number), 'user-service/main.ts', {
    HOST: '127.0.0.1',
    PORT: String(instancePorts(layout.portOffset, number).service),
    DATABASE_FILE: layout.state.databaseFile,
    INSTANCE_NAME: instanceName(number),
    ...ONE_ARENA,
  });
}

/**
 * The Envoy beside instance `number`. It is ready when it has a listener, and the certificate that
 * clients need to see there.
 */
export function instanceProxyPart(layout: Layout, number: number): EnvoyPart {
  const name = instanceName(number);
  const admin = adminSocket(layout, name);
  const probe = async () => (await hasListener(admin)) && (await hasCertificate(admin));
  return envoyPart(layout, { name: `${name}-proxy`, group: name, admin, probe });
}

/** The edge Envoy. It is ready when it has accepted a configuration with a listener. */
export function edgePart(layout: Layout): EnvoyPart {
  const { edgeAdmin, edgeStats } = layout.ports;
  const admin = adminSocket(layout, 'edge');
  const listeners = { statsAddress: loopback(edgeStats), localAdminAddress: loopback(edgeAdmin) };
  const probe = () => hasListener(admin);
  return envoyPart(layout, { name: 'edge', group: 'edge', admin, listeners, probe });
}

/** Any web page that the user of this machine opens could send orders to a port. */
function adminSocket({ state }: Layout, name: string): string {
  return `unix:${join(state.sockets, `${name}.sock`)}`;
}

async function hasListener(admin: string): Promise<boolean> {
  const ready = await tryHttpRequest({ address: admin, path: '/ready' });
  const listeners = await tryHttpRequest({ address: admin, path: '/listeners' });
  return ready?.status === 200 && sentListeners(listeners?.body ?? '').length > 0;
}

/**
 * Tells whether it has a certificate to show, and roots to check others against. Source: Envoy's
 * page "Administration interface", `/certs`.
 */
async function hasCertificate(admin: string): Promise<boolean> {
  const certs = await tryHttpRequest({ address: admin, path: '/certs' });
  return (
    /"cert_chain": \[\s*\{/.test(certs?.body ?? '') && /"ca_cert": \[\s*\{/.test(certs?.body ?? '')
  );
}

export function instanceName(number: number): string {
  return `user-service-${number}`;
}

export function loopback(port: number): string {
  return `127.0.0.1:${port}`;
}

function nodePart({ node }: Layout, name: string, main: string, env: Part['env']): Part {
  const path = fileURLToPath(import.meta.resolve(`#${main}`));
  const argv = [node, `--max-semi-space-size=${youngMib(name)}`, path];
  // All parts would listen on one that the environment has.
  return { name, argv, env: { HTTP_ADDRESS: '', ...env } };
}

/**
 * Node's default young generation of up to 128 MiB would be most of a service's memory. None of
 * them gains by it. The control plane answers few requests.
 */
function youngMib(name: string): number {
  return name === 'controlplane' ? 4 : 8;
}

type EnvoyFields = Pick<EnvoyPart, 'name' | 'group' | 'admin' | 'listeners'> &
  Required<Pick<Part, 'probe'>>;

function envoyPart({ envoy, state }: Layout, fields: EnvoyFields): EnvoyPart {
  const bootstrapFile = join(state.bootstrap, `${fields.name}.yaml`);
  return { ...fields, bootstrapFile, argv: [envoy, '-c', bootstrapFile, ...ENVOY_ARGS], env: {} };
}
