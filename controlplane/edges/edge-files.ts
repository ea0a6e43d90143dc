import { bootstrap } from '#envoy/bootstrap.ts';
import { toEnvoyYaml } from '#envoy/envoy-yaml.ts';
import { identitySecret } from '#envoy/identity-tls.ts';

export type EdgeFilesOptions = {
  /** Where pods of any namespace reach the control plane and the discovery service, `host:port`. */
  readonly xdsAddress: string;
  readonly sdsAddress: string;
  readonly trustDomain: string;
  readonly figures: boolean;
  /** The text of `drain-envoy.sh`. */
  readonly drainScript: string;
};

const SECRETS = '/etc/gateway';
const TLS_FOLDER = '/run/identity';

/**
 * Returns the files that the proxies of all Gateways read, by name. The node of the bootstrap is
 * given by the proxy's command line.
 */
export function edgeFiles(options: EdgeFilesOptions): Readonly<Record<string, string>> {
  const { drainScript, trustDomain, ...rest } = options;
  const started = bootstrap({
    ...rest,
    nodeId: 'edge',
    group: 'edge',
    adminAddress: '127.0.0.1:9901',
    statsAddress: '0.0.0.0:9902',
    identity: { tlsFolder: TLS_FOLDER, secretsFolder: SECRETS, trustDomain },
    waitsForListeners: true,
  });
  return {
    'edge.bootstrap.yaml': toEnvoyYaml(started),
    'identity.yaml': toEnvoyYaml(identitySecret('identity', TLS_FOLDER)),
    'roots.yaml': toEnvoyYaml(identitySecret('roots', TLS_FOLDER)),
    'drain-envoy.sh': drainScript,
  };
}
