import type { DeploymentSpec } from '#resources/kinds/proxy-config/deployment.ts';

/** A port of the proxies that clients reach. */
export type EdgePort = { readonly port: number; readonly protocol: 'TCP' | 'UDP' };

/** An IP address that a Gateway asks for. */
export type AskedAddress = {
  /** Undefined: any will do. */
  readonly value?: string;
  /** From where it must be reached. Empty: from where the Service is. */
  readonly routability: string;
};

/** A Gateway that has proxies of its own. */
export type EdgeGateway = {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly className: string;
  /** The node group of its proxies. */
  readonly group: string;
  /** The ports of its listeners and those of its ListenerSets. */
  readonly ports: readonly EdgePort[];
  /** In the order of `spec.addresses`. Each is judged by itself. */
  readonly addresses: readonly AskedAddress[];
  /** What its `infrastructure` puts on all objects. */
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  /** What operators set about its pods and its Service. */
  readonly deployment: DeploymentSpec;
};

/** What is the same for the edges of all Gateways. */
export type EdgeSystem = {
  /** The name that their objects have in common (`edgesName`). */
  readonly name: string;
  readonly image: string;
  /** Names of Secrets by which the image is fetched, in the namespace of each Gateway. */
  readonly pullSecrets: readonly string[];
  /** Whether pods run as the user of Envoy's image. Else the cluster gives them one. */
  readonly fixedUser: boolean;
  /** The files that each proxy reads, by name. */
  readonly files: Readonly<Record<string, string>>;
};

/** Returns the id of a Gateway's resource. */
export function gatewayIdOf({ namespace, name }: Pick<EdgeGateway, 'namespace' | 'name'>): string {
  return `Gateway/${namespace}/${name}`;
}
