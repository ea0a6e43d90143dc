import { formatHostPort } from '#grpc/host-port.ts';
import type { Problem, Severity } from '#resources/problem.ts';
import type { Resource } from '#resources/resource.ts';
import type { ResourceSet } from '#resources/resource-set.ts';
import type { CompileOptions } from '../options.ts';
import { problemOf } from '../problem-of.ts';
import type { EdgeHost } from '../tls/edge-hosts.ts';
import { type EdgePort, isListener, type PortClaims, takenBy } from './edge-ports.ts';
import { listenerName } from './listener.ts';

/** The edge as `portProblems` looks at it. */
export type PortFacts = PortClaims & {
  readonly hosts: readonly EdgeHost[];
  readonly options: CompileOptions;
};

/**
 * Returns Problems of the resources that say where the edge listens, and of what is not reached.
 */
export function portProblems(resources: ResourceSet, facts: PortFacts): readonly Problem[] {
  const { listeners, proxyConfigs } = resources;
  const clashes = proxyConfigs.flatMap(config => proxyConfigProblems(config, facts));
  if (listeners.length === 0) return [...clashes, ...movedProblems(resources, facts.options)];
  const served = facts.ports.filter(port => takenBy(port, facts) === undefined);
  return [
    ...clashes,
    ...listeners.flatMap(listener => listenerProblems(listener, facts)),
    ...resources.hosts.flatMap(host => hostProblems(host, served, facts.hosts)),
  ];
}

function proxyConfigProblems(
  config: Resource<'ProxyConfig'>,
  { ports }: PortFacts,
): readonly Problem[] {
  const { listener } = config.spec;
  if (listener === undefined) return [];
  const name = listenerName({ host: listener.address, port: listener.port });
  const [first] = ports.filter(({ address }) => listenerName(address) === name);
  const by = first?.origins.find(isListener);
  if (by !== undefined)
    return [
      problemOf(config, 'error', 'spec.listener', `${name} is that of ${by}. That one counts`),
    ];
  if (first?.takes.tls !== true) return [];
  const message = `the edge speaks TLS at ${name} for its Hosts (EDGE_TLS_ADDRESS), so requests without TLS are not served there. Name another port`;
  return [problemOf(config, 'error', 'spec.listener', message)];
}

/** ProxyConfigs may move the edge away from its usual address. */
function movedProblems(
  { proxyConfigs }: ResourceSet,
  { edge }: CompileOptions,
): readonly Problem[] {
  const moving = proxyConfigs.filter(({ spec }) => spec.listener !== undefined);
  if (moving.some(({ spec }) => spec.listener?.port === edge.port)) return [];
  const away = `this moves the edge: nothing listens on its default address ${formatHostPort(edge)} (EDGE_ADDRESS) any more`;
  const remedy = 'a further ProxyConfig with that address in its `listener` serves both';
  return moving.map(config =>
    problemOf(config, 'warning', 'spec.listener.port', `${away}. If that is not meant, ${remedy}`),
  );
}

function listenerProblems(listener: Resource<'Listener'>, facts: PortFacts): readonly Problem[] {
  const port = facts.ports.find(({ origins }) => origins.includes(listener.id));
  if (port === undefined) return [];
  const taken = takenBy(port, facts);
  if (taken !== undefined) {
    const message = `port ${listener.spec.port} is already that of ${taken}, so the Listener is not served. Name another port`;
    return [problemOf(listener, 'error', 'spec.port', message)];
  }
  if (facts.hosts.length === 0 || facts.hosts.some(port.binds)) return [];
  const message =
    'no Host has this namespace and these labels, so nothing is reached at the port but routes of ProxyConfigs';
  return [problemOf(listener, 'warning', 'spec.hostBinding', message)];
}

/** `ports` are those that are served. */
function hostProblems(
  host: Resource<'Host'>,
  ports: readonly EdgePort[],
  hosts: readonly EdgeHost[],
): readonly Problem[] {
  const served = hosts.find(({ id }) => id === host.id);
  if (served === undefined) return [];
  const binding = ports.filter(port => port.origins.some(isListener) && port.binds(served));
  const problem = (severity: Severity, message: string) => [
    problemOf(host, severity, 'spec.hostname', message),
  ];
  if (binding.length === 0)
    return problem(
      'error',
      'no Listener binds the Host, so it is reached at no port. See `hostBinding` of the Listeners',
    );
  if (served.tls === undefined || binding.some(({ takes }) => takes.tls)) return [];
  return problem(
    'warning',
    'its TLS is spoken at no port: every Listener that binds it has HTTP without TLS. Write one with `protocol: HTTPS`',
  );
}
