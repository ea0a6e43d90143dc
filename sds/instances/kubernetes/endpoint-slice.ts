import { isRecord, type KubernetesObject } from '#kubernetes/kubernetes-object.ts';
import { canonicalAddress, ipVersion } from '#resources/words/ip-address.ts';

/**
 * A port of a slice. Endpoints of another slice of the service may have another number under the
 * same name.
 */
export type SlicePort = { readonly name: string; readonly port: number };

export type SliceEndpoint = {
  /** The first of its addresses. All of them lead to the same instance. */
  readonly address: string;
  /**
   * The object that it is, where the API says so. It is the same in a slice of IPv4 and in one of
   * IPv6.
   */
  readonly target: string | undefined;
  /**
   * `ready` means that it takes requests. `ending` means that it will end soon and still answers.
   */
  readonly state: 'ready' | 'ending';
  readonly hostname: string | undefined;
  readonly zone: string | undefined;
};

/** What a slice says of one service. */
export type Slice = {
  readonly namespace: string;
  readonly service: string;
  /** Those of TCP. */
  readonly ports: readonly SlicePort[];
  readonly udpPorts: readonly SlicePort[];
  /** The endpoints that can be reached. */
  readonly endpoints: readonly SliceEndpoint[];
  /** Why nothing of the slice can be used. */
  readonly problem: string | undefined;
};

const SERVICE_NAME = 'kubernetes.io/service-name';
const FAMILIES: Readonly<Record<string, number>> = { IPv4: 4, IPv6: 6 };

/**
 * Reads an EndpointSlice (discovery.k8s.io/v1). These endpoints are left out:
 * - not ready,
 * - without an address of the slice's type,
 * - terminating and no longer serving.
 * Ports without a number and of other protocols than TCP and UDP are left out too. A nil condition
 * means what the page of EndpointSlice v1 says: ready and serving are true, terminating is false.
 * @returns undefined when it belongs to no service
 */
export function readEndpointSlice(object: KubernetesObject): Slice | undefined {
  const { namespace = '', labels } = object.metadata;
  const service = labels?.[SERVICE_NAME];
  // No Service has a dot in its name. `a.b` would stand for Service `a` of another namespace.
  if (service === undefined || service === '' || service.includes('.')) return undefined;
  const family = FAMILIES[String(object.addressType)];
  const problem =
    family === undefined
      ? `its addresses are of type ${object.addressType}: want IPv4 or IPv6`
      : undefined;
  const ports = (protocol: string) =>
    family === undefined ? [] : records(object.ports).flatMap(port => readPort(port, protocol));
  return {
    namespace,
    service,
    ports: ports('TCP'),
    udpPorts: ports('UDP'),
    endpoints:
      family === undefined
        ? []
        : records(object.endpoints).flatMap(each => readEndpoint(each, family)),
    problem,
  };
}

type JsonRecord = Readonly<Record<string, unknown>>;

function records(value: unknown): readonly JsonRecord[] {
  return Array.isArray(value) ? value.filter(isRecord) : [];
}

function readPort(
  { name, port, protocol = 'TCP' }: JsonRecord,
  wanted: string,
): readonly SlicePort[] {
  if (protocol !== wanted || typeof port !== 'number' || port < 1 || port > 65_535) return [];
  return [{ name: text(name) ?? '', port }];
}

function readEndpoint(endpoint: JsonRecord, family: number): readonly SliceEndpoint[] {
  const [first] = Array.isArray(endpoint.addresses) ? endpoint.addresses : [];
  const address = typeof first === 'string' ? addressOf(first, family) : undefined;
  const state = stateOf(isRecord(endpoint.conditions) ? endpoint.conditions : {});
  if (state === undefined || address === undefined) return [];
  return [
    {
      address,
      target: targetOf(endpoint.targetRef),
      state,
      hostname: text(endpoint.hostname),
      zone: text(endpoint.zone),
    },
  ];
}

/** An address with a zone (`fe80::1%eth0`) has no meaning on other machines. */
function addressOf(address: string, family: number): string | undefined {
  if (ipVersion(address) !== family) return undefined;
  return family === 6 ? canonicalAddress(address) : address;
}

function stateOf({ ready, serving, terminating }: JsonRecord): SliceEndpoint['state'] | undefined {
  if (terminating === true) return (serving ?? ready) === false ? undefined : 'ending';
  return ready === false ? undefined : 'ready';
}

function targetOf(ref: unknown): string | undefined {
  if (!isRecord(ref)) return undefined;
  return text(ref.uid) ?? (text(ref.name) && `${ref.kind}/${ref.namespace}/${ref.name}`);
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' && value.isWellFormed() ? value : undefined;
}
