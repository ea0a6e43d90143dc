import type { UnaryMethod } from '#grpc/unary/method.ts';
import { knowledgeMethod } from '#process/knowledge-method.ts';
import type { Message } from '#protos/decode-bytes.ts';
import { canonicalAddress } from '#resources/words/ip-address.ts';
import type { DrainedSource } from './instances/drained-source.ts';
import type { Instance, Instances } from './instances/instance.ts';
import { instancesNamed } from './instances/instances-named.ts';
import type { Secrets } from './secrets/secrets.ts';

const SERVICE = 'DiscoveryKnowledge';
/** Services and certificates in one answer, and instances of a service. */
const MOST_SERVICES = 100;
const MOST_INSTANCES = 500;
const MOST_CERTIFICATES = 2_000;

/** The methods by which operators see instances and certificates. */
export function knowledgeMethods(
  source: Pick<DrainedSource, 'all' | 'isDrained'> | undefined,
  secrets: Pick<Secrets, 'certificates'> | undefined,
): readonly UnaryMethod[] {
  return [
    knowledgeMethod(SERVICE, 'ListInstances', request => ({
      services: servicesOf(request, source?.all() ?? new Map()).map(([service, members]) => ({
        service,
        instances: members.slice(0, MOST_INSTANCES).map(instance => ({
          ...{ address: instance.address, port: instance.port, healthy: isHealthy(instance) },
          drained: source?.isDrained(instance) === true,
        })),
        more: members.length > MOST_INSTANCES,
      })),
    })),
    knowledgeMethod(SERVICE, 'ListCertificates', () => ({
      certificates: (secrets?.certificates() ?? [])
        .slice(0, MOST_CERTIFICATES)
        .map(({ kind, name, notAfter, problem = '', serial }) => ({
          ...{ kind, name, serial, ends_ms: notAfter, problem },
        })),
    })),
  ];
}

type Named = readonly [service: string, members: readonly Instance[]];

function servicesOf({ address, port, services }: Message, all: Instances): readonly Named[] {
  const names = Array.isArray(services) ? services.slice(0, MOST_SERVICES).map(String) : [];
  const named = names.flatMap((name): readonly Named[] => {
    const members = instancesNamed(all, name);
    return members === undefined ? [] : [[name, members]];
  });
  if (address === '') return named;
  const asked = canonicalAddress(String(address));
  const isAsked = (instance: Instance) => instance.address === asked && instance.port === port;
  const having = [...all].filter(([, members]) => members.some(isAsked));
  return [...named, ...having].slice(0, MOST_SERVICES);
}

/** Proxies send requests to a degraded one only when no other is left, which is still one. */
function isHealthy({ health_status = 'HEALTHY' }: Instance): boolean {
  return health_status === 'HEALTHY' || health_status === 'DEGRADED';
}
